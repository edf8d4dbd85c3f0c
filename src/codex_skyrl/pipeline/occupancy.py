"""How the workers of a stage spent a step: serving, held by a full next queue, or waiting for an item.

Two ways to the same seconds: item by item where ids are whole; from counts alone where Ray has folded lines, because
the area under (taken so far - served so far) needs no pairing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.record import Record
from codex_skyrl.pipeline.trajectory import Visit
from codex_skyrl.report.model import Stage

Changes = list[tuple[int, float, int]]

_TAKEN: dict[Stage, Kind] = {"init": Kind.INIT_STARTED, "run": Kind.RUN_STARTED, "eval": Kind.EVAL_STARTED}
_SERVED: dict[Stage, tuple[Kind, ...]] = {
    "init": (Kind.INIT_WORK_DONE, Kind.INIT_FAILED),
    "run": (Kind.COMPLETION_DONE, Kind.RUN_FAILED),
    "eval": (Kind.EVAL_DONE,),
}
_RELEASED: dict[Stage, tuple[Kind, ...]] = {
    "init": (Kind.INIT_DONE, Kind.INIT_FAILED),
    "run": (Kind.RUN_DONE, Kind.RUN_FAILED),
    "eval": (Kind.EVAL_DONE,),
}
_BALANCE = 0.1  # completions without a "git diff" line may be this many before the release line is used instead


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Shares of workers x makespan of one stage: serving, held by a full next queue, waiting for an item.

    The rest of the time a worker has nothing left to wait for (its queue will get no more items).
    """

    busy: float | None = None
    blocked: float | None = None
    starved: float | None = None


@dataclass(frozen=True, slots=True)
class _Spent:
    """Worker-seconds: serving, held after serving, and serving or held until the last item was taken."""

    busy: float
    blocked: float
    until_last_taken: float
    last_taken_s: float


def occupancy_of(
    record: Record, stage: Stage, workers: int | None, begin: float | None, end: float | None
) -> Occupancy:
    """How the stage's workers spent the observed time. Starved: idle while items for this stage were still to come."""
    if not workers or begin is None or end is None or end <= begin:
        return Occupancy()
    spent = _by_counts(record, stage, end) if record.folded else _by_items(record, stage, begin, end)
    starved = max(0.0, workers * max(0.0, spent.last_taken_s - begin) - spent.until_last_taken)
    whole = workers * (end - begin)
    return Occupancy(*(min(1.0, max(0.0, x / whole)) for x in (spent.busy, spent.blocked, starved)))


# -- item by item -------------------------------------------------------------------------------------------------
def _by_items(record: Record, stage: Stage, begin: float, end: float) -> _Spent:
    visits = [t.visit(stage) for t in record.trajectories.values()]
    last = max((v.taken_s for v in visits if v.taken_s is not None), default=end)
    return _Spent(
        busy=sum(_served(v, begin, end) for v in visits),
        blocked=sum(v.blocked_s for v in visits) if stage != "eval" else 0.0,  # nothing comes after eval
        until_last_taken=sum(_held_until(v, begin, last) for v in visits),
        last_taken_s=last,
    )


def _served(visit: Visit, begin: float, end: float) -> float:
    """Seconds of work between two moments; an item still being served at the end counts until the end."""
    if visit.taken_s is None:
        return 0.0
    served = end if visit.served_s is None else min(end, visit.served_s)
    return max(0.0, served - max(begin, visit.taken_s))


def _held_until(visit: Visit, begin: float, limit: float) -> float:
    if visit.taken_s is None or visit.taken_s >= limit:
        return 0.0
    end = visit.served_s if visit.served_s is not None else limit
    return max(0.0, min(end + visit.blocked_s, limit) - max(begin, visit.taken_s))


# -- from counts --------------------------------------------------------------------------------------------------
def _by_counts(record: Record, stage: Stage, end: float) -> _Spent:
    taken = record.moments(_TAKEN[stage]).changes(1)
    released = _ends(record, _RELEASED[stage])
    served = _ends(record, _SERVED[stage])
    if abs(_total(served) - _total(released)) > _BALANCE * max(1, _total(released)):
        served = released
    last = max((t for _, t, _ in taken), default=end)
    closed = record.ended is not None
    busy = series.open_seconds(taken, served, closed)
    held = series.open_seconds(taken, released, closed)
    before = [(o, min(t, last), n) for o, t, n in released]
    return _Spent(busy, max(0.0, held - busy), series.open_seconds(taken, before, closed), last)


def _ends(record: Record, kinds: Iterable[Kind]) -> Changes:
    return [change for kind in kinds for change in record.moments(kind).changes(-1)]


def _total(changes: Changes) -> int:
    return sum(-n for _, _, n in changes)
