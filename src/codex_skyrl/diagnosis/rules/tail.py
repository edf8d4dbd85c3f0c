"""Steps that wait for a few trajectories at the end."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import occupancy, pct, secs, slowest
from codex_skyrl.pipeline.eval_errors import eval_error_kind
from codex_skyrl.pipeline.figures import Pipeline, completions_of
from codex_skyrl.pipeline.trajectory import Trajectory
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
        late = [t for t in pipeline.trajectories() if t.eval.failed and eval_error_kind(t.eval.error) == "timeout"]
        if stage == "eval" and late:
            return self._timeouts(step, seconds, late)
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

    def _timeouts(self, step: StepFacts, seconds: float, late: list[Trajectory]) -> Finding:
        limit = max(t.eval.service_s or 0.0 for t in late)
        summary = Text(
            f"Step {step.number} ends with a tail of {secs(seconds)} s: {len(late)} evaluations run into their time limit, "
            f"each holding its worker for up to {secs(limit)} s.",
            f"step {step.number} 末尾有 {secs(seconds)} 秒长尾：{len(late)} 次评测跑到超时，每次占住 worker 最多 {secs(limit)} 秒。",
        )
        last = max(late, key=lambda t: t.eval.served_s or 0.0)
        cites = (
            in_log(Text("one of them ends here", "其中一次在这里结束"), last.eval.served_at),
            *slowest(step, "eval"),
        )
        return Finding("eval", "eval_timeout", 0.85, summary, (*cites, occupancy(step)))

    def _where(self, pipeline: Pipeline) -> Stage:
        """The stage in which the last trajectory spent most of its service time."""
        ended = [t for t in pipeline.trajectories() if t.eval.served_s is not None]
        last = max(ended, key=lambda t: t.eval.served_s or 0.0)
        return max(STAGES, key=lambda s: last.visit(s).service_s or 0.0)
