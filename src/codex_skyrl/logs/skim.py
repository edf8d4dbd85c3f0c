"""Lines of a plain file, passing over those that cannot mean anything: most of a log is prompts, code and command output.

A line is passed over only while its reader is calm (nothing open that the next line could end) and when it has none of
the literals that formats look for and no beginning that a header, a time or a wrapper could have. What is passed over is
counted all the same. Where bytes are odd (NUL, invalid UTF-8, lines without end) every line is given out.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from codex_skyrl.logs.lines import Reading, decode_line, is_packed, raw_lines

_CHUNK = 1 << 18
_SMALL = 1 << 11
_MONTHS = rb"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_LEVELS = rb"TRACE|DEBUG|INFO|SUCCESS|NOTICE|WARN|ERROR|CRITICAL|FATAL|EXCEPTION"
_COLOUR = rb"(?:\x1b\[\d+m)?"
_RAY = (
    rb"(?>" + _COLOUR + rb"\([A-Za-z_][\w.:]* pid=\d+(?:, ip=[\w.:]+)?\)" + _COLOUR + rb" ?)"
)  # atomic: a part of it is no beginning
_ESCAPE = rb"[^\n\x1b]*\x1b"  # colours elsewhere: what is beneath them is not known before they are off
# characters are counted where bytes are: in text that is not ASCII the ranges are widened
_HEADS = rb"[0-9{\[]|(?:" + _LEVELS + rb")|[IWEF]\d{4}|(?:" + _MONTHS + rb") "
_ASCII = _HEADS + rb"|[^\n]{2}:[^\n]{2}:|[^\n]{0,11}="
_WIDE = _HEADS + rb"|[^\n]{2,8}:[^\n]{2,8}:|[^\n]{0,47}="


def _beginnings(heads: bytes) -> re.Pattern[bytes]:
    """A line feed before a line that begins so, behind a Ray prefix or not; two prefixes in one line count as well."""
    behind = rb"(?=" + heads + rb"|" + _ESCAPE + rb"|[^\n]* pid=)"
    return re.compile(rb"\n(?:" + _RAY + behind + rb"|(?!" + _RAY + rb")(?=" + heads + rb"|" + _ESCAPE + rb"))")


_BEGINS_ASCII, _BEGINS_WIDE = _beginnings(_ASCII), _beginnings(_WIDE)


class Skim:
    """Iterates over (1-based number, text) of a file's lines, as `numbered_lines`; set `calm` while lines may be passed over.

    Raises OSError when the file cannot be opened.
    """

    def __init__(self, path: Path, reading: Reading, literals: Iterable[str]) -> None:
        from ahocorasick_rs import BytesAhoCorasick

        self.calm = False
        self._path, self._reading = path, reading
        self._finder = BytesAhoCorasick([literal.encode() for literal in literals])

    def __iter__(self) -> Iterator[tuple[int, str]]:
        with self._path.open("rb") as stream:
            for chunk in _chunks(stream):
                for piece, plain in _sorted_out(chunk):
                    yield from self._some(piece) if plain else self._every(piece)

    def _every(self, chunk: bytes) -> Iterator[tuple[int, str]]:
        for raw in raw_lines(BytesIO(chunk), self._reading):
            self._reading.lines += 1
            yield self._reading.lines, decode_line(raw, self._reading)

    def _some(self, chunk: bytes) -> Iterator[tuple[int, str]]:
        reading = self._reading
        reading.bytes += len(chunk)
        marks: list[int] | None = None
        at = 0
        while at < len(chunk):
            if self.calm:
                if marks is None:
                    marks = self._marks(chunk)
                n = bisect_left(marks, at)
                following = marks[n] if n < len(marks) else len(chunk)
                reading.lines += chunk.count(b"\n", at, following)
                at = following
                if at == len(chunk):
                    break
            end = chunk.index(b"\n", at)
            reading.lines += 1
            yield reading.lines, decode_line(chunk[at:end], reading)
            at = end + 1

    def _marks(self, chunk: bytes) -> list[int]:
        """Where the lines begin that must be looked at, in order."""
        begins = _BEGINS_ASCII if chunk.isascii() else _BEGINS_WIDE
        found = {m.start() for m in begins.finditer(b"\n" + chunk)}
        found.update(chunk.rfind(b"\n", 0, start) + 1 for _, start, _ in self._finder.find_matches_as_indexes(chunk))
        return sorted(found)


def lines_of(path: Path, reading: Reading, literals: Iterable[str]) -> "Skim | None":
    """A skimming reader; None for a packed file, whose damage must cost no line before it."""
    return None if is_packed(path) else Skim(path, reading, literals)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines, some hundred kilobytes at a time; the last one may lack its line feed."""
    rest = b""
    while block := stream.read(_CHUNK):
        cut = block.rfind(b"\n") + 1
        if cut == 0:
            rest += block
            continue
        yield rest + block[:cut]
        rest = block[cut:]
    if rest:
        yield rest


def _sorted_out(chunk: bytes) -> Iterator[tuple[bytes, bool]]:
    """The chunk in pieces of whole lines, each with whether it is plain; odd bytes spoil a small piece only."""
    if b"\0" not in chunk and chunk.endswith(b"\n") and _is_utf8(chunk):
        yield chunk, True
        return
    cut = chunk.rfind(b"\n", 0, len(chunk) // 2) + 1 or chunk.find(b"\n", len(chunk) // 2) + 1
    if len(chunk) <= _SMALL or not 0 < cut < len(chunk):
        yield chunk, False
        return
    yield from _sorted_out(chunk[:cut])
    yield from _sorted_out(chunk[cut:])


def _is_utf8(chunk: bytes) -> bool:
    try:
        chunk.decode()
    except UnicodeDecodeError:
        return False
    return True
