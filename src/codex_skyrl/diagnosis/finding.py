"""What a rule concludes: a bottleneck and cause, how sure, one sentence, and the places that show it."""

from dataclasses import dataclass
from typing import Literal, Protocol

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.report.model import Bottleneck, Cause
from codex_skyrl.text import Text


@dataclass(frozen=True, slots=True)
class Cite:
    """One piece of evidence: a place in a log or script, or a computed figure (`place` None)."""

    says: Text
    place: Place | None = None
    line_end: int | None = None
    kind: Literal["log", "code", "metric"] = "metric"


def in_log(says: Text, place: Place | None, line_end: int | None = None) -> Cite:
    """A cite of a log line; a figure without a place when the place is unknown."""
    return Cite(says, place, line_end, "log") if place is not None else Cite(says)


@dataclass(frozen=True, slots=True)
class Finding:
    """`confidence` 0..1 that this is what limits the step (or the input)."""

    bottleneck: Bottleneck
    cause: Cause
    confidence: float
    summary: Text
    cites: tuple[Cite, ...] = ()


class Rule(Protocol):
    """Looks at one step of a case and concludes something, or nothing."""

    def look(self, step: StepFacts, case: Case) -> Finding | None: ...
