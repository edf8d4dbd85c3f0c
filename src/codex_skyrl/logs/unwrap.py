"""What stands around a log line: containers, collectors, Ray and terminals each add a layer; this takes them off.

Owns wrapping only. Knows neither lifecycle words nor time arithmetic; a wrapper's own time is handed on as a stamp.
"""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from codex_skyrl.logs.formats import Stamp

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_RAY = re.compile(r"\((?P<actor>[A-Za-z_][\w.:]*) pid=(?P<pid>\d+)(?:, ip=(?P<ip>[\w.:]+))?\) ?")
_REPEATED = re.compile(r" ?\[repeated (\d{1,9})x across cluster\](?: \(Ray deduplicates logs by default\..*)?\s*$")
_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?(?: (?:stdout|stderr) ([FP]))? "
)
_BAR_END = re.compile(r"%\|[^|]*\|[^\[\]]*\[[^\]]*\](?! ?\[repeated )")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TS = re.compile(rf"({'|'.join(_MONTHS)}) {{1,2}}(\d{{1,2}}) (\d\d):(\d\d):(\d\d)(?:\.\d+)? ")


_MOST_LAYERS = 3


class Wrapped(NamedTuple):
    """One line without its wrapping. `stamp` is the wrapper's own time; `partial`: the next line continues it."""

    text: str
    process: str = ""
    stamp: Stamp | None = None
    times: int = 1  # how many lines this one stands for (Ray's repeat suffix)
    partial: bool = False
    damaged: bool = False


def strip_ansi(text: str) -> str:
    """Without terminal escape sequences (colour, cursor, titles)."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def has_syslog_time(text: str) -> bool:
    """Whether a line begins with a time of `ts` or syslog: `Nov  1 12:00:00 `."""
    return _TS.match(text) is not None


def unwrap(text: str, *, syslog: bool = False) -> list[Wrapped]:
    """Take collector wrapping, colours, Ray prefix and repeat suffix off one physical line; `syslog`: such times as well.

    Mostly one result; more when another process wrote its line into the middle of this one, or when a progress
    bar redrew itself (`\\r`) before a real line.
    """
    if text.startswith('{"'):
        record = docker_record(text)
        if record is not None:
            return record
    return _peeled(text, None, syslog)


def _peeled(text: str, stamp: Stamp | None, syslog: bool) -> list[Wrapped]:
    """Take times that collectors put in front off, one within the other; the outermost one is kept."""
    partial = False
    for _ in range(_MOST_LAYERS):
        head = text[:1]
        if head.isdigit() and text[4:5] == "-":
            outer = _RFC3339.match(text)
            if outer is None or not (outer[4] or outer[5]):
                break
            stamp, partial = stamp or rfc3339(outer), partial or outer[5] == "P"
        elif head and head in "JFMASOND" and (syslog or stamp is not None):
            outer = _TS.match(text)
            if outer is None:
                break
            stamp = stamp or _syslog(outer)
        else:
            break
        text = text[outer.end() :]
    return [_inner(piece, stamp, partial) for part in _redrawn(strip_ansi(text)) for piece in _glued(part)]


def docker_record(text: str) -> list[Wrapped] | None:
    """A docker json-file record `{"log": ..., "stream": ..., "time": ...}`, or None when it is something else."""
    if '"log"' not in text[:16]:
        return None
    try:
        record = json.loads(text)
        content = record["log"]
        moment = record.get("time", "")
    except (ValueError, KeyError, TypeError, RecursionError):
        return [Wrapped("", damaged=True)]
    if not isinstance(content, str):
        return [Wrapped("", damaged=True)]
    outer = _RFC3339.match(f"{moment} ")
    stamp = rfc3339(outer) if outer else None
    partial = not content.endswith("\n")
    if partial:
        return [Wrapped(content, stamp=stamp, partial=True)]
    return [item for line in content[:-1].split("\n") for item in _peeled(line, stamp, syslog=False)]


def rfc3339(match: re.Match[str]) -> Stamp | None:
    """A stamp from `YYYY-MM-DDTHH:MM:SS[.fraction][zone]`; with a zone it is converted to UTC."""
    zone = match[4] or ""
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}").replace(tzinfo=UTC)
    except ValueError:
        return None
    seconds = moment.timestamp()
    fraction = match[3]
    if fraction:
        seconds += float(f"0.{fraction[1:]}")
    if zone and zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[-2:])
        seconds -= (1 if zone[0] == "+" else -1) * (hours * 3600 + minutes * 60)
    return Stamp(seconds, dated=True, resolution=0.001 if fraction else 1.0, utc=bool(zone))


def _syslog(match: re.Match[str]) -> Stamp | None:
    """`ts` and syslog prefixes name no year: only their time of day is used."""
    hours, minutes, seconds = int(match[3]), int(match[4]), int(match[5])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return Stamp(hours * 3600.0 + minutes * 60 + seconds, dated=False, resolution=1.0)


def _redrawn(text: str) -> list[str]:
    """Split at carriage returns; of a bar that redrew itself only the last state is kept."""
    if "\r" not in text:
        return [text]
    parts = [part for part in text.split("\r") if part.strip()]
    kept = [p for i, p in enumerate(parts) if i + 1 == len(parts) or "%|" not in p or "%|" not in parts[i + 1]]
    return kept or [""]


def _glued(text: str) -> list[str]:
    """Split where another process's prefix starts inside the line, and after a bar that has text behind it."""
    if "%|" in text:
        bar = _BAR_END.search(text)
        if bar and text[bar.end() :].strip():
            return [text[: bar.end()], *_glued(text[bar.end() :].lstrip())]
    if text.count(" pid=") < 2:
        return [text]
    starts = [m.start() for m in _RAY.finditer(text)]
    return [text[a:b] for a, b in pairwise([*sorted({0, *starts}), len(text)])]


def _inner(text: str, stamp: Stamp | None, partial: bool) -> Wrapped:
    process, times = "", 1
    if text.startswith("("):
        ray = _RAY.match(text)
        if ray:
            process = f"{ray['actor']} pid={ray['pid']}" + (f"@{ray['ip']}" if ray["ip"] else "")
            text = text[ray.end() :]
    if "x across cluster]" in text:
        repeated = _REPEATED.search(text)
        if repeated:
            times = max(1, int(repeated[1]))
            text = text[: repeated.start()]
    return Wrapped(text, process, stamp, times, partial)
