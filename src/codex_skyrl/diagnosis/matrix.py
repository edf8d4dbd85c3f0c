"""The five rows of the diagnosis matrix, read from reconstructed depths over the middle of a step.

init_queue is pre-filled with the whole batch, so it counts as high only while it lasts past the middle of the step;
run_queue and eval_queue are bounded by the number of agents and count as high from half of that on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codex_skyrl.diagnosis.facts import StepFacts
from codex_skyrl.diagnosis.finding import Cite
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.text import Text

ROWS = ("init", "run", "eval", "saturated", "supply")
_HIGH, _LOW = 0.5, 0.25
_GPU_IDLE_PCT = 40.0


@dataclass(frozen=True, slots=True)
class Row:
    """One row, whether its signs are there, and the figures that say so."""

    name: str
    matched: bool
    cites: tuple[Cite, ...]


@dataclass(frozen=True, slots=True)
class _Depths:
    """Fill of the queues, 0..1: init of the batch at mid-step, run and eval of their bound on average."""

    init: float
    run: float
    eval: float


def rows_of(steps: Sequence[StepFacts]) -> list[Row]:
    """The five rows, in the mission's order, for the longest step that can be read."""
    readable = [(s, d) for s in steps if (d := _fill(s)) is not None]
    if not readable:
        return [Row(name, False, ()) for name in ROWS]
    step, fill = max(readable, key=lambda pair: pair[0].observed_s)
    idle = step.gpu_pct is not None and step.gpu_pct < _GPU_IDLE_PCT
    high = {"init": fill.init >= _LOW, "run": fill.run >= _HIGH, "eval": fill.eval >= _HIGH}
    low = {"init": fill.init < _LOW, "run": fill.run < _LOW, "eval": fill.eval < _LOW}
    matched = {
        "init": high["init"] and low["run"],
        "run": high["run"] and low["eval"],
        "eval": high["eval"],
        "saturated": all(high.values()),
        "supply": all(low.values()) and idle,
    }
    cite = _cite(step, fill)
    return [Row(name, matched[name], (cite,) if matched[name] else ()) for name in ROWS]


def _fill(step: StepFacts) -> _Depths | None:
    found = [d for p in step.pipelines if (d := _of_pipeline(p)) is not None]
    if not found:
        return None
    n = len(found)
    return _Depths(sum(d.init for d in found) / n, sum(d.run for d in found) / n, sum(d.eval for d in found) / n)


def _of_pipeline(pipeline: Pipeline) -> _Depths | None:
    bound, window = pipeline.workers.run, pipeline.window
    if not bound or window is None or not pipeline.size or pipeline.record.truncated:
        return None
    begin, end = window
    third = (end - begin) / 4
    means = {s: series.time_mean(pipeline.curves[s], begin + third, end - third) or 0.0 for s in ("run", "eval")}
    left = series.at(pipeline.curves["init"], (begin + end) / 2, pipeline.size)
    return _Depths(left / pipeline.size, means["run"] / bound, means["eval"] / bound)


def _cite(step: StepFacts, fill: _Depths) -> Cite:
    left, run, evaluation = (f"{100 * x:.0f}%" for x in (fill.init, fill.run, fill.eval))
    return Cite(
        Text(
            f"step {step.number}: at mid-step {left} of the batch is still in init_queue; over its middle half run_queue is "
            f"{run} full and eval_queue {evaluation}",
            f"step {step.number}：step 过半时 batch 的 {left} 还在 init_queue；中间一半时间里 run_queue 平均占满 {run}，"
            f"eval_queue 占满 {evaluation}",
        )
    )
