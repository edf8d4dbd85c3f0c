"""Reads cited lines again, as they stand in their files, for quoting. Colours and control bytes are taken off."""

from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path

from codex_skyrl.logs.chunks import chunks
from codex_skyrl.logs.lines import Reading, decode_line
from codex_skyrl.logs.unwrap import strip_ansi

LONGEST = 400  # characters of a quoted line


def quotes(places: Iterable[tuple[str, int]], files: Mapping[str, Path]) -> dict[tuple[str, int], str]:
    """The text at each (source, line); places of unknown or unreadable sources are left out."""
    wanted: dict[str, set[int]] = {}
    for source, line in places:
        wanted.setdefault(source, set()).add(line)
    found: dict[tuple[str, int], str] = {}
    for source, lines in wanted.items():
        if source in files:
            for line, text in _lines_of(files[source], lines):
                found[source, line] = text
    return found


def _lines_of(path: Path, wanted: set[int]) -> Iterable[tuple[int, str]]:
    left = deque(sorted(wanted))
    before = 0  # lines before this chunk
    reading = Reading()
    try:
        for chunk in chunks(path, reading):
            last = before + chunk.count(b"\n") - 1
            if left[0] <= last:
                lines = chunk.split(b"\n")
                while left and left[0] <= last:
                    number = left.popleft()
                    reading.lines = number
                    yield number, _clean(decode_line(lines[number - before], reading))
                if not left:
                    return
            before = last
    except OSError:
        return


def _clean(text: str) -> str:
    bare = strip_ansi(text)
    shown = "".join(c if c.isprintable() or c == "\t" else " " for c in bare).strip()
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
