"""A file's bytes as chunks of whole lines, some hundred kilobytes each: plain, gzip or zstd, damaged or not, in flat memory.

Each chunk begins with a line feed (the one before its first line) and ends with one, so that a search for "\\n2025" finds
beginnings of lines. Damage costs no line before it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from codex_skyrl.logs.lines import (
    LONGEST_KEPT,
    Reading,
    damages,
    is_packed,
    open_log,
    open_log_patiently,
    raw_lines,
    rest_of_long_line,
)

CHUNK = 1 << 18  # fits the cache of a core


def chunks(path: Path, reading: Reading, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The whole file, or of a plain one the bytes from `begin` to `end`, where lines begin. `reading` counts what was odd.

    Raises:
        OSError: when the file cannot be opened.
    """
    given = 0
    try:
        with open_log(path) as stream:
            if begin:
                stream.seek(begin)
            for chunk in _of_stream(stream, reading, None if end is None else end - begin):
                yield chunk
                given = reading.bytes
            return
    except damages() as damage:
        if not is_packed(path):
            raise
        reading.stopped, reading.bytes = f"{type(damage).__name__}: {damage}", given
    yield from _last_lines(path, reading, given)


def _of_stream(stream: BinaryIO, reading: Reading, left: int | None) -> Iterator[bytes]:
    while block := stream.read(CHUNK if left is None else min(CHUNK, left)):
        tail = b"" if block.endswith(b"\n") else stream.readline(LONGEST_KEPT)
        left = None if left is None else left - len(block) - len(tail)
        if len(tail) < LONGEST_KEPT or tail.endswith(b"\n"):
            reading.bytes += len(block) + len(tail)
            reading.last_line_incomplete = not (tail or block).endswith(b"\n")
            yield b"".join((b"\n", block, tail, b"\n" if reading.last_line_incomplete else b""))
            continue
        cut = block.rfind(b"\n") + 1
        if cut:
            reading.bytes += cut
            yield b"\n" + block[:cut]
        before = reading.bytes
        line, ended = rest_of_long_line(stream, block[cut:] + tail, reading)
        left = None if left is None else left - (reading.bytes - before)
        reading.bytes += len(block) - cut + len(tail)
        reading.last_line_incomplete = not ended
        yield b"\n" + line[: LONGEST_KEPT + 1].rstrip(b"\n") + b"\n"


def _last_lines(path: Path, reading: Reading, given: int) -> Iterator[bytes]:
    """What can be read between the last whole chunk and the damage, a little at a time."""
    with open_log_patiently(path) as stream:
        left = given
        while left and (block := stream.read(min(left, CHUNK))):
            left -= len(block)
        lines = list(raw_lines(stream, reading))
    if lines:
        yield b"\n" + b"".join(line + b"\n" for line in lines)
