"""Bytes of one file as numbered text lines: plain, gzip or zstd, damaged or not, in one pass and flat memory.

Only `\\n` ends a line. Everything odd is counted in `Reading`, never fatal, never dropped silently.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

LONGEST_KEPT = 262_144  # bytes of one line that are looked at; the rest is counted
_SLICE, _LITTLE = 1 << 20, 1 << 13
_INVALID = re.compile("[\udc80-\udcff]")


@dataclass(slots=True)
class Reading:
    """What was met while reading one file. Byte counts are of the decompressed content."""

    bytes: int = 0
    lines: int = 0
    nul_bytes: int = 0
    invalid_bytes: int = 0
    long_lines: int = 0
    last_line_incomplete: bool = False
    stopped: str = ""  # why reading ended early (damaged compression, I/O error)

    def add(self, following: "Reading") -> None:
        """Take in what was met in the next piece of the file."""
        self.bytes += following.bytes
        self.lines += following.lines
        self.nul_bytes += following.nul_bytes
        self.invalid_bytes += following.invalid_bytes
        self.long_lines += following.long_lines
        self.last_line_incomplete = following.last_line_incomplete
        self.stopped = self.stopped or following.stopped


def numbered_lines(path: Path, reading: Reading) -> Iterator[tuple[int, str]]:
    """(1-based number, text) of each line, without line end, NUL bytes or invalid UTF-8 (shown as U+FFFD).

    Raises:
        OSError: when the file cannot be opened; damage met later ends the reading and is noted in `reading`.
    """
    with open_log_patiently(path) as stream:
        for raw in raw_lines(stream, reading):
            reading.lines += 1
            yield reading.lines, decode_line(raw, reading)


def open_log(path: Path) -> BinaryIO:
    """The bytes of a log, unpacked by its content, not by its name.

    Raises:
        OSError: when it cannot be opened.
    """
    form = _form(path)
    if form == "gzip":
        with suppress(ImportError):
            from isal import igzip

            return cast(BinaryIO, igzip.open(path, "rb"))  # type: ignore[no-untyped-call]
        return cast(BinaryIO, gzip.open(path, "rb"))
    return _zstd(path, _SLICE) if form == "zstd" else path.open("rb")


def open_log_patiently(path: Path) -> BinaryIO:
    """As `open_log`, but of a damaged archive it gives all that stands before the damage.

    Raises:
        OSError: when it cannot be opened.
    """
    form = _form(path)
    if form == "gzip":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return _zstd(path, _LITTLE) if form == "zstd" else path.open("rb", buffering=_SLICE)


def is_packed(path: Path) -> bool:
    """Whether the content is gzip or zstd."""
    return _form(path) != ""


def _form(path: Path) -> str:
    with path.open("rb") as probe:
        magic = probe.read(4)
    if magic.startswith(b"\x1f\x8b"):
        return "gzip"
    return "zstd" if magic == b"\x28\xb5\x2f\xfd" else ""


def _zstd(path: Path, buffer: int) -> BinaryIO:
    import zstandard

    raw = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
    return io.BufferedReader(raw, buffer)


def raw_lines(stream: BinaryIO, reading: Reading) -> Iterator[bytes]:
    """Lines without their line feed, of a bounded length; damage ends them and is noted."""
    ended = True
    try:
        while raw := stream.readline(_SLICE):
            reading.bytes += len(raw)
            ended = raw.endswith(b"\n")
            if not ended and len(raw) >= _SLICE:
                raw, ended = rest_of_long_line(stream, raw, reading)
            yield raw[:-1] if raw.endswith(b"\n") else raw
    except damages() as damage:
        reading.stopped = f"{type(damage).__name__}: {damage}"
    reading.last_line_incomplete = not ended


def rest_of_long_line(stream: BinaryIO, first: bytes, reading: Reading) -> tuple[bytes, bool]:
    """Skip to the end of a line that outgrew the slice; NUL runs (a sparse rotated file) do not count as length."""
    kept = first if first.strip(b"\0") else b"\0" * 0
    reading.nul_bytes += len(first) - len(kept)
    ended = False
    while not ended and (more := stream.readline(_SLICE)):
        reading.bytes += len(more)
        ended = more.endswith(b"\n")
        if len(kept) < LONGEST_KEPT:
            bare = more.replace(b"\0", b"")
            reading.nul_bytes += len(more) - len(bare)
            kept += bare
    return kept, ended


def decode_line(raw: bytes, reading: Reading) -> str:
    """The text of a line, without NUL, carriage return at its end, and invalid UTF-8."""
    if raw.endswith(b"\r"):
        raw = raw[:-1]
    if b"\0" in raw:
        bare = raw.replace(b"\0", b"")
        reading.nul_bytes += len(raw) - len(bare)
        raw = bare
    if len(raw) > LONGEST_KEPT:
        reading.long_lines += 1
        raw = raw[:LONGEST_KEPT]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        reading.invalid_bytes += len(_INVALID.findall(raw.decode("utf-8", errors="surrogateescape")))
        text = raw.decode("utf-8", errors="replace")
    return text.removeprefix("\ufeff") if reading.lines == 1 else text


def damages() -> tuple[type[Exception], ...]:
    """What a damaged archive, or a disk that fails, may raise while it is read."""
    return EOFError, OSError, zlib.error, *_damages_of_libraries()


@cache
def _damages_of_libraries() -> tuple[type[Exception], ...]:
    """Of those that are there: a node that is only read from may lack them."""
    found: list[type[Exception]] = []
    with suppress(ImportError):
        from isal import isal_zlib

        found.append(isal_zlib.error)  # type: ignore[arg-type]  # typed as an instance
    with suppress(ImportError):
        from zstandard import ZstdError

        found.append(ZstdError)
    return tuple(found)
