"""From gathered sources to one run: a common calendar, ranks side by side in steps, step numbers from the trainer.

Sources that never state a date are laid over the dated ones by time of day.
"""

from collections.abc import Sequence
from statistics import median

from codex_skyrl.logs.clock import DAY
from codex_skyrl.logs.event import Kind, StepMetrics
from codex_skyrl.pipeline.record import Record
from codex_skyrl.pipeline.run import Gathered, GpuSeries, LlmSeries, Placed, Run, StepRecords

_SAME_CALL_S = 60.0  # ranks enter a call together, give or take their clocks
_CLEARLY = 10.0


def assemble(sources: Sequence[Gathered]) -> Run:
    """Put sources on one axis and their records into steps."""
    base = next((s.shift_s for s in sources if s.shift_s is not None), 0.0)
    dated_last = [s.last_s + s.shift_s for s in sources if s.shift_s is not None and s.last_s is not None]
    for source in sources:
        _shift(source, _shift_of(source, base, dated_last) - source.skew_s)
    _number_alike(sources)
    records = [r for s in sources for r in s.records if r.worked]
    pooled = [r for r in records if len(r.processes) > 1]
    for record in pooled:
        _complete_pooled(record)
    metrics = _metrics(sources)
    last = max((s.last_s for s in sources if s.last_s is not None), default=None)
    return Run(
        steps=tuple(_steps(records, metrics)),
        llm=tuple(x for s in sources for x in s.llm.values()),
        gpu=tuple(x for s in sources for x in s.gpu.values()),
        placed=tuple(p for s in sources for p in s.placed),
        last_s=last,
        folded=any(r.folded for r in records),
        ranks=max((len(r.processes) for r in pooled), default=1),
    )


def _shift_of(source: Gathered, base: float, dated_last: list[float]) -> float:
    """Where the source's first midnight lies; an undated source takes the day that ends nearest to the dated."""
    if source.shift_s is not None:
        return source.shift_s
    if source.last_s is None or not dated_last:
        return base
    last = source.last_s
    days = (base - DAY, base, base + DAY)
    return min(days, key=lambda d: min(abs(last + d - other) for other in dated_last))


def _shift(source: Gathered, by: float) -> None:
    if source.last_s is not None:
        source.last_s += by
    if not by:
        return
    for series in source.llm.values():
        _move(series, by)
    for gpu in source.gpu.values():
        _move(gpu, by)
    source.placed = [
        Placed(None if p.time_s is None else p.time_s + by, p.place, p.process, p.body) for p in source.placed
    ]
    for record in source.records:
        record.move(by)


def _move(series: LlmSeries | GpuSeries, by: float) -> None:
    for i, time in enumerate(series.times):
        series.times[i] = time + by
    if isinstance(series, LlmSeries):
        for i, time in enumerate(series.retractions):
            series.retractions[i] = time + by


def _number_alike(sources: Sequence[Gathered]) -> None:
    """Calls are counted from where each source begins: one that begins later is counted on from the call it begins with."""
    starts = {id(s): _starts(s) for s in sources}
    reference = max(sources, key=lambda s: len(starts[id(s)]), default=None)
    if reference is None:
        return
    for source in sources:
        own, other = starts[id(source)], starts[id(reference)]
        if source is reference or not own or not other:
            continue
        apart = {k: _apart(own, other, k) for k in range(-len(own) + 1, len(other))}
        nearest = min(apart, key=lambda k: (apart[k], abs(k)))
        if apart.get(0, float("inf")) > max(_SAME_CALL_S, _CLEARLY * apart[nearest]):
            for record in source.records:
                record.index += nearest


def _starts(source: Gathered) -> dict[int, float]:
    """When each of a source's calls began, by its number."""
    found: dict[int, float] = {}
    for record in source.records:
        if record.first_event_s is not None:
            found[record.index] = min(found.get(record.index, record.first_event_s), record.first_event_s)
    return found


def _apart(own: dict[int, float], other: dict[int, float], shift: int) -> float:
    """Median distance of starts, calls of `own` counted on by `shift`; infinite when none are left to compare."""
    distances = [abs(time - other[index + shift]) for index, time in own.items() if index + shift in other]
    return median(distances) if distances else float("inf")


def _metrics(sources: Sequence[Gathered]) -> list[Placed]:
    return [p for s in sources for p in s.placed if isinstance(p.body, StepMetrics)]


def _steps(records: list[Record], metrics: list[Placed]) -> list[StepRecords]:
    """Ranks of one step share the index of their generate call.

    The trainer prints its line at the end of a step: it belongs to the first call since the line before it; a
    further call in between is a validation and keeps the step's number without metrics.
    """
    indices = sorted({r.index for r in records})
    by_index = {i: tuple(r for r in records if r.index == i) for i in indices}
    printed = _printed_for(indices, by_index, metrics)
    number = _first_number(indices, printed)
    steps = []
    for index in indices:
        placed = printed.get(index)
        body = placed.body if placed is not None and isinstance(placed.body, StepMetrics) else None
        if body is not None:
            number = body.step
        steps.append(StepRecords(number, by_index[index], body, placed.place if placed and body else None))
        number += 1
    return steps


def _printed_for(
    indices: list[int], by_index: dict[int, tuple[Record, ...]], metrics: list[Placed]
) -> dict[int, Placed]:
    """Which metrics line belongs to which call: by position within one file, by order across files."""
    if any(r.first_at is None or r.first_at[0] != m.place[0] for rs in by_index.values() for r in rs for m in metrics):
        return dict(zip(indices, metrics, strict=False))
    first_line = {i: min(r.first_at[1] for r in by_index[i] if r.first_at) for i in indices}
    found: dict[int, Placed] = {}
    before = 0
    for line in metrics:
        since = [i for i in indices if before < first_line[i] < line.place[1]]
        if since and since[0] not in found:
            found[since[0]] = line
        before = line.place[1]
    return found


def _first_number(indices: list[int], printed: dict[int, Placed]) -> int:
    for position, index in enumerate(indices):
        placed = printed.get(index)
        if placed is not None and isinstance(placed.body, StepMetrics):
            return placed.body.step - position
    return 1


def _complete_pooled(record: Record) -> None:
    """What every rank prints alike counts for all of them; some ranks' lines are folded away."""
    ranks = len(record.processes)
    record.first_wave = _first_wave(record)
    record.instances = None if record.instances is None else record.instances * ranks
    record.batch = None if record.batch is None else record.batch * ranks
    record.eval_workers = None if record.eval_workers is None else record.eval_workers * ranks


def _first_wave(record: Record) -> int:
    """Init starts before any init's work was done: as many as there are workers."""
    done = min(record.moments(Kind.INIT_WORK_DONE).times, default=float("inf"))
    started = record.moments(Kind.INIT_STARTED)
    return sum(n for t, n in zip(started.times, started.counts, strict=True) if t < done)
