"""Several ranks' lines as Ray's driver shows them: prefixed, in time order, and folded across workers.

Folding as Ray does it by default: lines are alike when they differ only in words that hold a digit. The first of a kind
is printed; once two workers wrote it, further ones are held back for five seconds, then the last one is printed with
how many it stands for (alone it is printed bare). stdout and stderr are folded apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from story import Story, timed_lines

WINDOW_S = 5.0


@dataclass(slots=True)
class _Held:
    since_s: float
    workers: set[int]
    line: str = ""
    count: int = 0
    by: int = 0


@dataclass(slots=True)
class _Folder:
    held: dict[str, _Held] = field(default_factory=dict)

    def take(self, moment: float, worker: int, line: str) -> Iterator[tuple[int, str]]:
        key = " ".join(word for word in line.split() if not any(c.isdigit() for c in word))
        known = self.held.get(key)
        if known is None:
            self.held[key] = _Held(moment, {worker})
            yield worker, line
        else:
            known.workers.add(worker)
            if len(known.workers) == 1:
                yield worker, line
            else:
                known.line, known.by, known.count = line, worker, known.count + 1
        yield from self.flush(moment)

    def flush(self, moment: float) -> Iterator[tuple[int, str]]:
        for key, known in list(self.held.items()):
            if moment - known.since_s < WINDOW_S:
                continue
            del self.held[key]
            if known.count > 1:
                yield known.by, f"{known.line} [repeated {known.count}x across cluster]"
                self.held[key] = _Held(moment, known.workers)
            elif known.count == 1:
                yield known.by, known.line


def driver_log(ranks: Mapping[int, Sequence[Story]], *, fold: bool) -> str:
    """The driver's output for the steps of each rank, by pid; a step begins when the slowest rank ended the one before."""
    lines = sorted(_lines(ranks), key=lambda x: x[0])
    if not fold:
        return "".join(f"(WorkerDict pid={pid}) {line}\n" for _, pid, line in lines)
    folders = {True: _Folder(), False: _Folder()}
    shown: list[tuple[int, str]] = []
    for moment, pid, line in lines:
        shown += folders[" - openhands:" in line].take(moment, pid, line)
    for folder in folders.values():
        shown += folder.flush(float("inf"))
    return "".join(f"(WorkerDict pid={pid}) {line}\n" for pid, line in shown)


def _lines(ranks: Mapping[int, Sequence[Story]]) -> Iterator[tuple[float, int, str]]:
    later = 0
    for stories in zip(*ranks.values(), strict=True):
        for pid, story in zip(ranks, stories, strict=True):
            for moment, line in timed_lines(story, later=later):
                yield moment, pid, line
        later += int(max(story.end_s for story in stories)) + 260
