"""Every line of a source that a report may cite, so that its text can be kept where the file itself will not be at hand."""

from collections.abc import Iterator

from codex_skyrl.pipeline.record import Record
from codex_skyrl.pipeline.run import Gathered, GpuSeries, LlmSeries
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.report.model import STAGES

MOST_OF_A_SERIES = 5_000  # lines of one server or GPU; of more, evenly spread ones


def places_of(gathered: Gathered) -> set[Place]:
    """The places of what one source gave; of load lines at most `MOST_OF_A_SERIES` each."""
    found = set(_loads(gathered))
    found.update(placed.place for placed in gathered.placed)
    for record in gathered.records:
        found.update(place for place in _record(record) if place is not None)
    return found


def _loads(gathered: Gathered) -> Iterator[Place]:
    loads: list[LlmSeries | GpuSeries] = [*gathered.llm.values(), *gathered.gpu.values()]
    for series in loads:
        step = -(-len(series.lines) // MOST_OF_A_SERIES) or 1
        yield from ((series.source, line) for line in series.lines[::step])
    yield from (s.retraction_at for s in gathered.llm.values() if s.retraction_at is not None)


def _record(record: Record) -> Iterator[Place | None]:
    yield from (record.started_at, record.ended_at, record.first_at, record.eval_workers_at)
    yield from record.eval_error_at.values()
    if record.remaining is not None:
        yield record.remaining[0]
    for moments in record.series.values():
        yield from (moments.first, moments.last)
    for session in record.sessions.values():
        yield session.place
    for trajectory in record.trajectories.values():
        for stage in STAGES:
            visit = trajectory.visit(stage)
            yield from (visit.taken_at, visit.served_at)
