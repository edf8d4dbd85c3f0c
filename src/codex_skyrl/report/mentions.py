"""What a claim names besides its citations: places (file:line), files, settings, numbers of workers. Finds, judges not."""

import re
from dataclasses import dataclass

from codex_skyrl.report.model import STAGES, Stage

_FILE = r"[\w./~+-]*\w\.(?:py|sh|ya?ml|log|jsonl?|csv|txt|out|err|gz|toml)"
_PLACE = re.compile(rf"(?P<file>{_FILE})(?:\.\d+)?(?::|#|:L|#L| L)(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?")
_FILES = re.compile(rf"(?<![\w/])(?P<file>{_FILE})(?![\w])")
_LINES = re.compile(r"(?i)(?:\blines?|第|\bL(?=\d))\s*(?P<first>\d+)(?:\s*(?:-|–|to|到|至)\s*(?P<last>\d+))?")
_SETTING = re.compile(
    r"(?<![\w.])(?:\+{1,2})?(?P<key>(?:actor_rollout_ref|trainer|data|algorithm|critic|reward_model|dispatcher|generator)(?:\.\w+)+|"
    r"[a-z][\w.]*_\w+(?=\s*=\s*[\w'\"-]))"
)
_SETTING_VERB = re.compile(
    r"(?i)(?:\bset(?:ting)?|\bsetting|\bknob|\bparameter|\boption|设置|参数|配置项)\s+[`'\"]?(?P<key>[a-z]\w*_\w+)[`'\"]?"
)
_STAGE = r"(?P<stage>init(?:iali[sz]er)?|run|agent|eval(?:uator|uation)?)"
_WORKERS = (
    re.compile(rf"(?i)(?<![\w.])(?P<n>\d+)\s+{_STAGE}(?:[ _-]?\w+)?\s+workers?\b"),
    re.compile(
        rf"(?i)\b{_STAGE}\b[^.;。；]{{0,16}}?\b(?:has|have|with|uses|runs|=)\s+(?:only\s+)?(?P<n>\d+)\s+workers?\b"
    ),
    re.compile(rf"(?i)\b{_STAGE}\b[^.;。；\d]{{0,10}}(?P<n>\d+)\s*个\s*worker"),
)


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """`file:first-last` as a claim writes it; `file` is "" for "line 12"."""

    file: str
    first: int
    last: int


def places_in(text: str) -> list[NamedPlace]:
    """Every file:line and "line N" of a text."""
    found = [NamedPlace(m["file"], int(m["first"]), int(m["last"] or m["first"])) for m in _PLACE.finditer(text)]
    return found + [NamedPlace("", int(m["first"]), int(m["last"] or m["first"])) for m in _LINES.finditer(text)]


def without_places(text: str) -> str:
    """The text with every file:line and "line N" taken out."""
    return _LINES.sub(" ", _PLACE.sub(" ", text))


def files_in(text: str) -> list[str]:
    """Every file name of a text."""
    return [m["file"] for m in _FILES.finditer(text)]


def settings_in_text(text: str) -> list[str]:
    """Keys that a text names as settings: dotted ones, `key=value`, "set key"."""
    found = [m["key"] for m in _SETTING.finditer(text)] + [m["key"] for m in _SETTING_VERB.finditer(text)]
    return list(dict.fromkeys(found))


def workers_in(text: str) -> list[tuple[Stage, int]]:
    """(stage, number) of every "N eval workers"."""
    return [(_stage(m["stage"]), int(m["n"])) for pattern in _WORKERS for m in pattern.finditer(text)]


def _stage(word: str) -> Stage:
    lowered = word.lower()
    return next((s for s in STAGES if lowered.startswith(s)), "run")
