"""Records of any other logger: takes the header off and hands on time, level and message.

Knows the common dresses (stdlib logging, loguru, rich, JSON objects, logfmt, klog, Ray's own, uvicorn) and nothing
about what a message means.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from codex_skyrl.logs.formats import Stamp

# Of records only errors and warnings are kept (and lifecycle messages, which have their own words in them).
HINTS: tuple[str, ...] = (
    "WARN", "ERROR", "CRITICAL", "FATAL", '"level', '"severity"', '"lvl"', "level=", ".go:", ".cc:",
)  # fmt: skip

_LEVELS = {
    "trace": "debug", "debug": "debug", "info": "info", "success": "info", "notice": "info",
    "warn": "warning", "warning": "warning",
    "error": "error", "err": "error", "critical": "error", "fatal": "error", "exception": "error",
    "i": "info", "w": "warning", "e": "error", "f": "error",
}  # fmt: skip
_LEVEL = r"(?P<level>TRACE|DEBUG|INFO|SUCCESS|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|EXCEPTION)"
_DAY = r"(?P<day>\d{4}[-/]\d\d[-/]\d\d)[T ](?P<time>\d\d:\d\d:\d\d)"
_DATED = _DAY + r"(?P<fraction>[.,]\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
_NAMED = r"(?:- [\w.:/-]{1,120} - |\[[\w.:/ -]{1,120}\] ?)?"

# Tried in order; each names the parts it finds.
_DRESSES = tuple(
    re.compile(pattern)
    for pattern in (
        # loguru: 2025-11-01 12:00:00.123 | INFO     | module:function:12 - message
        rf"{_DATED} \| {_LEVEL} *\| [^|]{{0,200}}? - (?P<message>.*)",
        # stdlib and Ray: 2025-11-01 12:00:00,123 - name - INFO - message | 2025-... INFO file.py:12 -- message
        rf"{_DATED}[ ,\t]*{_NAMED}\[?{_LEVEL}\]?:?[ \t]*(?:- |-- |\| )?(?P<message>.*)",
        # uvicorn and basicConfig: ERROR:    message | INFO:name:message
        rf"{_LEVEL}:(?:[\w./-]{{1,200}}:| {{1,12}})(?P<message>\S.*)",
        # rich: [12:00:00] WARNING  message      file.py:12
        rf"\[(?P<time>\d\d:\d\d:\d\d)\] {_LEVEL} +(?P<message>.*?)(?: {{2,}}[\w./-]+\.py:\d+)?\s*$",
        # OpenHands dress of another logger: 12:00:00 - name:ERROR: file.py:12 - message
        rf"(?P<time>\d\d:\d\d:\d\d) - [\w.]+:{_LEVEL}: (?:[\w.]+:\d+ - )?(?P<message>.*)",
        # 12:00:00 ERROR message
        rf"\[?(?P<time>\d\d:\d\d:\d\d)(?:[.,]\d+)?\]?[ |-]+\[?{_LEVEL}\]?[ :|-]+(?P<message>.*)",
        # [ERROR] message | ERROR message | ERROR 12-01 12:00:00 message
        rf"\[{_LEVEL}\][ :]+(?P<message>.*)",
        rf"{_LEVEL} +(?:\d\d-\d\d (?P<time>\d\d:\d\d:\d\d) +)(?P<message>.*)",
    )
)
_KLOG = re.compile(r"(?P<level>[IWEF])\d{4} (?P<time>\d\d:\d\d:\d\d)\.\d+ +\d+ [\w./-]+:\d+\] (?P<message>.*)")
_LOGFMT = re.compile(r"""(?:^|\s)(time|ts|level|lvl|msg|message|error|err)=("(?:[^"\\]|\\.)*"|\S+)""")
_TIME_KEYS = ("asctime", "timestamp", "ts", "time", "@timestamp")
_LEVEL_KEYS = ("level", "levelname", "severity", "lvl")
_MESSAGE_KEYS = ("message", "msg", "event", "text")
_MESSAGE_LIMIT = 4_000


class Record(NamedTuple):
    """One record without its header. `level`: debug | info | warning | error; "" when none was stated."""

    stamp: Stamp | None
    level: str
    message: str


def unwrap_record(text: str) -> Record | None:
    """The record in a line, or None when the line has no logger's header."""
    if text.startswith("{"):
        return _json(text)
    if text[:1] in "IWEF" and text[1:5].isdigit():
        found = _KLOG.match(text)
        return _record(found.groupdict()) if found else None
    if "=" in text[:12]:
        return _logfmt(text)
    if not text or not (text[0].isdigit() or text[0] == "[" or text[0].isupper()):
        return None
    for dress in _DRESSES:
        found = dress.match(text)
        if found:
            return _record(found.groupdict())
    return None


def _record(parts: Mapping[str, str | None]) -> Record:
    return Record(_stamp(parts), _LEVELS.get((parts.get("level") or "").lower(), ""), parts["message"] or "")


def _stamp(parts: Mapping[str, str | None]) -> Stamp | None:
    time = parts.get("time")
    if time is None:
        return None
    if parts.get("day"):
        return stamp_of_text(f"{parts['day']} {time}{parts.get('fraction') or ''}{parts.get('zone') or ''}")
    hours, minutes, seconds = (int(x) for x in time.split(":"))
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return Stamp(hours * 3600.0 + minutes * 60 + seconds, dated=False, resolution=1.0)


def stamp_of_text(text: str) -> Stamp | None:
    """A stamp from an ISO-like date and time; with a zone it is converted to UTC."""
    found = re.match(_DATED, text)
    if found is None:
        return None
    fraction, zone = found["fraction"], found["zone"]
    try:
        moment = datetime.fromisoformat(f"{found['day'].replace('/', '-')}T{found['time']}{_colon(zone)}")
    except ValueError:
        return None
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if fraction:
        seconds += float(f"0.{fraction[1:]}")
    return Stamp(seconds, dated=True, resolution=0.001 if fraction else 1.0, utc=bool(zone))


def _colon(zone: str | None) -> str:
    if not zone or zone == "Z":
        return "+00:00" if zone else ""
    return zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"


def _json(text: str) -> Record | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    message = _first(record, _MESSAGE_KEYS)
    if not isinstance(message, str):
        return None
    level = _first(record, _LEVEL_KEYS)
    moment = _first(record, _TIME_KEYS)
    stamp = stamp_of_text(moment) if isinstance(moment, str) else _epoch(moment)
    return Record(stamp, _LEVELS.get(str(level or "").lower(), ""), message[:_MESSAGE_LIMIT])


def _first(record: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((record[k] for k in keys if record.get(k) not in (None, "")), None)


def _epoch(moment: object) -> Stamp | None:
    """Numbers are epoch seconds or milliseconds."""
    if isinstance(moment, bool) or not isinstance(moment, int | float) or not 1e8 < moment < 1e14:
        return None
    return Stamp(moment / 1000 if moment > 1e11 else float(moment), dated=True, resolution=0.001, utc=True)


def _logfmt(text: str) -> Record | None:
    fields = {key: value.strip('"') for key, value in _LOGFMT.findall(text)}
    message = fields.get("msg") or fields.get("message")
    level = fields.get("level") or fields.get("lvl") or ""
    if message is None or level.lower() not in _LEVELS:
        return None
    if fields.get("error") or fields.get("err"):
        message = f"{message}: {fields.get('error') or fields.get('err')}"
    return Record(stamp_of_text(fields.get("time") or fields.get("ts") or ""), _LEVELS[level.lower()], message)
