"""Hidden sharing inside a rank: the default thread pool, the LLM executor, and the event loop."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import occupancy, pct, secs, servers
from codex_skyrl.logs.event import Kind
from codex_skyrl.text import Text

POOL = 32  # threads of Python's default executor on a machine with 28 or more CPUs, and of SkyRL-v0's LLM executor
_WAIT_SHARE = 0.08  # of a stage's service time
_LEAST_WAIT_S = 3.0
_LOOP_BLOCKED = 0.4


class ThreadCap:
    """Sandbox starts wait for a free thread: init and eval together want more threads than the pool has."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        wait = step.parts.sandboxes.thread_wait_s
        served = [s for stage in ("init", "eval") if (s := step.stages[stage].service_s) is not None]
        ranks = len(step.pipelines)
        wanted = sum(step.stages[s].workers or 0 for s in ("init", "eval")) / ranks
        if wait is None or not served or wait < _LEAST_WAIT_S or wanted <= POOL:
            return None
        share = wait / (sum(served) / len(served))
        if share < _WAIT_SHARE:
            return None
        summary = Text(
            f"Step {step.number}: init and eval share one pool of about {POOL} threads, {wanted:.0f} workers a rank want one; "
            f"a sandbox start waits {secs(wait)} s for a thread ({pct(share)} of a stage's time), so more workers do not help.",
            f"step {step.number}：init 和 eval 共用约 {POOL} 个线程的线程池，而每个 rank 有 {wanted:.0f} 个 worker 要用；"
            f"每次启动沙箱平均等线程 {secs(wait)} 秒（占阶段时间的 {pct(share)}），加 worker 没有用。",
        )
        first = next((p.record.moments(Kind.SANDBOX_REQUESTED).first for p in step.pipelines), None)
        waiting = Text(
            f"from asking for a sandbox (here) to a pool thread beginning the start: {secs(wait)} s on average",
            f"从请求沙箱（此处）到线程池真正开始启动，平均 {secs(wait)} 秒",
        )
        return Finding("sync", "thread_cap", 0.85, summary, (in_log(waiting, first), occupancy(step)))


class LlmExecutorCap:
    """More agents than the LLM executor has threads, all of them waiting, and a server that could take more."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        parts, workers = step.parts.turns, step.stages["run"].workers
        ranks = len(step.pipelines)
        if parts.llm_in_flight is None or not workers or workers / ranks <= POOL or step.running is None:
            return None
        capped = max((s.running_max for s in step.servers), default=0.0)
        waiting = parts.llm_in_flight / ranks
        if waiting < 0.9 * POOL or step.running / ranks > POOL or capped > POOL + 2 or (step.queued or 0) > 1:
            return None
        if waiting < 1.15 * step.running / ranks:
            return None
        summary = Text(
            f"Step {step.number}: {workers / ranks:.0f} agents a rank share {POOL} LLM threads; {waiting:.0f} calls are open "
            f"on average but never more than {capped:.0f} requests reach the server, which has no queue.",
            f"step {step.number}：每个 rank 的 {workers / ranks:.0f} 个 agent 共用 {POOL} 个 LLM 线程；平均有 {waiting:.0f} 个调用在等，"
            f"但到达服务的请求从未超过 {capped:.0f} 个，服务端也没有排队。",
        )
        return Finding("sync", "thread_cap", 0.8, summary, (*servers(step), occupancy(step)))


class BlockedLoop:
    """Stopping sandboxes on the event-loop thread takes so long, one after the other, that it paces the step."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        loop = step.parts.loop
        if loop.stop_s is None or step.observed_s <= 0:
            return None
        stops = step.stages["run"].completed / len(step.pipelines)
        blocked = (loop.stop_s + (loop.eval_stop_s or 0.0)) * stops / step.observed_s
        if blocked < _LOOP_BLOCKED:
            return None
        summary = Text(
            f"Step {step.number}: stopping a sandbox blocks the event loop; {secs(loop.stop_s)} s after each run and "
            f"{secs(loop.eval_stop_s)} s after each evaluation, one at a time, add up to the length of the step.",
            f"step {step.number}：停止沙箱时会阻塞事件循环；每次 run 之后 {secs(loop.stop_s)} 秒、每次评测之后 "
            f"{secs(loop.eval_stop_s)} 秒，逐个串行，累计与整个 step 一样长。",
        )
        done = next((p.record.moments(Kind.COMPLETION_DONE).first for p in step.pipelines), None)
        says = Text(
            f"the work of a run is over here; the run itself ends {secs(loop.stop_s)} s later on average",
            f"一次 run 的工作在这里结束；run 本身平均 {secs(loop.stop_s)} 秒后才结束",
        )
        total = Cite(
            Text(
                f"stops take {pct(min(1.0, blocked))} of the event loop's time",
                f"停止沙箱占用事件循环 {pct(min(1.0, blocked))} 的时间",
            )
        )
        return Finding("sync", "blocked_loop", 0.85, summary, (in_log(says, done), total, occupancy(step)))
