"""The rows of a file: sifted here, or a big plain file in ranges by several processes side by side, in order either way."""

import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise, repeat
from multiprocessing import get_context
from pathlib import Path

from codex_skyrl.logs.chunks import chunks
from codex_skyrl.logs.lines import Reading, is_packed
from codex_skyrl.logs.sift import Row, Sieve

Landmarks = list[tuple[int, int]]  # (lines, bytes) before a place where a line begins, in order

_BIG = 64 << 20  # bytes from which starting processes pays
_RANGE = 8 << 20
_PROBE = 1 << 20
_AHEAD = 3  # ranges per process that may wait to be taken


@dataclass(slots=True)
class Sifted:
    """What one range of a file gave. `beyond`: so many lines behind it are told as well, for a traceback that goes on."""

    rows: list[Row] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    beyond: int = 0


def rows_of(
    path: Path, reading: Reading, landmarks: Landmarks, processes: int = 1, *, every: bool = False
) -> Iterator[tuple[int, list[Row]]]:
    """What `Sieve` makes of the whole file, in batches, each with the number of lines before its line 1.

    `reading` counts what was read when the next batch is asked for; `landmarks` tell where some lines of a plain file begin.

    Raises:
        OSError: when the file cannot be opened.
    """
    packed = is_packed(path)
    if processes > 1 and not every and not packed and path.stat().st_size >= _BIG:
        yield from _side_by_side(path, reading, landmarks, processes)
        return
    sieve = Sieve(every=every)
    sieve.start(reading)
    at = 0
    for chunk in chunks(path, reading):
        if not packed and at - (landmarks[-1][1] if landmarks else 0) >= _RANGE:
            landmarks.append((reading.lines, at))
        at = reading.bytes
        yield 0, sieve.sift(chunk)


def usable_processes() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _side_by_side(
    path: Path, reading: Reading, landmarks: Landmarks, processes: int
) -> Iterator[tuple[int, list[Row]]]:
    waiting: deque[Future[Sifted]] = deque()
    told = 0  # lines at the beginning of the next range that the range before has told
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin) as pool:
        try:
            for span in chain(_ranges(path), repeat(None)):
                if span is not None:
                    waiting.append(pool.submit(_sifted, path, *span))
                    if len(waiting) < _AHEAD * processes:
                        continue
                if not waiting:
                    return
                found = waiting.popleft().result()
                landmarks.append((reading.lines, reading.bytes))
                yield reading.lines, [row for row in found.rows if row[0] > told] if told else found.rows
                told = max(found.beyond, told - found.reading.lines)
                reading.add(found.reading)
        finally:
            pool.shutdown(cancel_futures=True)


def _ranges(path: Path) -> Iterator[tuple[int, int]]:
    """The file in pieces of whole lines."""
    size = path.stat().st_size
    cuts = [0]
    with path.open("rb") as stream:
        for at in range(_RANGE, size, _RANGE):
            stream.seek(at)
            if stream.readline(_PROBE).endswith(b"\n") and stream.tell() < size:
                cuts.append(stream.tell())
    yield from pairwise([*sorted(set(cuts)), size])


def _begin() -> None:
    """In a new process: an interrupt is the parent's to handle."""
    import gc

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # rows hold no cycles


@cache
def _sieve() -> Sieve:
    """One for all ranges of a process: what it remembers of prefixes and clock times goes on."""
    return Sieve()


def _sifted(path: Path, begin: int, end: int) -> Sifted:
    """The rows of one range; of lines behind it as well while a traceback goes on."""
    found, sieve = Sifted(), _sieve()
    sieve.start(found.reading)
    for chunk in chunks(path, found.reading, begin, end):
        found.rows += sieve.sift(chunk)
    if sieve.unfinished:
        behind = sieve.reading = Reading(lines=found.reading.lines)
        for chunk in chunks(path, Reading(), end):
            found.rows += sieve.sift(chunk)
            if not sieve.unfinished:
                break
        found.beyond = behind.lines - found.reading.lines
    return found
