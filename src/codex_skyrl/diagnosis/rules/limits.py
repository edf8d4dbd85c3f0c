"""Which stage limits a step: the one whose workers are busy while those before it are blocked and those after starve."""

from codex_skyrl.diagnosis.facts import StepFacts
from codex_skyrl.report.model import STAGES, Stage

LEAST_BUSY = 0.4  # ramps at both ends of a short step leave no stage busier
_CLEARLY_BUSY = 0.55


def limiting(step: StepFacts) -> Stage | None:
    """The busiest stage, when it is busy for most of the observed time; None when none is."""
    stage = max(STAGES, key=step.busy)
    return stage if step.busy(stage) >= LEAST_BUSY else None


def sureness(step: StepFacts, stage: Stage) -> float:
    """Up to 0.95: grows with how busy the stage is and how far it is ahead of the next; less for a piece of a step."""
    busy = step.busy(stage)
    lead = busy - max(step.busy(s) for s in STAGES if s != stage)
    sure = min(0.95, 0.5 + 0.35 * min(1.0, (busy - _CLEARLY_BUSY) / 0.35) + 0.4 * max(0.0, min(0.3, lead)))
    seen = 0.75 if step.truncated or not step.finished else 1.0
    return sure * seen * (1.0 if step.workers_known else 0.75)
