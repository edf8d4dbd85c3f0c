"""The figures of one pipeline in one step: waits, depths, rates, and how the workers' time was spent.

Pure functions over a `Record`. Every figure follows from lifecycle lines; what cannot be known stays None.
A wait of one item is uncertain by at most one second each side (stamps are whole seconds), a mean over n items by
far less; where a step's start is cut off, figures that need it are None.
"""

from dataclasses import dataclass

from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.occupancy import Occupancy, occupancy_of
from codex_skyrl.pipeline.record import Record
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.report.model import STAGES, PipelineFigures, Queue, Queues, Stage, StageFigures, Stages

_TAKEN: dict[Stage, Kind] = {"init": Kind.INIT_STARTED, "run": Kind.RUN_STARTED, "eval": Kind.EVAL_STARTED}
_ENTERED: dict[Stage, Kind] = {"run": Kind.INIT_DONE, "eval": Kind.RUN_DONE}
_COMPLETED: dict[Stage, tuple[Kind, ...]] = {
    "init": (Kind.INIT_WORK_DONE, Kind.INIT_FAILED),
    "run": (Kind.RUN_DONE, Kind.RUN_FAILED),
    "eval": (Kind.EVAL_DONE,),
}


@dataclass(frozen=True, slots=True)
class Workers:
    """How many workers each stage has in one pipeline; None when neither a line nor a setting says so."""

    init: int | None = None
    run: int | None = None
    eval: int | None = None

    def of(self, stage: Stage) -> int | None:
        return self.init if stage == "init" else self.run if stage == "run" else self.eval


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One record with its figures. Times are seconds on the run's axis."""

    record: Record
    step: int
    start_s: float | None
    end_s: float | None
    finished: bool  # the step is over: its end is stated, or every trajectory of the batch came to an end
    size: int
    size_exact: bool
    workers: Workers
    occupancy: dict[Stage, Occupancy]
    curves: dict[Stage, series.Curve]
    shown: PipelineFigures

    @property
    def makespan_s(self) -> float | None:
        """Seconds of the finished step; None when its start or its end is not in the input."""
        return self.shown.makespan_s

    @property
    def window(self) -> tuple[float, float] | None:
        """What of the step was observed, seconds on the run's axis."""
        begin = self.start_s if self.start_s is not None else self.record.first_event_s
        return None if begin is None or self.end_s is None or self.end_s <= begin else (begin, self.end_s)

    @property
    def end_stated(self) -> bool:
        return self.record.ended is not None

    def trajectories(self) -> list[Trajectory]:
        return list(self.record.trajectories.values())


def start_of(record: Record) -> float | None:
    """The generate call's start: the first item is taken at once, so the first init start dates it best."""
    if record.truncated:
        return None
    starts = record.moments(Kind.INIT_STARTED).times
    if starts:
        return min(starts)
    return None if record.started is None else record.started.earliest


def end_of(record: Record) -> float | None:
    """The last rank-side moment of the step; the stamped end line when there is one.

    Without one: the last moment at which anything happened, so an unfinished step ends where its log does.
    """
    if record.ended is not None and record.ended.latest != float("inf"):
        return record.ended.middle
    ends = [t.eval.served_s for t in record.trajectories.values() if t.eval.served_s is not None]
    if record.ended is not None and record.ended.earliest != float("-inf"):
        return max([record.ended.earliest, *ends])
    return max([*ends, *([] if record.last_event_s is None else [record.last_event_s])], default=None)


def size_of(record: Record, per_instance: int | None) -> tuple[int, bool]:
    """Trajectories of the batch, and whether a line states it."""
    if record.batch:
        return record.batch, True
    seen = max(len(record.trajectories), record.moments(Kind.INIT_STARTED).total)
    if record.instances and per_instance:
        return max(record.instances * per_instance, seen), True
    return seen, False


def failures_of(record: Record, stage: Stage) -> int:
    if stage == "init":
        return record.moments(Kind.INIT_FAILED).total
    if stage == "run":
        return record.moments(Kind.RUN_FAILED).total
    return sum(n for reason, n in record.eval_errors.items() if reason != "no_patch")


def wait_of(record: Record, stage: Stage, start_s: float | None) -> float | None:
    """Mean seconds from ready to taken. With folded ids: the difference of mean moments, which needs no pairing."""
    visits = [t.visit(stage) for t in record.trajectories.values()]
    if stage == "init":
        taken = record.moments(Kind.INIT_STARTED)
        if start_s is None or not taken.total:
            return None
        return max(0.0, taken.sum_s / taken.total - start_s)
    waits = [w for v in visits if (w := v.wait_s) is not None]
    if not record.folded:
        return series.mean(waits)
    taken_mean = record.moments(_TAKEN[stage]).mean_s
    if stage == "run":
        ready_mean = record.moments(Kind.INIT_WORK_DONE).mean_s
    else:
        ready_mean = record.moments(Kind.COMPLETION_DONE).mean_s
    return None if taken_mean is None or ready_mean is None else max(0.0, taken_mean - ready_mean)


def curve_of(record: Record, stage: Stage, size: int, start_s: float | None) -> list[tuple[float, int]]:
    """(time, items inside the queue object). init is pre-filled and only falls.

    In a step whose beginning is cut off the curve is shifted so that a finished step ends at depth 0.
    """
    taken = record.moments(_TAKEN[stage])
    if stage == "init":
        before = min(size, taken.total) if record.truncated else size
        return series.depth_curve(taken.changes(-1), start=before)
    curve = series.depth_curve([*record.moments(_ENTERED[stage]).changes(1), *taken.changes(-1)])
    if record.truncated and curve:
        missing = -min(0, curve[-1][1] if record.ended is not None else min(d for _, d in curve))
        curve = [(t, d + missing) for t, d in curve]
    return [(t, max(0, d)) for t, d in curve]


