"""A step at evenly spaced moments: items in each queue, workers serving and workers held. Sums over its pipelines."""

from collections.abc import Callable, Sequence

from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.report.model import STAGES, Stage, StageSeries, Timeline

SAMPLES = 48


def timeline_of(step: int, pipelines: Sequence[Pipeline], samples: int = SAMPLES) -> Timeline | None:
    """None when no pipeline of the step was observed for any time.

    Each pipeline is sampled over its own window, laid from the step's first moment on; a sample stands for the middle
    of its interval. Workers are None where Ray has folded ids away, because then nobody knows who was serving.
    """
    windows = [p.window for p in pipelines if p.window is not None]
    if not windows:
        return None
    begin, end = min(b for b, _ in windows), max(e for _, e in windows)
    width = (end - begin) / samples
    moments = [begin + (n + 0.5) * width for n in range(samples)]
    return Timeline(
        step=step,
        sample_s=round(width, 3),
        depth=_sum(pipelines, moments, _depths),
        serving=_sum(pipelines, moments, _serving),
        blocked=_sum(pipelines, moments, _blocked),
    )


_Line = list[int] | None
_Of = Callable[[Pipeline, Stage, list[float]], _Line]


def _sum(pipelines: Sequence[Pipeline], moments: list[float], of: _Of) -> StageSeries:
    found: dict[Stage, _Line] = {}
    for stage in STAGES:
        lines = [of(p, stage, moments) for p in pipelines]
        known = [line for line in lines if line is not None]
        whole = bool(known) and len(known) == len(lines)
        found[stage] = [sum(values) for values in zip(*known, strict=True)] if whole else None
    return StageSeries(**found)


def _depths(pipeline: Pipeline, stage: Stage, moments: list[float]) -> _Line:
    curve = pipeline.curves[stage]
    if not curve:
        return None
    before = pipeline.size if stage == "init" and not pipeline.record.truncated else 0
    return _steps(curve, moments, before)


def _serving(pipeline: Pipeline, stage: Stage, moments: list[float]) -> _Line:
    visits = [t.visit(stage) for t in pipeline.trajectories()]
    spans = [(v.taken_s, v.served_s) for v in visits if v.taken_s is not None]
    return None if pipeline.record.folded else _open(spans, moments)


def _blocked(pipeline: Pipeline, stage: Stage, moments: list[float]) -> _Line:
    visits = [t.visit(stage) for t in pipeline.trajectories()]
    spans = [(v.served_s, v.served_s + v.blocked_s) for v in visits if v.served_s is not None and v.blocked_s > 0]
    return None if pipeline.record.folded else _open([(b, e) for b, e in spans if stage != "eval"], moments)


def _open(spans: Sequence[tuple[float, float | None]], moments: list[float]) -> list[int]:
    """Spans open at each moment; one without an end stays open."""
    changes = [(b, 1) for b, _ in spans] + [(e, -1) for _, e in spans if e is not None]
    return _steps(series.depth_curve((n, t, c) for n, (t, c) in enumerate(sorted(changes))), moments, 0)


def _steps(curve: series.Steps, moments: list[float], before: int) -> list[int]:
    """A step-wise curve at each moment; both are in order of time."""
    values, depth, at = [], before, 0
    for moment in moments:
        while at < len(curve) and curve[at][0] <= moment:
            depth = curve[at][1]
            at += 1
        values.append(max(0, depth))
    return values
