"""Steps that wait for a few trajectories at the end."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding
from codex_skyrl.diagnosis.rules.cites import occupancy, pct, secs, slowest
from codex_skyrl.pipeline.figures import Pipeline, completions_of
from codex_skyrl.report.model import STAGES, Stage
from codex_skyrl.text import Text

_TAIL_SHARE = 0.22  # of the makespan, after 95 % of the trajectories ended
_LEAST_ITEMS = 12
_MANY_TURNS = 2.0


def tail_of(pipeline: Pipeline) -> tuple[float, int] | None:
    """(seconds, trajectories) after 95 % of a finished pipeline's trajectories had ended."""
    ends = sorted(completions_of(pipeline.record, "eval"))
    if not pipeline.finished or pipeline.start_s is None or len(ends) < _LEAST_ITEMS:
        return None
    cut = int(0.95 * len(ends))
    return ends[-1] - ends[cut - 1], len(ends) - cut


class LongTail:
    """The last twentieth of the trajectories takes a large part of the step."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        timed = [(t[0], t[1], p) for p in step.pipelines if (t := tail_of(p)) is not None]
        if not timed or not step.makespan_s:
            return None
        seconds, count, pipeline = max(timed, key=lambda x: x[0])
        if seconds < _TAIL_SHARE * step.makespan_s or max(step.busy(s) for s in STAGES) > 0.85:
            return None
        stage = self._where(pipeline)
        turns = step.parts.turns
        capped = stage == "run" and turns.per_trajectory_max > _MANY_TURNS * max(1.0, turns.per_trajectory_p50)
        detail = Text(
            f" They take up to {turns.per_trajectory_max} turns, the median is {turns.per_trajectory_p50:.0f}."
            if capped
            else "",
            f"它们最多 {turns.per_trajectory_max} 轮，而中位数是 {turns.per_trajectory_p50:.0f} 轮。" if capped else "",
        )
        summary = Text(
            f"Step {step.number} ends with a tail: the last {count} trajectories take {secs(seconds)} s, "
            f"{pct(seconds / step.makespan_s)} of the step, most of it in {stage}.{detail.en}",
            f"step {step.number} 有长尾：最后 {count} 条轨迹用了 {secs(seconds)} 秒，占整个 step 的 "
            f"{pct(seconds / step.makespan_s)}，主要在 {stage} 阶段。{detail.zh}",
        )
        measured = Cite(
            Text(
                f"95% of the trajectories had ended {secs(seconds)} s before the last one",
                f"95% 的轨迹比最后一条早结束 {secs(seconds)} 秒",
            )
        )
        return Finding("straggler", "straggler", 0.85, summary, (measured, *slowest(step, stage), occupancy(step)))

    def _where(self, pipeline: Pipeline) -> Stage:
        """The stage in which the last trajectory spent most of its service time."""
        ended = [t for t in pipeline.trajectories() if t.eval.served_s is not None]
        last = max(ended, key=lambda t: t.eval.served_s or 0.0)
        return max(STAGES, key=lambda s: last.visit(s).service_s or 0.0)
