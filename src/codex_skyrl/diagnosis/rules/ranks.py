"""Ranks of one step against each other: the global barrier waits for the slowest."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import secs
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.text import Text

_SLOWER = 1.25
_LEAST_EXTRA_S = 60.0
_LOWER_RATE = 1.12


class SlowRank:
    """One rank's makespan is far above the others' median, and its rate is lower too: not just a longer tail."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        timed = sorted((p.makespan_s, p.shown.id) for p in step.pipelines if p.makespan_s is not None)
        if len(timed) < 2:
            return None
        slowest, name = timed[-1]
        others = series.quantile([s for s, _ in timed[:-1]], 0.5)
        if slowest < _SLOWER * others or slowest - others < _LEAST_EXTRA_S:
            return None
        pipeline = next(p for p in step.pipelines if p.shown.id == name)
        if not _consumes_slowly(pipeline, step):
            return None
        summary = Text(
            f"Step {step.number} waits for one rank: {name} takes {secs(slowest)} s, the others {secs(others)} s (median).",
            f"step {step.number} 在等一个 rank：{name} 用了 {secs(slowest)} 秒，其他 rank 的中位数为 {secs(others)} 秒。",
        )
        end = in_log(Text(f"{name} ends here", f"{name} 在这里结束"), pipeline.record.ended_at)
        spread = Cite(
            Text(
                f"makespans of the ranks: {', '.join(secs(s) for s, _ in timed)} s",
                f"各 rank 的总时长：{'、'.join(secs(s) for s, _ in timed)} 秒",
            )
        )
        return Finding("straggler", "slow_rank", 0.85, summary, (spread, end))


def _consumes_slowly(pipeline: Pipeline, step: StepFacts) -> bool:
    """Whether a rank's trajectories come to their end clearly more slowly than the others'; True when not known."""
    mine = pipeline.shown.queues.eval.consumption_per_min
    others = [p.shown.queues.eval.consumption_per_min for p in step.pipelines if p is not pipeline]
    known = sorted(r for r in others if r is not None)
    return mine is None or not known or series.quantile(known, 0.5) >= _LOWER_RATE * mine
