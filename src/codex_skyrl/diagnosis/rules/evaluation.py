"""Evaluation limits the step: tests, their time limit, the poll period, patches, or too few workers."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import init_split, occupancy, pct, secs, setting, slowest
from codex_skyrl.diagnosis.rules.limits import limiting, sureness
from codex_skyrl.diagnosis.rules.servers import Reason
from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline.eval_errors import eval_error_kind
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.text import Text

_TIMEOUT_SHARE = 0.25  # of the evaluators' time
_FIRST_POLL = 0.9
_POLL_SHARE = 0.4
_PATCH_SHARE = 0.25
_PREPARE_SHARE = 0.5
_FEW = 0.5  # of the run workers


class EvalLimits:
    """The eval workers are the busy ones."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        if limiting(step) != "eval":
            return None
        reason = self._why(step, case)
        facts, run = step.stages["eval"], step.stages["run"]
        summary = Text(
            f"Step {step.number} is limited by eval: its workers are busy {pct(facts.busy)} of the time, an evaluation takes "
            f"{secs(facts.service_s)} s, and run workers are held {pct(run.blocked)} of the time by the full eval_queue; "
            f"{reason.clause.en}.",
            f"step {step.number} 受 eval 限制：eval worker 有 {pct(facts.busy)} 的时间在忙，一次评测 {secs(facts.service_s)} 秒，"
            f"run worker 有 {pct(run.blocked)} 的时间被满的 eval_queue 占住；{reason.clause.zh}。",
        )
        sure = sureness(step, "eval") * reason.sure
        cites = (occupancy(step), *reason.cites, *slowest(step, "eval"), *init_split(step))
        return Finding("eval", reason.cause, sure, summary, cites)

    def _why(self, step: StepFacts, case: Case) -> Reason:
        return (
            self._timeouts(step)
            or self._patches(step)
            or self._preparation(step)
            or self._poll(step, case)
            or self._workers(step, case)
            or self._tests(step)
        )

    def _timeouts(self, step: StepFacts) -> Reason | None:
        ended = [t for p in step.pipelines for t in p.trajectories() if t.eval.service_s is not None]
        late = [t for t in ended if t.eval.failed and eval_error_kind(t.eval.error) == "timeout"]
        spent, whole = _eval_seconds(late), _eval_seconds(ended)
        if not late or spent < _TIMEOUT_SHARE * whole:
            return None
        clause = Text(
            f"{len(late)} evaluations run into their time limit and take {pct(spent / whole)} of the evaluators' time",
            f"{len(late)} 次评测跑到超时，占去评测 worker {pct(spent / whole)} 的时间",
        )
        place = next((p.record.eval_error_at.get("timeout") for p in step.pipelines), None)
        return Reason("eval_timeout", clause, (in_log(Text("the first timeout", "第一次超时"), place),), 1.0)

    def _patches(self, step: StepFacts) -> Reason | None:
        parts, done = step.parts.evaluations, step.stages["eval"].completed
        if not done or parts.patch_failed < _PATCH_SHARE * done:
            return None
        clause = Text(
            f"{parts.patch_failed} of {done} patches do not apply", f"{done} 个补丁中有 {parts.patch_failed} 个打不上"
        )
        place = next((p.record.eval_error_at.get("patch_failed") for p in step.pipelines), None)
        return Reason("patch_apply", clause, (in_log(Text("the first of them", "其中第一个"), place),), 0.85)

    def _preparation(self, step: StepFacts) -> Reason | None:
        """The second sandbox, not the tests, takes most of an evaluation."""
        prepare, service = step.parts.evaluations.prepare_s, step.stages["eval"].service_s
        if prepare is None or not service or prepare < max(30.0, _PREPARE_SHARE * service):
            return None
        pulled = (
            step.pulls.pulled and (step.pulls.waiting_seconds or 0.0) * (step.pulls.miss_share or 0.0) > 0.3 * prepare
        )
        clause = Text(
            f"{secs(prepare)} s of an evaluation go into its own sandbox before any test runs",
            f"每次评测有 {secs(prepare)} 秒花在启动自己的沙箱上，测试还没开始",
        )
        return Reason("image_pull" if pulled else "container_start", clause, (Cite(clause),), 0.85)

    def _poll(self, step: StepFacts, case: Case) -> Reason | None:
        parts, service = step.parts.evaluations, step.stages["eval"].service_s
        if parts.poll_s is None or parts.first_poll_share is None or not service or parts.tests_mean_s is None:
            return None
        if parts.first_poll_share < _FIRST_POLL or parts.tests_mean_s < _POLL_SHARE * service:
            return None
        clause = Text(
            f"{pct(parts.first_poll_share)} of the tests are found finished at the first look after {parts.poll_s:.0f} s, so the "
            f"poll period, not the tests, sets the time",
            f"{pct(parts.first_poll_share)} 的测试在 {parts.poll_s:.0f} 秒后的第一次轮询时就已结束，决定时长的是轮询间隔而不是测试",
        )
        done = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.EVAL_TESTS_DONE)).first), None)
        cites = (
            in_log(Text("a test time that is the poll period", "测试时长恰好等于轮询间隔"), done),
            *setting(case, "eval"),
        )
        return Reason("eval_poll", clause, cites, 0.92)

    def _workers(self, step: StepFacts, case: Case) -> Reason | None:
        mine, run = step.stages["eval"].workers, step.stages["run"].workers
        if not mine or not run or mine > _FEW * run:
            return None
        clause = Text(
            f"only {mine} eval workers serve {run} run workers",
            f"{run} 个 run worker 只有 {mine} 个 eval worker 来承接",
        )
        printed = [
            in_log(Text("eval workers of this rank", "该 rank 的 eval worker 数"), p.record.eval_workers_at)
            for p in step.pipelines
        ]
        return Reason("few_workers", clause, (*[c for c in printed if c.place], *setting(case, "eval")), 0.95)

    def _tests(self, step: StepFacts) -> Reason:
        parts = step.parts.evaluations
        clause = Text(
            f"the test suites take {secs(parts.tests_mean_s)} s on average (median {secs(parts.tests_p50_s)} s)",
            f"测试套件平均 {secs(parts.tests_mean_s)} 秒（中位数 {secs(parts.tests_p50_s)} 秒）",
        )
        done = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.EVAL_TESTS_DONE)).first), None)
        return Reason("test_time", clause, (in_log(Text("the first finished test", "第一个完成的测试"), done),), 0.93)


def _eval_seconds(trajectories: list[Trajectory]) -> float:
    return sum(t.eval.service_s or 0.0 for t in trajectories)
