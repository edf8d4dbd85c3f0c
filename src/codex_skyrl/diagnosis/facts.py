"""What the rules look at: each step's figures over all its pipelines, beside servers, GPUs and the cluster.

Puts together what `pipeline` computed; judges nothing.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codex_skyrl.checkout.facts import Checkout
from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.diagnosis.cluster import Pulls, SandboxRequests, pulls_between, sandbox_requests_between
from codex_skyrl.diagnosis.merge import merged, weighted
from codex_skyrl.logs.event import StepMetrics
from codex_skyrl.pipeline.figures import Pipeline, Workers, pipeline_of
from codex_skyrl.pipeline.profile import Profile, profile_of
from codex_skyrl.pipeline.run import Run, StepRecords
from codex_skyrl.pipeline.series import quantile
from codex_skyrl.pipeline.server import Server, gpu_mean, server_of
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.report.model import STAGES, Stage

_WORTH_JUDGING = 4  # trajectories taken; a shorter piece of a step says nothing


@dataclass(frozen=True, slots=True)
class StageFacts:
    """One stage over all pipelines of a step; shares of workers x observed time, `service_s` a mean."""

    workers: int | None
    busy: float | None
    blocked: float | None
    starved: float | None
    completed: int
    failed: int
    service_s: float | None
    services: "array[float]"  # of each item, seconds of its work
    held_s: float  # all items together: how long workers held them after the work was done


@dataclass(frozen=True, slots=True)
class StepFacts:
    """One training step. Times are seconds on the run's axis, `observed_s` what of the step is in the input."""

    number: int
    pipelines: tuple[Pipeline, ...]
    stages: Mapping[Stage, StageFacts]
    parts: Profile
    servers: tuple[Server, ...]
    gpu_pct: float | None
    metrics: StepMetrics | None
    metrics_at: Place | None
    pulls: Pulls
    requests: SandboxRequests
    begin_s: float
    end_s: float
    makespan_s: float | None
    makespan_bounds_s: tuple[float, float] | None
    seen: int  # trajectories that a worker was seen to take
    workers_known: bool  # False: numbers of workers are only bounded from below by what was seen

    @property
    def observed_s(self) -> float:
        return self.end_s - self.begin_s

    @property
    def truncated(self) -> bool:
        return any(p.record.truncated for p in self.pipelines)

    @property
    def finished(self) -> bool:
        return all(p.finished for p in self.pipelines)

    @property
    def size(self) -> int:
        return sum(p.size for p in self.pipelines)

    @property
    def failed(self) -> int:
        return sum(self.stages[s].failed for s in STAGES)

    @property
    def running(self) -> float | None:
        """Mean requests that run on the LLM server(s) over the step, silence counted as idle."""
        return sum(s.running for s in self.servers) if self.servers else None

    @property
    def queued(self) -> float | None:
        return sum(s.queued for s in self.servers) if self.servers else None

    def busy(self, stage: Stage) -> float:
        return self.stages[stage].busy or 0.0

    def judgeable(self) -> bool:
        """Enough of the step was seen to say what limits it."""
        return self.seen >= _WORTH_JUDGING and self.observed_s > 0


@dataclass(frozen=True, slots=True)
class Case:
    """The whole input, ready to be judged."""

    run: Run
    steps: tuple[StepFacts, ...]
    knobs: Knobs
    checkout: Checkout | None = None

    @property
    def last_s(self) -> float | None:
        return self.run.last_s


def case_of(run: Run, knobs: Knobs, checkout: Checkout | None = None) -> Case:
    """Compute every step's facts."""
    stated = Workers(
        knobs.per_rank("max_parallel_agents"),
        knobs.per_rank("max_parallel_agents"),
        knobs.per_rank("max_eval_parallel_agents") or knobs.per_rank("max_parallel_agents"),
    )
    per_instance = knobs.number("actor_rollout_ref.rollout.n_trajectories")
    steps = [_step(run, step, stated, per_instance) for step in run.steps]
    return Case(run, tuple(_dated_by_trainer([s for s in steps if s is not None])), knobs, checkout)


def _dated_by_trainer(steps: list[StepFacts]) -> list[StepFacts]:
    """A step whose beginning is cut off gets its makespan from `timing_s/gen`, less what `gen` holds besides.

    That part (weight synchronisation) is the same in every step; the steps that are whole tell how long it is.
    """
    besides = sorted(g - s.makespan_s for s in steps if s.makespan_s is not None and (g := _gen(s)) is not None)
    if not besides:
        return steps
    return [_from_gen(s, besides) if s.makespan_s is None and s.finished and _gen(s) else s for s in steps]


