"""All three stages near full: no single one limits."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Finding
from codex_skyrl.diagnosis.rules.cites import occupancy, pct
from codex_skyrl.report.model import STAGES
from codex_skyrl.text import Text

_FULL = 0.7  # the ramps of a step take their part even when all stages are full between


class Saturated:
    """Every stage's workers are busy for most of the step."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        busy = {s: step.busy(s) for s in STAGES}
        if min(busy.values()) < _FULL:
            return None
        summary = Text(
            f"Step {step.number}: all three stages are near full (init {pct(busy['init'])}, run {pct(busy['run'])}, "
            f"eval {pct(busy['eval'])} busy): total consumption is too low for the load, one knob alone will not help.",
            f"step {step.number}：三个阶段都接近满载（忙碌 init {pct(busy['init'])}、run {pct(busy['run'])}、"
            f"eval {pct(busy['eval'])}）：总消费能力不足，只调一个旋钮没有用。",
        )
        return Finding("saturated", "mixed", 0.8, summary, (occupancy(step),))
