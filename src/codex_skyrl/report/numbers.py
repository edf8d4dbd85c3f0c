"""The numbers of a text: figures apart from names, times and places that only hold digits."""

import re
from dataclasses import dataclass, field

_WORD = re.compile(r"[A-Za-z0-9_.,/:+%×-]*[0-9][A-Za-z0-9_.,/:+%×-]*")
_UNIT = r"(?:s|ms|sec|secs|seconds|m|min|mins|h|x|×|K|k|M|G|B|KB|MB|GB|KiB|MiB|GiB|%|th|st|nd|rd)?"
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_FIGURE = re.compile(rf"[x×]?({_NUMBER}){_UNIT}")
_PAIR = re.compile(rf"({_NUMBER}){_UNIT}[-/,:]({_NUMBER}){_UNIT}")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?|\d{4}-\d{2}-\d{2}(?:T\S+)?")
_DURATION = re.compile(r"(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s")
_ID = re.compile(r"[EC]\d{1,4}")
_IN_EVIDENCE = re.compile(r"(?<![A-Za-z0-9_.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![A-Za-z0-9_.])\d+(?:\.\d+)?")
_NAMES = re.compile(r"\w*__\S*|\b\d{1,2}:\d{2}:\d{2}\b|\b[0-9a-f]{8}-[0-9a-f-]{20,}")


@dataclass(frozen=True, slots=True)
class Digits:
    """What holds digits in a text: `figures` as written, `verbatim` what must stand so in the evidence, evidence `ids`."""

    figures: tuple[str, ...]
    verbatim: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    figures: list[str] = field(default_factory=list)
    verbatim: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


def digits_in(text: str) -> Digits:
    """Every figure, time, instance id and evidence id of a text; other names with digits (v0, utf8) count for nothing."""
    found = _Found()
    for match in _WORD.finditer(text):
        _sorted(match[0].strip(".,:/-").rstrip("+"), found)
    return Digits(tuple(found.figures), tuple(found.verbatim), tuple(found.ids))


def _sorted(word: str, found: _Found) -> None:
    if _ID.fullmatch(word):
        found.ids.append(word)
    elif _TIME.fullmatch(word) or (_DURATION.fullmatch(word) and not _FIGURE.fullmatch(word)) or "__" in word:
        found.verbatim.append(word)
    elif figure := _FIGURE.fullmatch(word):
        found.figures.append(figure[1])
    elif pair := _PAIR.fullmatch(word):
        found.figures += [pair[1], pair[2]]
    elif "/" in word or "," in word:
        for part in re.split(r"[/,]", word):
            if part and any(c.isdigit() for c in part):
                _sorted(part, found)


def numbers_of(text: str) -> list[float]:
    """All numbers of a piece of evidence, except those inside names, times and uuids."""
    return [float(n.replace(",", "")) for n in _IN_EVIDENCE.findall(_NAMES.sub(" ", text))]
