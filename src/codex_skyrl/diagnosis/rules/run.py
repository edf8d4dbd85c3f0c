"""The agents' runs limit the step: the model, the environment, the number of turns, or nothing that needs fixing."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import gpu, init_split, occupancy, pct, secs, servers, setting, slowest, turns
from codex_skyrl.diagnosis.rules.limits import limiting, sureness
from codex_skyrl.diagnosis.rules.servers import Reason, kv_cache_full, saturated, uneven_routing
from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.server import Server
from codex_skyrl.text import Text

_ENV_SHARE = 0.6
_LEAST_ENV_S = 5.0
_CAPPED_SHARE = 0.4
_SLOW_REPLY_S = 12.0
_GPU_USED_PCT = 65.0
_GPU_IDLE_PCT = 55.0
_STALL_SHARE = 0.15
_LEAST_STALL_S = 120.0


class RunLimits:
    """The run workers are the busy ones."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        if limiting(step) != "run":
            return None
        reason = self._why(step, case)
        base = (occupancy(step), *init_split(step), *turns(step), *gpu(step, case))
        facts = step.stages["run"]
        if reason is None:
            return self._healthy(step, (*base, *servers(step)))
        summary = Text(
            f"Step {step.number} is limited by run: its workers are busy {pct(facts.busy)} of the time while init workers "
            f"are blocked {pct(step.stages['init'].blocked)} by the full run_queue; {reason.clause.en}.",
            f"step {step.number} 受 run 限制：run worker 有 {pct(facts.busy)} 的时间在忙，init worker 有 "
            f"{pct(step.stages['init'].blocked)} 的时间被满的 run_queue 阻塞；{reason.clause.zh}。",
        )
        sure = sureness(step, "run") * reason.sure
        return Finding("run", reason.cause, sure, summary, (*base, *reason.cites, *slowest(step, "run")))

    def _why(self, step: StepFacts, case: Case) -> Reason | None:
        logs = case.run.llm
        return (
            kv_cache_full(step.servers, logs)
            or uneven_routing(step.servers)
            or self._stall(step)
            or self._environment(step)
            or saturated(step.servers, step.gpu_pct, step.parts.turns.llm_s)
            or self._slow_replies(step)
            or self._turns(step, case)
            or self._few_workers(step, case)
        )

    def _healthy(self, step: StepFacts, cites: tuple[Cite, ...]) -> Finding:
        known = step.gpu_pct is not None or bool(step.servers)
        used = "" if step.gpu_pct is None else f" (GPU {step.gpu_pct:.0f}%)"
        summary = Text(
            f"Step {step.number} is healthy: run takes the largest share ({pct(step.busy('run'))} busy) and the model does "
            f"useful work{used}; init and eval keep up, and a deep init_queue only means the batch is queued at the start.",
            f"step {step.number} 状态正常：run 占用最多（忙碌 {pct(step.busy('run'))}），模型在做有效工作{used}；"
            "init 和 eval 都跟得上，init_queue 深只是因为整个 batch 在开始时入队。",
        )
        return Finding("healthy", "none", sureness(step, "run") * (0.95 if known else 0.7), summary, cites)

    def _environment(self, step: StepFacts) -> Reason | None:
        parts = step.parts.turns
        if parts.llm_s is None or parts.rest_s is None or parts.rest_s < _LEAST_ENV_S:
            return None
        share = parts.rest_s / (parts.rest_s + parts.llm_s)
        if share < _ENV_SHARE:
            return None
        clause = Text(
            f"{pct(share)} of a turn is the environment's ({secs(parts.rest_s)} s against {secs(parts.llm_s)} s for the model)",
            f"每轮有 {pct(share)} 的时间花在环境里（环境 {secs(parts.rest_s)} 秒，模型 {secs(parts.llm_s)} 秒）",
        )
        return Reason("env_slow", clause, tuple(servers(step)), 0.95)

    def _slow_replies(self, step: StepFacts) -> Reason | None:
        """Without server lines: replies take long and the GPUs, if known, are busy."""
        llm_s = step.parts.turns.llm_s
        if llm_s is None or llm_s < _SLOW_REPLY_S or (step.gpu_pct is not None and step.gpu_pct < _GPU_USED_PCT):
            return None
        clause = Text(f"a reply of the model takes {secs(llm_s)} s", f"模型一次回复要 {secs(llm_s)} 秒")
        return Reason("llm_saturated", clause, (), 0.9 if step.gpu_pct is not None else 0.75)

    def _turns(self, step: StepFacts, case: Case) -> Reason | None:
        parts, ended = step.parts.turns, step.stages["run"].completed
        if not parts.cap or not ended or parts.capped < _CAPPED_SHARE * ended:
            return None
        clause = Text(
            f"{parts.capped} of {ended} trajectories run into the cap of {parts.cap} turns",
            f"{ended} 条轨迹中有 {parts.capped} 条达到 {parts.cap} 轮上限",
        )
        first = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.MAX_ITERATIONS)).first), None)
        knob = case.knobs.rollout("max_iterations")
        cites = [in_log(Text("the first of them", "其中第一条"), first)]
        if knob:
            cites.append(Cite(Text("the cap is set here", "上限在这里设置"), (knob.source, knob.line), kind="code"))
        return Reason("max_iterations", clause, tuple(cites), 0.9)

    def _few_workers(self, step: StepFacts, case: Case) -> Reason | None:
        """Every worker is busy, the model answers quickly, and the GPUs idle: more agents would fit."""
        speeds = [s.slowdown for s in step.servers if s.slowdown is not None]
        if step.gpu_pct is None or step.gpu_pct >= _GPU_IDLE_PCT or (speeds and max(speeds) > 1.4):
            return None
        workers = step.stages["run"].workers
        clause = Text(
            f"all {workers} run workers are busy, yet the GPUs are used {step.gpu_pct:.0f}% and replies come unslowed",
            f"{workers} 个 run worker 全忙，但 GPU 只用了 {step.gpu_pct:.0f}%，回复也没有变慢",
        )
        return Reason("few_workers", clause, tuple(setting(case, "run")), 0.8)

    def _stall(self, step: StepFacts) -> Reason | None:
        """The server says nothing for long while agents wait for replies."""
        stalls = [s for s in step.servers if s.silence_from_s is not None and s.longest_silence_s >= _LEAST_STALL_S]
        stalls = [s for s in stalls if s.longest_silence_s >= _STALL_SHARE * step.observed_s]
        for server in stalls:
            waiting = _open_calls(step, server)
            if waiting >= 3:
                clause = Text(
                    f"the LLM server is silent for {secs(server.longest_silence_s)} s while {waiting} calls are open",
                    f"LLM 服务静默了 {secs(server.longest_silence_s)} 秒，期间有 {waiting} 个调用在等",
                )
                return Reason("llm_stall", clause, tuple(servers(step)), 0.85)
        return None


def _open_calls(step: StepFacts, server: Server) -> int:
    """Turns without a reply in the middle of a server's longest silence."""
    moment = (server.silence_from_s or 0.0) + server.longest_silence_s / 2
    total = 0
    for pipeline in step.pipelines:
        started = pipeline.record.moments(Kind.TURN_STARTED).changes(1)
        replied = pipeline.record.moments(Kind.REPLY_PARSED).changes(-1)
        total += max(0, series.at(series.depth_curve([*started, *replied]), moment))
    return total
