"""Steps that stopped: all work is done or failed, nothing closes the step, and time goes by."""

from itertools import pairwise

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import pct, secs
from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline.figures import Pipeline, failures_of
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.text import Text

_LEAST_SILENCE_S = 240.0
_DEAD_SHARE = 0.2


def _last_work(trajectories: list[Trajectory]) -> float | None:
    """When the last stage of any trajectory ended."""
    visits = (v for t in trajectories for v in (t.init, t.run, t.eval))
    return max((v.served_s for v in visits if v.served_s is not None), default=None)


def _failures(step: StepFacts) -> list[Cite]:
    """The failed starts that leave consumers waiting for items which never come."""
    cites = []
    for pipeline in step.pipelines:
        moments = pipeline.record.moments(Kind.INIT_FAILED)
        if moments.last is not None:
            n = moments.total
            says = Text(
                f"{n} failed start{'s' if n != 1 else ''}; each lowers the count of items but leaves a run and an eval "
                f"task waiting on an empty queue (the last one is here)",
                f"{n} 次启动失败；每次失败都会让一个 run 任务和一个 eval 任务永远等在空队列上（最后一次在这里）",
            )
            cites.append(in_log(says, moments.last))
    return cites


def _short_of_work(pipeline: Pipeline) -> int:
    """Workers that can never get an item because the batch is smaller than their number."""
    workers = max(pipeline.workers.run or 0, pipeline.workers.eval or 0)
    return max(0, workers - pipeline.size)


class Hang:
    """Every trajectory is evaluated or failed, yet nothing closes the step.

    Looks at counts, and at the time of the last line of any other source: the step hangs when the others go on. Where
    nothing else is there to tell, only a batch smaller than the workers is proof enough (v0 then waits for ever).
    """

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        stuck = [p for p in step.pipelines if p.finished and not p.end_stated]
        if not stuck or case.last_s is None:
            return None
        last = max((t for p in stuck if (t := _last_work(p.trajectories())) is not None), default=None)
        if last is None or any(later.begin_s > last for later in case.steps if later is not step):
            return None
        silent = case.last_s - last >= _LEAST_SILENCE_S
        if not silent and not any(_short_of_work(p) for p in stuck):
            return None
        return self._finding(step, stuck, case.last_s - last, 0.93 if silent else 0.7)

    def _finding(self, step: StepFacts, stuck: list[Pipeline], silence: float, sure: float) -> Finding:
        failed = sum(failures_of(p.record, "init") for p in stuck)
        size = sum(p.size for p in stuck)
        spare = max(_short_of_work(p) for p in stuck)
        why = (
            Text(
                f"{failed} failed start{'s' if failed != 1 else ''} left tasks waiting on empty queues",
                f"{failed} 次启动失败使任务永远等在空队列上",
            )
            if failed
            else Text(
                f"the batch leaves {spare} workers without an item" if spare else "tasks still wait for items",
                f"batch 太小，{spare} 个 worker 永远拿不到任务" if spare else "仍有任务在等待新条目",
            )
        )
        summary = Text(
            f"Step {step.number} hangs: all {size} trajectories are evaluated or failed, yet the call does not return; "
            f"nothing more for {secs(silence)} s while other logs go on; {why.en}.",
            f"step {step.number} 卡死：全部 {size} 条轨迹都已评测完或失败，但调用没有返回；"
            f"{secs(silence)} 秒内再无输出，而其他日志仍在继续；{why.zh}。",
        )
        counts = Cite(
            Text(
                f"step {step.number}: {size} trajectories, all ended, no closing line; silent for {secs(silence)} s",
                f"step {step.number}：{size} 条轨迹全部结束，没有收尾行；静默 {secs(silence)} 秒",
            )
        )
        waiting = [
            in_log(Text("tasks left, idle waiters included", "剩余任务数（含空等的任务）"), p.record.remaining[0])
            for p in stuck
            if p.record.remaining
        ]
        return Finding("sync", "hang", sure, summary, (counts, *_failures(step), *waiting))


class Silence:
    """The rollout log falls silent in the middle of work, for far longer than ever before, while other sources go on."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        working = [p for p in step.pipelines if not p.finished and p.record.last_event_s is not None]
        if not working or case.last_s is None or step is not case.steps[-1]:
            return None
        since = max(p.record.last_event_s or 0.0 for p in working)
        silence, longest = case.last_s - since, max(_longest_quiet(p) for p in working)
        if silence < max(2 * _LEAST_SILENCE_S, 4 * longest):
            return None
        inside = sum(1 for p in working for t in p.trajectories() if not t.finished)
        summary = Text(
            f"Step {step.number} hangs: {inside} trajectories are under way, but the rollout log says nothing for "
            f"{secs(silence)} s while other logs go on; the longest quiet before was {secs(longest)} s.",
            f"step {step.number} 卡死：还有 {inside} 条轨迹在进行，但 rollout 日志已 {secs(silence)} 秒没有输出，而其他日志仍在继续；"
            f"此前最长的静默为 {secs(longest)} 秒。",
        )
        last = [m.last for p in working for m in p.record.series.values() if m.last is not None]
        place = max(last, key=lambda at: at[1], default=None)
        cite = in_log(Text("the last line of the rollout", "rollout 的最后一行"), place)
        return Finding("sync", "hang", 0.75, summary, (cite, *_failures(step)))


def _longest_quiet(pipeline: Pipeline) -> float:
    """Seconds between two events of a rank, at most."""
    seconds = sorted(pipeline.record.loop_seconds | pipeline.record.thread_seconds)
    return max((float(b - a) for a, b in pairwise(seconds)), default=0.0)


class DeadTail:
    """The step ended, but long after its last work."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        dead = {p.record.process: d for p in step.pipelines if (d := self._dead(p)) is not None}
        if not dead or step.observed_s <= 0:
            return None
        most = max(dead.values())
        if most < 60.0 or most < _DEAD_SHARE * step.observed_s:
            return None
        work = step.observed_s - most
        summary = Text(
            f"Step {step.number} ends with {secs(most)} s of dead time ({pct(most / step.observed_s)}): all work was over "
            f"after {secs(work)} s, then nothing happened until the call gave up or returned.",
            f"step {step.number} 末尾有 {secs(most)} 秒空转（{pct(most / step.observed_s)}）：工作在 {secs(work)} 秒时已全部完成，"
            "之后直到调用超时或返回都没有任何进展。",
        )
        ends = [
            in_log(Text("the call ends here", "调用在这里结束"), p.record.ended_at)
            for p in step.pipelines
            if p.record.process in dead
        ]
        measured = Cite(Text(f"dead time at the end of the step: {secs(most)} s", f"step 末尾空转：{secs(most)} 秒"))
        return Finding("sync", "hang", 0.9, summary, (measured, *ends, *_failures(step)))

    def _dead(self, pipeline: Pipeline) -> float | None:
        last = _last_work(pipeline.trajectories())
        if not pipeline.end_stated or pipeline.end_s is None or last is None:
            return None
        alive = [t for t in pipeline.trajectories() if not t.finished and t.run.taken_s is not None]
        return None if alive else pipeline.end_s - last
