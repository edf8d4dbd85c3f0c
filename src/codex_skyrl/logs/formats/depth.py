"""Queue depths that users print themselves, as text (`init_queue=3 run_queue: 0`) or as JSON keys of these names.

SkyRL-v0 prints no depths; these lines, where present, are stated facts that reconstruction is checked against.
"""

import json
import re

from codex_skyrl.logs.event import DepthSample
from codex_skyrl.logs.formats import Parsed, Stamp

HINTS: tuple[str, ...] = ("init_queue", "run_queue", "eval_queue")

_NAME = r"(init|run|eval)_queue(?:[._ ]?(?:size|depth|len|length|qsize)(?:\(\))?)?"
_TEXT = re.compile(rf"\b{_NAME}[\"']?\s*[=:]\s*(\d{{1,9}})\b(?!\.\d)")
_CLOCK = re.compile(r"\[?(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?\]?\s")
_ALLOWED = re.compile(r"[\[\](){}|,;\s]*(?:\d\d:\d\d:\d\d\S*)?[\w\s.:=,|\[\]()/#-]{0,60}$")


def parse(text: str) -> Parsed | None:
    """Understand a line that states at least one depth near its start; two of them when it is plain text."""
    if text.startswith("{"):
        return _from_json(text)
    found = list(_TEXT.finditer(text))
    if len(found) < 2 or not _ALLOWED.match(text[: found[0].start()]):
        return None
    depths = {m[1]: int(m[2]) for m in found}
    return Parsed(DepthSample(depths.get("init"), depths.get("run"), depths.get("eval")), _stamp(text))


def _from_json(text: str) -> Parsed | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    depths: dict[str, int] = {}
    for key, value in record.items():
        match = re.fullmatch(_NAME, key)
        if match and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            depths[match[1]] = value
    if not depths:
        return None
    return Parsed(DepthSample(depths.get("init"), depths.get("run"), depths.get("eval")))


def _stamp(text: str) -> Stamp | None:
    match = _CLOCK.match(text)
    if not match or int(match[1]) > 23 or int(match[2]) > 59 or int(match[3]) > 60:
        return None
    return Stamp(int(match[1]) * 3600.0 + int(match[2]) * 60 + int(match[3]), dated=False, resolution=1.0)
