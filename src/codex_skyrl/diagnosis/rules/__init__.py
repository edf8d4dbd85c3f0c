"""The rules, in the order in which they are asked: the first that concludes something names a step's bottleneck.

What stops a step comes first, then what makes stages wait for each other, then the stage that limits. A new rule is
a class with `look(step, case)` in a module of its own, added to this list.
"""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Finding, Rule
from codex_skyrl.diagnosis.rules.evaluation import EvalLimits
from codex_skyrl.diagnosis.rules.hang import DeadTail, Hang, Silence
from codex_skyrl.diagnosis.rules.init import InitLimits
from codex_skyrl.diagnosis.rules.ranks import SlowRank
from codex_skyrl.diagnosis.rules.run import RunLimits
from codex_skyrl.diagnosis.rules.saturated import Saturated
from codex_skyrl.diagnosis.rules.supply import SmallBatch
from codex_skyrl.diagnosis.rules.tail import LongTail
from codex_skyrl.diagnosis.rules.threads import BlockedLoop, LlmExecutorCap, ThreadCap
from codex_skyrl.diagnosis.rules.trainer import TrainingSide
from codex_skyrl.diagnosis.rules.turns import LateReplies, TurnBarrier

RULES: tuple[Rule, ...] = (
    Hang(),
    Silence(),
    DeadTail(),
    TrainingSide(),
    SlowRank(),
    SmallBatch(),
    ThreadCap(),
    LlmExecutorCap(),
    BlockedLoop(),
    TurnBarrier(),
    LateReplies(),
    LongTail(),
    Saturated(),
    InitLimits(),
    EvalLimits(),
    RunLimits(),
)


def findings_of(step: StepFacts, case: Case) -> tuple[Finding, ...]:
    """Everything the rules conclude about a step, the decisive finding first; empty when nothing can be said."""
    if not step.judgeable():
        return ()
    return tuple(f for rule in RULES if (f := rule.look(step, case)) is not None)
