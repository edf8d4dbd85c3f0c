"""Reads cited lines again, as they stand in their files, for quoting. Colours and control bytes are taken off."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from codex_skyrl.logs.chunks import chunks
from codex_skyrl.logs.lines import Reading, decode_line
from codex_skyrl.logs.ranges import Landmarks
from codex_skyrl.logs.unwrap import strip_ansi

LONGEST = 400  # characters of a quoted line


def quotes(
    places: Iterable[tuple[str, int]], files: Mapping[str, Path], landmarks: Mapping[str, Landmarks] | None = None
) -> dict[tuple[str, int], str]:
    """The text at each (source, line); places of unknown or unreadable sources are left out. `landmarks` save reading."""
    wanted: dict[str, list[int]] = {}
    for source, line in sorted(set(places)):
        wanted.setdefault(source, []).append(line)
    found: dict[tuple[str, int], str] = {}
    for source, lines in wanted.items():
        if source in files:
            for known, near in _by_landmark(lines, (landmarks or {}).get(source, [])):
                found.update({(source, line): text for line, text in _lines_of(files[source], near, *known)})
    return found


def _by_landmark(lines: list[int], landmarks: Landmarks) -> Iterable[tuple[tuple[int, int], list[int]]]:
    """The lines behind each landmark, the file's beginning being the first."""
    known = [(0, 0), *landmarks]
    nearest = (known[bisect_left(known, (line, 0)) - 1] for line in lines)
    return (
        (k, [line for _, line in group]) for k, group in groupby(zip(nearest, lines, strict=True), key=itemgetter(0))
    )


def _lines_of(path: Path, wanted: list[int], before: int, offset: int) -> Iterable[tuple[int, str]]:
    """(number, text) of the wanted lines, in order; `before` lines stand before `offset`."""
    left = deque(wanted)
    reading = Reading()
    try:
        for chunk in chunks(path, reading, offset):
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
