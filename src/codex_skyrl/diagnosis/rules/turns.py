"""Turns that wait although nothing is busy: a barrier between agents, or replies noticed late."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import gpu, pct, secs, servers, turns
from codex_skyrl.logs.event import Kind
from codex_skyrl.text import Text

_LULLS = 0.3
_LULLS_ALONE = 0.45  # with no server or GPU log beside it
_SERVER_IDLE = 0.6
_GPU_IDLE_PCT = 30.0
_BUSY = 0.6
QUANTUM_S = 4.0  # the LLM engine's waiter looks again every 4 s
_NEAR = 0.35


class TurnBarrier:
    """Replies come together and then none for long, with the server idle in between: every turn waits for all."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        parts = step.parts.turns
        if parts.lulls is None or parts.lulls < _LULLS or step.busy("run") < _BUSY:
            return None
        idle = min((s.active_share for s in step.servers), default=1.0) < _SERVER_IDLE
        idle = idle or (step.gpu_pct is not None and step.gpu_pct < _GPU_IDLE_PCT)
        known = bool(step.servers) or step.gpu_pct is not None
        if not idle and (known or parts.lulls < _LULLS_ALONE or (parts.llm_s or 0.0) < (parts.rest_s or 0.0)):
            return None
        open_calls = parts.llm_in_flight
        in_flight = "" if open_calls is None else f"{open_calls:.1f}"
        server = "?" if step.running is None else f"{step.running:.1f}"
        summary = Text(
            f"Step {step.number}: the agents' turns start together, so generation and environment never overlap: on average "
            f"{in_flight or '?'} agents wait for a reply while {server} requests run on the server.",
            f"step {step.number}：各 agent 的每一轮都同时开始，生成与环境执行无法重叠：平均 {in_flight or '?'} 个 agent 在等回复，"
            f"而服务端只有 {server} 个请求在运行。",
        )
        first = next((p.record.moments(Kind.REPLY_PARSED).first for p in step.pipelines), None)
        says = Text(
            f"replies come in bursts: {pct(parts.lulls)} more quarter-turns without any reply than independent agents "
            "would leave (first reply here)",
            f"回复成批到达：没有任何回复的四分之一轮时段比独立 agent 应有的多 {pct(parts.lulls)}（第一个回复在此）",
        )
        cites = (in_log(says, first), *turns(step), *servers(step), *gpu(step, case))
        return Finding("sync", "barrier", 0.9 if known else 0.6, summary, cites)


class LateReplies:
    """Replies are noticed at multiples of 4 s although the server is done earlier and has no queue."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        parts = step.parts.turns
        if parts.llm_s is None or parts.gaps_p05_s is None or parts.count < 50 or step.busy("run") < _BUSY:
            return None
        quanta = round(parts.llm_s / QUANTUM_S)
        on_grid = quanta in (1, 2) and abs(parts.llm_s - quanta * QUANTUM_S) <= _NEAR
        if not on_grid or parts.gaps_p05_s < QUANTUM_S - 0.5:
            return None
        if step.running is not None and parts.llm_in_flight is not None:
            if parts.llm_in_flight < 2 * max(step.running, 0.1):
                return None
        elif step.gpu_pct is not None and step.gpu_pct > 70:
            return None
        summary = Text(
            f"Step {step.number}: a reply is noticed {secs(parts.llm_s)} s after the call, almost never sooner than "
            f"{QUANTUM_S:.0f} s, while the server runs few requests and has no queue: the waiter only looks every 4 s.",
            f"step {step.number}：每次调用平均 {secs(parts.llm_s)} 秒后才发现回复，几乎从不早于 {QUANTUM_S:.0f} 秒，"
            "而服务端请求很少且没有排队：等待方每 4 秒才检查一次。",
        )
        quick = Cite(
            Text(
                f"95% of turns last longer than {secs(parts.gaps_p05_s)} s (turn start to turn start)",
                f"95% 的轮次长于 {secs(parts.gaps_p05_s)} 秒（从一轮开始到下一轮开始）",
            )
        )
        sure = 0.85 if step.running is not None else 0.65
        return Finding("sync", "llm_wakeup", sure, summary, (*turns(step), quick, *servers(step), *gpu(step, case)))
