"""Figures over the whole input: waits weighted by items, depths and shares by time, rates as means over pipelines."""

from collections.abc import Sequence

from codex_skyrl.diagnosis.facts import StepFacts
from codex_skyrl.diagnosis.merge import weighted
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.report.model import STAGES, Queue, Queues, Stage, StageFigures, Stages


def queues_of(pipelines: Sequence[Pipeline]) -> Queues:
    """The three queues over all pipelines and steps."""
    return Queues(**{s: _queue([getattr(p.shown.queues, s) for p in pipelines], pipelines) for s in STAGES})


def stages_of(steps: Sequence[StepFacts]) -> Stages:
    """The three stages over all steps; `workers` of the step that has the most."""
    return Stages(**{s: _stage(steps, s) for s in STAGES})


def _queue(queues: list[Queue], pipelines: Sequence[Pipeline]) -> Queue:
    spans = [p.window[1] - p.window[0] if p.window else 0.0 for p in pipelines]
    sizes = [float(p.size) for p in pipelines]
    depths = [q.max_depth for q in queues if q.max_depth is not None]
    bounds = [q.mean_wait_bounds_s for q in queues]
    low = weighted((b[0] if b else None, n) for b, n in zip(bounds, sizes, strict=True))
    high = weighted((b[1] if b else None, n) for b, n in zip(bounds, sizes, strict=True))
    return Queue(
        source=next((q.source for q in queues if q.source is not None), None),
        max_depth=max(depths, default=None),
        mean_depth=_rounded(weighted((q.mean_depth, s) for q, s in zip(queues, spans, strict=True))),
        mean_wait_s=_rounded(weighted((q.mean_wait_s, n) for q, n in zip(queues, sizes, strict=True))),
        mean_wait_bounds_s=(round(low, 2), round(high, 2)) if low is not None and high is not None else None,
        consumption_per_min=_rounded(series.mean([r for q in queues if (r := q.consumption_per_min) is not None]), 3),
    )


def _stage(steps: Sequence[StepFacts], stage: Stage) -> StageFigures:
    facts = [s.stages[stage] for s in steps]
    spans = [s.observed_s * (s.stages[stage].workers or 0) for s in steps]
    services = sorted(seconds for f in facts for seconds in f.services)
    workers = [f.workers for f in facts if f.workers is not None]
    return StageFigures(
        workers=max(workers, default=None),
        utilisation=_rounded(weighted((f.busy, w) for f, w in zip(facts, spans, strict=True)), 4),
        blocked=_rounded(weighted((f.blocked, w) for f, w in zip(facts, spans, strict=True)), 4),
        starved=_rounded(weighted((f.starved, w) for f, w in zip(facts, spans, strict=True)), 4),
        service_p50_s=_rounded(series.quantile(services, 0.5)) if services else None,
        service_p95_s=_rounded(series.quantile(services, 0.95)) if services else None,
        completed=sum(f.completed for f in facts),
        failed=sum(f.failed for f in facts),
    )


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)
