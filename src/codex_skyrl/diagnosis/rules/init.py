"""Initialisation limits the step: why starting a sandbox takes long."""

from codex_skyrl.diagnosis.cluster import Pulls
from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import occupancy, pct, secs, servers, slowest
from codex_skyrl.diagnosis.rules.limits import limiting, sureness
from codex_skyrl.logs.event import Kind
from codex_skyrl.report.model import Cause
from codex_skyrl.text import Text

_FAILED_SHARE = 0.15
_FAILED_TIME_SHARE = 0.25
_PULL_SHARE = 0.3  # of a start's time that pulls must explain
_RISE = 2.0
_BIMODAL = 5.0  # slow starts against quick ones: some images are there, some are not
_SLOW_BOOT_S = 45.0

Why = tuple[Cause, Text, list[Cite], float]  # cause, clause, evidence, factor on the confidence


class InitLimits:
    """The init workers are the busy ones."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        if limiting(step) != "init":
            return None
        cause, clause, cites, factor = self._why(step, case)
        facts = step.stages["init"]
        summary = Text(
            f"Step {step.number} is limited by init: its workers are busy {pct(facts.busy)} of the time, a start takes "
            f"{secs(facts.service_s)} s, and run workers starve {pct(step.stages['run'].starved)} of the time; {clause.en}.",
            f"step {step.number} 受 init 限制：init worker 有 {pct(facts.busy)} 的时间在忙，一次启动需 {secs(facts.service_s)} 秒，"
            f"run worker 有 {pct(step.stages['run'].starved)} 的时间在空等；{clause.zh}。",
        )
        evidence = (occupancy(step), *cites, *slowest(step, "init"), *servers(step)[:1])
        return Finding("init", cause, sureness(step, "init") * factor, summary, evidence)

    def _why(self, step: StepFacts, case: Case) -> Why:
        pulls = step.pulls
        if pulls.rate_limited:
            return self._rate_limited(pulls)
        return self._errors(step) or self._pulls(step, case) or self._starts(step, case)

    def _rate_limited(self, pulls: Pulls) -> Why:
        clause = Text(
            f"the image registry refuses pulls (rate limit, {pulls.rate_limited} refused)",
            f"镜像仓库拒绝拉取（触发限流，{pulls.rate_limited} 次被拒）",
        )
        says = Text("the registry's pull limit, not the LLM gateway's", "这是镜像仓库的拉取限流，不是 LLM 网关的限流")
        return "image_pull", clause, [in_log(says, pulls.rate_limited_at)], 1.0

    def _errors(self, step: StepFacts) -> Why | None:
        facts = step.stages["init"]
        total = facts.completed + facts.failed
        lost = [t.init.service_s or 0.0 for p in step.pipelines for t in p.trajectories() if t.init.failed]
        spent = [t.init.service_s or 0.0 for p in step.pipelines for t in p.trajectories()]
        share = facts.failed / total if total else 0.0
        if share < _FAILED_SHARE and sum(lost) < _FAILED_TIME_SHARE * max(1e-9, sum(spent)):
            return None
        if not facts.failed:
            return None
        clause = Text(
            f"{facts.failed} of {total} starts fail, taking {pct(sum(lost) / max(1e-9, sum(spent)))} of the workers' time",
            f"{total} 次启动中有 {facts.failed} 次失败，占去 init worker {pct(sum(lost) / max(1e-9, sum(spent)))} 的时间",
        )
        first = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.INIT_FAILED)).first), None)
        error = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.SANDBOX_ERROR)).first), None)
        cites = [in_log(Text("the first failed start", "第一次启动失败"), first)]
        if error:
            cites.append(in_log(Text("the first sandbox error", "第一个沙箱错误"), error))
        if step.requests.error_at:
            says = Text("the sandbox server's own error", "沙箱服务端自身的报错")
            cites.append(in_log(says, step.requests.error_at))
        return "sandbox_errors", clause, cites, 0.97

    def _pulls(self, step: StepFacts, case: Case) -> Why | None:
        pulls, service = step.pulls, step.stages["init"].service_s
        each = pulls.waiting_seconds or pulls.seconds
        if not pulls.pulled or each is None or not service or pulls.miss_share is None:
            return None
        if each * pulls.miss_share < _PULL_SHARE * service:
            return None
        clause = Text(
            f"{pulls.pulled} image pulls of {secs(each)} s (cache miss rate {pct(pulls.miss_share)})",
            f"{pulls.pulled} 次镜像拉取，平均 {secs(each)} 秒（缓存未命中率 {pct(pulls.miss_share)}）",
        )
        cites = [in_log(Text("the slowest image pull", "最慢的一次镜像拉取"), pulls.slowest)]
        before = self._before(step, case)
        if before is None:
            return "image_pull", clause, cites, 1.0
        rise = Text(
            f"image pulls: {before.pulls.pulled} in step {before.number}, {pulls.pulled} in step {step.number}",
            f"镜像拉取次数：step {before.number} 为 {before.pulls.pulled}，step {step.number} 为 {pulls.pulled}",
        )
        return "cache_miss", clause, [*cites, Cite(rise)], 1.0

    def _before(self, step: StepFacts, case: Case) -> StepFacts | None:
        """An earlier step in which the cache still hit: pulls rose since."""
        share = step.pulls.miss_share or 0.0
        earlier = [s for s in case.steps if s.number < step.number and s.pulls.miss_share is not None]
        return next((s for s in earlier if (s.pulls.miss_share or 0.0) * _RISE < share), None)

    def _starts(self, step: StepFacts, case: Case) -> Why:
        """No word from the cluster: judge by how the times from start to ready are spread."""
        box = step.parts.sandboxes
        quick, slow, mean = box.boot_p10_s, box.boot_p90_s, box.boot_mean_s
        if quick is None or slow is None or mean is None:
            return self._slow_server(step)
        clause = Text(
            f"a sandbox needs {secs(mean)} s from start to ready (quickest tenth {secs(quick)} s, slowest {secs(slow)} s)",
            f"沙箱从启动到就绪平均 {secs(mean)} 秒（最快一成 {secs(quick)} 秒，最慢一成 {secs(slow)} 秒）",
        )
        earlier = [s.parts.sandboxes.boot_mean_s for s in case.steps if s.number < step.number]
        rose = any(b is not None and b * 3 < mean for b in earlier)
        if mean >= _SLOW_BOOT_S and (slow >= _BIMODAL * max(1.0, quick) or rose):
            return ("cache_miss" if rose else "image_pull"), clause, [Cite(clause)], 0.85
        return "container_start", clause, [Cite(clause)], 0.85

    def _slow_server(self, step: StepFacts) -> Why:
        """No lines of the sandbox's own start either: only the sandbox server can say more."""
        asked = step.requests
        if asked.start_first_s is None or asked.start_last_s is None:
            clause = Text("nothing in the input says what a start waits for", "输入中没有说明启动在等什么")
            return "container_start", clause, [], 0.8
        clause = Text(
            f"the sandbox server's /start went from {secs(asked.start_first_s)} to {secs(asked.start_last_s)} s, "
            f"{asked.errors} requests failed",
            f"沙箱服务端的 /start 从 {secs(asked.start_first_s)} 秒变为 {secs(asked.start_last_s)} 秒，{asked.errors} 个请求失败",
        )
        cites = [in_log(Text("its first error", "第一个错误"), asked.error_at)] if asked.error_at else []
        return "container_start", clause, [Cite(clause), *cites], 0.9
