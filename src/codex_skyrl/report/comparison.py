"""Two runs beside each other, as data: what `compare --format json` prints. Percentages are of the value before."""

from typing import Literal

from codex_skyrl.report.model import Bottleneck, Cause, Strict, Tool

Judgement = Literal["better", "worse", "no_change", "cannot_tell"]
Moved = Literal["moved", "not_moved", "cannot_tell"]


class SettingChange(Strict):
    """One setting that differs; None where a side does not set it. Places are file:line."""

    key: str
    before: str | None
    after: str | None
    before_at: str | None = None
    after_at: str | None = None


class StepTime(Strict):
    """Mean makespan of whole steps in seconds (with `per_trajectory`: of each trajectory) and its change.

    `low_pct`..`high_pct` holds the true change with 95 %, by Student's t; None with too few steps.
    """

    before_s: float | None
    after_s: float | None
    steps_before: int
    steps_after: int
    per_trajectory: bool = False
    change_pct: float | None = None
    low_pct: float | None = None
    high_pct: float | None = None
    judgement: Judgement
    why: str


class BottleneckChange(Strict):
    before: Bottleneck
    before_cause: Cause
    after: Bottleneck
    after_cause: Cause
    moved: Moved
    why: str


class FigureChange(Strict):
    """One figure of a queue or stage. `unit`: s, /min, or share (0..1)."""

    name: str
    unit: Literal["s", "/min", "share"]
    before: float | None
    after: float | None
    change_pct: float | None = None


class Scored(Strict):
    """A prediction beside what was observed. `kept_at`: when it was made; None: computed now, knowing nothing of AFTER."""

    experiment: str
    predicted_pct: float
    low_pct: float
    high_pct: float
    observed_pct: float
    inside: bool
    kept_at: str | None


class RunningScore(Strict):
    """All predictions that were ever scored here."""

    count: int
    inside: int
    median_error_points: float


class Comparison(Strict):
    schema_version: Literal[1] = 1
    tool: Tool
    lang: Literal["en", "zh"]
    before: str
    after: str
    settings: list[SettingChange]
    warnings: list[str]
    step_time: StepTime
    bottleneck: BottleneckChange
    figures: list[FigureChange]
    prediction: Scored | None = None
    score: RunningScore | None = None
