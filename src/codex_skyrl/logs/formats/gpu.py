"""nvidia-smi as a table: `--query-gpu=... --format=csv` with any columns and units, and `nvidia-smi dmon`.

Owns these two table forms. A cell that is not a number (`[N/A]`, `[Not Supported]`, `-`) is unknown, not zero.
"""

import csv
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from codex_skyrl.logs.event import GpuSample
from codex_skyrl.logs.formats import Row, Stamp

_NUMBER = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(%|MiB|GiB|KiB|)\s*$")
_MIB = {"MiB": 1.0, "GiB": 1024.0, "KiB": 1 / 1024}
_DAY = re.compile(r"(\d{4})[/-](\d\d)[/-](\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?")
_DATELESS_ROW = re.compile(r"\s*\d{4}[/-]\d\d[/-]\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?\s*,\s*\d+\s*,\s*\d+ ?%?\s*(?:,|$)")
_DMON_TIMED = ("Time", "HH:MM:SS")


def sniff(head: str) -> bool:
    """A csv header naming utilization or memory of the GPU, a dmon header, or rows whose header was not printed."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    return _is_header(first) or _is_dmon(first) or bool(_DATELESS_ROW.match(first))


class Table:
    """Reads rows under the header seen last; both forms may repeat their header."""

    def __init__(self) -> None:
        self._columns: list[str] = ["timestamp", "index", "utilization.gpu [%]", "memory.used [MiB]"]
        self._dmon = False

    def feed(self, number: int, text: str) -> Iterable[Row]:
        """The sample of one line, if it is a row."""
        if text.startswith("#"):
            self._dmon_header(text)
        elif _is_header(text):
            self._columns, self._dmon = [c.strip() for c in _cells(text)], False
        elif text.strip():
            row = self._row(number, text.split() if self._dmon else _cells(text))
            if row is not None:
                yield row

    def close(self) -> Iterable[Row]:
        """Nothing is held back."""
        return ()

    def _dmon_header(self, text: str) -> None:
        names = text.lstrip("#").split()
        if "gpu" in names:
            self._columns, self._dmon = names, True

    def _row(self, number: int, cells: list[str]) -> Row | None:
        if len(cells) < min(2, len(self._columns)):
            return None
        named = dict(zip(self._columns, cells, strict=False))
        utilisation = _value(_pick(named, "utilization.gpu", "sm"))
        memory = _value(_pick(named, "memory.used", "fb"))
        if utilisation is None and memory is None:
            return None
        index = _value(_pick(named, "index", "gpu"))
        if index is None or not 0 <= index < 4096:
            index = 0.0
        return Row(number, GpuSample(int(index), utilisation, memory), _stamp(named))


def _is_header(text: str) -> bool:
    names = [c.strip() for c in text.lower().split(",")]
    return len(names) > 1 and any(n.startswith(("utilization.gpu", "memory.used")) for n in names)


def _is_dmon(text: str) -> bool:
    return text.startswith("#") and {"gpu", "sm"} <= set(text.lstrip("#").split())


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        return []


def _pick(named: dict[str, str], *starts: str) -> str:
    for start in starts:
        for name, cell in named.items():
            if name == start or name.startswith(f"{start} "):
                return cell
    return ""


def _value(cell: str) -> float | None:
    """A number without its unit; memory in MiB."""
    match = _NUMBER.match(cell)
    return float(match[1]) * _MIB.get(match[2], 1.0) if match else None


def _stamp(named: dict[str, str]) -> Stamp | None:
    day = _DAY.match(named.get("timestamp", "").strip())
    if day:
        try:
            moment = datetime.fromisoformat(f"{day[1]}-{day[2]}-{day[3]}T{day[4]}").replace(tzinfo=UTC)
        except ValueError:
            return None
        fraction = float(day[5] or 0)
        return Stamp(moment.timestamp() + fraction, dated=True, resolution=0.001 if day[5] else 1.0)
    clock = next((named[c] for c in _DMON_TIMED if c in named), "")
    parts = re.fullmatch(r"(\d\d):(\d\d):(\d\d)", clock)
    if not parts or int(parts[1]) > 23:
        return None
    return Stamp(int(parts[1]) * 3600.0 + int(parts[2]) * 60 + int(parts[3]), dated=False, resolution=1.0)