def _gen(step: StepFacts) -> float | None:
    return step.metrics.get("timing_s/gen") if step.metrics else None


def _from_gen(step: StepFacts, besides: list[float]) -> StepFacts:
    gen = _gen(step) or 0.0
    bounds = (max(step.observed_s, gen - besides[-1] - 1.0), gen - besides[0] + 1.0)
    return replace(step, makespan_s=gen - quantile(besides, 0.5), makespan_bounds_s=bounds)


def _step(run: Run, step: StepRecords, stated: Workers, per_instance: int | None) -> StepFacts | None:
    ranks = run.ranks if run.folded else 1
    pooled = Workers(*(None if w is None else w * ranks for w in (stated.init, stated.run, stated.eval)))
    pipelines = tuple(pipeline_of(r, step.number, per_instance, pooled, ranks) for r in step.records)
    windows = [p.window for p in pipelines if p.window is not None]
    if not windows:
        return None
    begin, end = min(b for b, _ in windows), max(e for _, e in windows)
    spans = [p.window[1] - p.window[0] if p.window else 0.0 for p in pipelines]
    profiles = [profile_of(p.record, span or None) for p, span in zip(pipelines, spans, strict=True)]
    servers = [server_of(log, begin, end) for log in run.llm]
    makespan = _makespan(pipelines)
    return StepFacts(
        number=step.number,
        pipelines=pipelines,
        stages={s: _stage(pipelines, spans, s) for s in STAGES},
        parts=merged(profiles),
        servers=tuple(s for s in servers if s is not None),
        gpu_pct=gpu_mean(run.gpu, begin, end),
        metrics=step.metrics,
        metrics_at=step.metrics_at,
        pulls=pulls_between(run.placed, begin, end),
        requests=sandbox_requests_between(run.placed, begin, end),
        begin_s=begin,
        end_s=end,
        makespan_s=makespan,
        makespan_bounds_s=None if makespan is None else (max(0.0, makespan - 1.0), makespan + 1.0),
        seen=sum(1 for p in pipelines for t in p.trajectories() if t.init.taken_s or t.run.taken_s),
        workers_known=stated.run is not None or not any(r.truncated for r in step.records),
    )


def _makespan(pipelines: Sequence[Pipeline]) -> float | None:
    """From the first rank's start to the last one's end; ranks of different sources have clocks of their own."""
    if any(p.makespan_s is None for p in pipelines):
        return None
    if len({p.record.source for p in pipelines}) > 1:
        return max(p.makespan_s for p in pipelines if p.makespan_s is not None)
    return max(p.end_s for p in pipelines if p.end_s) - min(p.start_s for p in pipelines if p.start_s is not None)


def _stage(pipelines: Sequence[Pipeline], spans: Sequence[float], stage: Stage) -> StageFacts:
    shares = [p.occupancy[stage] for p in pipelines]
    weights = [(p.workers.of(stage) or 0) * span for p, span in zip(pipelines, spans, strict=True)]
    workers = [w for p in pipelines if (w := p.workers.of(stage)) is not None]
    completed = sum(getattr(p.shown.stages, stage).completed for p in pipelines)
    failed = sum(getattr(p.shown.stages, stage).failed for p in pipelines)
    busy = weighted((o.busy, w) for o, w in zip(shares, weights, strict=True))
    visits = [t.visit(stage) for p in pipelines for t in p.trajectories()]
    services = array("d", (s for v in visits if (s := v.service_s) is not None))
    return StageFacts(
        workers=sum(workers) if workers else None,
        busy=busy,
        blocked=weighted((o.blocked, w) for o, w in zip(shares, weights, strict=True)),
        starved=weighted((o.starved, w) for o, w in zip(shares, weights, strict=True)),
        completed=completed,
        failed=failed,
        service_s=_mean_service(pipelines, services, completed, (busy or 0.0) * sum(weights)),
        services=services,
        held_s=sum(v.blocked_s for v in visits if v.service_s is not None),
    )


def _mean_service(pipelines: Sequence[Pipeline], services: "array[float]", ended: int, busy_s: float) -> float | None:
    """Mean over items; where ids are folded, worker-seconds over completions."""
    if any(p.record.folded for p in pipelines):
        return busy_s / ended if ended and busy_s else None
    return sum(services) / len(services) if services else None