def completions_of(record: Record, stage: Stage) -> list[float]:
    """When items left a stage's work, failed ones included; prints of folded lines count as often as they stand for."""
    if not record.folded:
        return [v.served_s for t in record.trajectories.values() if (v := t.visit(stage)).served_s is not None]
    times: list[float] = []
    for kind in _COMPLETED[stage]:
        moments = record.moments(kind)
        for time, count in zip(moments.times, moments.counts, strict=True):
            times += [time] * count
    return times


def workers_of(record: Record, stated: Workers) -> Workers:
    """Stated settings first; else what the log shows: the first wave of inits is as large as there are workers.

    Where the beginning is cut off, the most items served at once bound the number from below.
    """
    seen = most_at_once(record, "run") if record.truncated else record.first_wave
    init = stated.init or seen or None
    run = stated.run or init
    evaluators = record.eval_workers if record.eval_workers and record.eval_workers > 0 else None
    evaluators = evaluators or stated.eval or run
    return Workers(init, run, evaluators)


def most_at_once(record: Record, stage: Stage) -> int:
    """The largest number of items that were being served in a stage at the same time."""
    changes: list[tuple[float, int]] = []
    for trajectory in record.trajectories.values():
        visit = trajectory.visit(stage)
        if visit.taken_s is not None:
            changes.append((visit.taken_s, 1))
            changes.append((visit.served_s if visit.served_s is not None else float("inf"), -1))
    now = most = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def came_to_an_end(record: Record, size: int) -> bool:
    """Every trajectory of the batch was evaluated or failed, although no line closes the step."""
    return 0 < size <= len(record.trajectories) and all(t.finished for t in record.trajectories.values())


def pipeline_of(record: Record, step: int, per_instance: int | None, stated: Workers, ranks: int = 1) -> Pipeline:
    """All figures of one record. `ranks` > 1 when the record pools that many ranks: rates are per rank then."""
    start, end = start_of(record), end_of(record)
    size, exact = size_of(record, per_instance)
    workers = workers_of(record, stated)
    finished = record.ended is not None or came_to_an_end(record, size)
    makespan = end - start if finished and start is not None and end is not None and end > start else None
    begin = start if start is not None else record.first_event_s
    occupancy = {s: occupancy_of(record, s, workers.of(s), begin, end) for s in STAGES}
    curves = {s: series.Curve(curve_of(record, s, size, start)) for s in STAGES}
    queues = {s: _queue(record, s, curves[s], start, end, ranks) for s in STAGES}
    stages = {s: _stage(record, s, workers.of(s), occupancy[s]) for s in STAGES}
    shown = PipelineFigures(
        id=record.process or record.source,
        step=step,
        makespan_s=_rounded(makespan),
        queues=Queues(**queues),
        stages=Stages(**stages),
    )
    return Pipeline(record, step, start, end, finished, size, exact, workers, occupancy, curves, shown)


def _queue(
    record: Record, stage: Stage, curve: series.Curve, start: float | None, end: float | None, ranks: int
) -> Queue:
    if not curve:
        return Queue()
    begin = start if start is not None else record.first_event_s
    wait = wait_of(record, stage, start)
    rate = series.consumption_per_min(completions_of(record, stage))
    n = max(1, record.moments(_TAKEN[stage]).total)
    return Queue(
        source="reconstructed",
        max_depth=_deepest(curve, stage, begin),
        mean_depth=_rounded(series.time_mean(curve, begin, end)) if begin is not None and end is not None else None,
        mean_wait_s=_rounded(wait),
        mean_wait_bounds_s=_bounds(wait, n),
        consumption_per_min=_rounded(rate / ranks if rate is not None else None, 3),
    )


def _deepest(curve: series.Curve, stage: Stage, begin: float | None) -> int:
    """The deepest depth that stands at the end of a second: within one, Ray may have swapped lines.

    init is pre-filled; its first second ends when the workers have taken their first items.
    """
    standing = {int(t): d for t, d in curve if stage != "init" or begin is None or t >= begin}
    return max(standing.values(), default=0)


def _bounds(wait: float | None, n: int) -> tuple[float, float] | None:
    """A mean of n differences of whole-second stamps: each error is triangular on +-1 s (std 0.41 s)."""
    if wait is None:
        return None
    slack = min(1.0, 3 * 0.41 / n**0.5)
    return round(max(0.0, wait - slack), 2), round(wait + slack, 2)


def _stage(record: Record, stage: Stage, workers: int | None, occupancy: Occupancy) -> StageFigures:
    # The line that ends init's work names no trajectory: with folded ids it can't be told whose it is.
    whole = not record.folded or stage != "init"
    services = sorted(s for t in record.trajectories.values() if whole and (s := t.visit(stage).service_s) is not None)
    completed = len(completions_of(record, stage)) - (failures_of(record, stage) if stage != "eval" else 0)
    return StageFigures(
        workers=workers,
        utilisation=_rounded(occupancy.busy, 4),
        blocked=_rounded(occupancy.blocked, 4),
        starved=_rounded(occupancy.starved, 4),
        service_p50_s=_rounded(series.quantile(services, 0.5)) if services else None,
        service_p95_s=_rounded(series.quantile(services, 0.95)) if services else None,
        completed=max(0, completed),
        failed=failures_of(record, stage),
    )


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)
