"""A whole input put in order: steps, their pipelines, and what the other sources say beside them.

`Reconstructor` takes events source by source and hands out what one source gave; `Run` is the whole. Where a step
begins and ends is decided in `steps`, figures are computed in `figures`. All times of a `Run` are seconds since
1970-01-01 local where any source of it states a date, else since midnight of the first day.
"""

from __future__ import annotations  # array[float] is a type only for the checker before Python 3.12

from array import array
from dataclasses import dataclass, field

from codex_skyrl.logs.event import (
    ClusterEvent,
    DepthSample,
    Event,
    Failure,
    GpuSample,
    Lifecycle,
    LlmSample,
    SandboxServer,
    StepMetrics,
)
from codex_skyrl.pipeline.record import Record
from codex_skyrl.pipeline.steps import StepCutter
from codex_skyrl.pipeline.trajectory import Place


@dataclass(slots=True)
class LlmSeries:
    """Load lines of one LLM server replica; parallel arrays, NaN where a line does not say."""

    source: str
    replica: str
    times: array[float] = field(default_factory=lambda: array("d"))
    running: array[float] = field(default_factory=lambda: array("d"))
    queued: array[float] = field(default_factory=lambda: array("d"))
    usage: array[float] = field(default_factory=lambda: array("d"))
    tokens_per_s: array[float] = field(default_factory=lambda: array("d"))
    decode: array[int] = field(default_factory=lambda: array("b"))
    lines: array[int] = field(default_factory=lambda: array("l"))
    retractions: array[float] = field(default_factory=lambda: array("d"))
    retraction_at: Place | None = None


@dataclass(slots=True)
class GpuSeries:
    """Utilisation in percent of one GPU index of one source."""

    source: str
    index: int
    times: array[float] = field(default_factory=lambda: array("d"))
    percent: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("l"))


@dataclass(frozen=True, slots=True)
class Placed:
    """An event of another family that is kept whole: its time (None when unknown) and place."""

    time_s: float | None
    place: Place
    process: str
    body: ClusterEvent | SandboxServer | Failure | StepMetrics | DepthSample


@dataclass(slots=True)
class Gathered:
    """All that one source gave, on that source's own axis."""

    name: str
    records: list[Record] = field(default_factory=list)
    llm: dict[str, LlmSeries] = field(default_factory=dict)
    gpu: dict[int, GpuSeries] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)
    failures: int = 0
    last_s: float | None = None
    shift_s: float | None = None
    skew_s: float = 0.0  # how far its node's clock is ahead of the others'

    @property
    def mixed(self) -> bool:
        """Ray folded lines of several ranks into one: they can only be told apart by counts, so pool them."""
        return len({r.process for r in self.records}) > 1 and any(r.folded for r in self.records)


_MOST_FAILURES = 2_000


class Reconstructor:
    """Gathers the events of one source."""

    def __init__(self, name: str, *, pooled: bool = False) -> None:
        self._cutter = StepCutter(name, pooled=pooled)
        self.out = Gathered(name, self._cutter.records)

    def feed(self, event: Event) -> None:
        """Take in one event, in the order in which the scanner gives them."""
        body = event.body
        latest = event.when.earliest
        if latest not in (float("-inf"), float("inf")) and (self.out.last_s is None or latest > self.out.last_s):
            self.out.last_s = latest
        match body:
            case Lifecycle():
                self._cutter.feed(event, body)
            case LlmSample():
                self._llm(event, body)
            case GpuSample():
                self._gpu(event, body)
            case SandboxServer():
                if "/start" in body.request or (body.status or 0) >= 400:
                    self._keep(event, body)
            case ClusterEvent() | StepMetrics() | DepthSample():
                self._keep(event, body)
            case Failure():
                self.out.failures += event.times
                if self.out.failures <= _MOST_FAILURES:
                    self._keep(event, body)
            case _:
                pass

    def _keep(self, event: Event, body: ClusterEvent | SandboxServer | Failure | StepMetrics | DepthSample) -> None:
        middle = event.when.middle
        time = None if abs(middle) == float("inf") else middle
        self.out.placed.append(Placed(time, (event.source, event.line), event.process, body))

    def _llm(self, event: Event, body: LlmSample) -> None:
        key = f"{event.process}|{body.replica}"
        series = self.out.llm.get(key)
        if series is None:
            series = self.out.llm[key] = LlmSeries(event.source, body.replica or event.process)
        if body.retracted:
            series.retractions.extend([event.when.middle] * body.retracted)
            series.retraction_at = series.retraction_at or (event.source, event.line)
        if body.phase == "retract":
            return
        nan = float("nan")
        series.times.append(event.when.middle)
        series.running.append(nan if body.running is None else body.running)
        series.queued.append(nan if body.queued is None else body.queued)
        series.usage.append(nan if body.kv_usage is None else body.kv_usage)
        series.tokens_per_s.append(nan if body.tokens_per_s is None else body.tokens_per_s)
        series.decode.append(1 if body.phase in ("decode", "stats") else 0)
        series.lines.append(event.line)

    def _gpu(self, event: Event, body: GpuSample) -> None:
        if body.utilisation_pct is None:
            return
        series = self.out.gpu.get(body.index)
        if series is None:
            series = self.out.gpu[body.index] = GpuSeries(event.source, body.index)
        series.times.append(event.when.middle)
        series.percent.append(body.utilisation_pct)
        series.lines.append(event.line)


@dataclass(frozen=True, slots=True)
class StepRecords:
    """One training step: the records of its ranks, and the trainer's metrics for it when they were printed."""

    number: int
    records: tuple[Record, ...]
    metrics: StepMetrics | None = None
    metrics_at: Place | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The input as one run. `folded`: Ray's de-duplication swallowed lifecycle lines, so ids are incomplete."""

    steps: tuple[StepRecords, ...]
    llm: tuple[LlmSeries, ...] = ()
    gpu: tuple[GpuSeries, ...] = ()
    placed: tuple[Placed, ...] = ()
    last_s: float | None = None
    folded: bool = False
    ranks: int = 1

    def bodies(self, kind: type) -> list[Placed]:
        """The kept events of one family, in input order."""
        return [p for p in self.placed if isinstance(p.body, kind)]
