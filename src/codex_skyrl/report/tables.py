"""The tables of a report as plain strings: which columns, rows and order. Shared by every renderer.

Knows nothing of widths or colours; cells may still hold foreign text.
"""

from dataclasses import dataclass
from typing import Literal

from codex_skyrl.report import figures, phrases, words
from codex_skyrl.report.model import STAGES, Diagnosis, Queue, StageFigures, Step
from codex_skyrl.text import Text

Align = Literal["left", "right"]
_RIGHT: Align = "right"
MOST_STEPS = 20
_EDGE = 4  # steps kept at each end when there are too many
_SOURCES = {"stated": words.STATED, "reconstructed": words.RECONSTRUCTED}


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: `headers` and `align` per column, `strong` the rows to stress, `note` said below."""

    headers: tuple[str, ...]
    align: tuple[Align, ...]
    cells: tuple[tuple[str, ...], ...]
    strong: frozenset[int] = frozenset()
    note: str = ""


def shown_steps(steps: list[Step]) -> list[Step]:
    """At most MOST_STEPS of them, in order: both ends and the slowest between."""
    if len(steps) <= MOST_STEPS:
        return steps
    middle = range(_EDGE, len(steps) - _EDGE)
    slowest = sorted(middle, key=lambda i: steps[i].makespan_s or 0.0, reverse=True)[: MOST_STEPS - 2 * _EDGE]
    kept = {*range(_EDGE), *slowest, *range(len(steps) - _EDGE, len(steps))}
    return [steps[i] for i in sorted(kept)]


def steps(diagnosis: Diagnosis) -> Rows:
    lang = diagnosis.lang
    shown = shown_steps(diagnosis.steps)
    left = len(diagnosis.steps) - len(shown)
    note = Text(
        f"{left} faster steps between them are left out; --format json has them all.",
        f"中间较快的 {left} 个 step 未列出，--format json 里有全部。",
    )
    labels = (words.STEP, words.MAKESPAN, words.BOUNDS, words.TRAJECTORIES, words.FAILED, words.BOTTLENECK)
    return Rows(
        headers=tuple(label.to(lang) for label in labels),
        align=("right", "right", "right", "right", "right", "left"),
        cells=tuple(_step(step) for step in shown),
        note=note.to(lang) if left else "",
    )


def _step(step: Step) -> tuple[str, ...]:
    return (
        str(step.step),
        figures.seconds(step.makespan_s),
        figures.between(step.bounds_s),
        figures.count(step.trajectories),
        figures.count(step.failed),
        step.bottleneck or figures.DASH,
    )


def queues(diagnosis: Diagnosis) -> Rows | None:
    """None when not a single figure is known."""
    lang = diagnosis.lang
    all_queues = [getattr(diagnosis.queues, stage) for stage in STAGES]
    if all(queue == Queue() for queue in all_queues):
        return None
    labels = (words.QUEUE, words.MAX_DEPTH, words.MEAN_DEPTH, words.MEAN_WAIT, words.CONSUMED, words.SOURCE)
    return Rows(
        headers=tuple(label.to(lang) for label in labels),
        align=("left", "right", "right", "right", "right", "left"),
        cells=tuple(
            (
                f"{stage}_queue",
                figures.count(queue.max_depth),
                figures.mean(queue.mean_depth),
                figures.bounded(queue.mean_wait_s, queue.mean_wait_bounds_s),
                figures.per_minute(queue.consumption_per_min),
                figures.DASH if queue.source is None else _SOURCES[queue.source].to(lang),
            )
            for stage, queue in zip(STAGES, all_queues, strict=True)
        ),
    )


def stages(diagnosis: Diagnosis) -> Rows | None:
    """None when not a single figure is known; the stage named by the verdict is stressed."""
    lang = diagnosis.lang
    all_stages = [getattr(diagnosis.stages, stage) for stage in STAGES]
    if all(stage == StageFigures() for stage in all_stages):
        return None
    labels = (
        words.STAGE, words.WORKERS, words.BUSY, words.BLOCKED, words.STARVED,
        words.SERVICE_P50, words.SERVICE_P95, words.COMPLETED, words.FAILED,
    )  # fmt: skip
    return Rows(
        headers=tuple(label.to(lang) for label in labels),
        align=("left", *[_RIGHT] * 8),
        cells=tuple(_stage(name, stage) for name, stage in zip(STAGES, all_stages, strict=True)),
        strong=frozenset(i for i, name in enumerate(STAGES) if name == diagnosis.verdict.bottleneck),
    )


def _stage(name: str, stage: StageFigures) -> tuple[str, ...]:
    known = stage != StageFigures()  # a stage of which nothing is known did not complete "0"
    return (
        name,
        figures.count(stage.workers),
        figures.percent(stage.utilisation),
        figures.percent(stage.blocked),
        figures.percent(stage.starved),
        figures.seconds(stage.service_p50_s),
        figures.seconds(stage.service_p95_s),
        figures.count(stage.completed if known else None),
        figures.count(stage.failed if known else None),
    )


def matrix(diagnosis: Diagnosis) -> Rows:
    lang = diagnosis.lang
    return Rows(
        headers=tuple(label.to(lang) for label in (words.SIGNS, words.MATCHED, words.EVIDENCE)),
        align=("left", "left", "left"),
        cells=tuple(
            (
                phrases.matrix_row(row, lang),
                (words.YES if row.matched else words.NO).to(lang),
                phrases.ids(row.evidence) or figures.DASH,
            )
            for row in diagnosis.matrix
        ),
        strong=frozenset(i for i, row in enumerate(diagnosis.matrix) if row.matched),
    )
