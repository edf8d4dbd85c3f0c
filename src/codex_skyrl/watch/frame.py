"""One moment of a running job: where its step is, what the queues hold, who is busy, the verdict so far, and alarms.

Pure: from a diagnosis and its facts, and from what is remembered of the frames before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.report.model import STAGES, Bottleneck, Cause, Diagnosis, Stage
from codex_skyrl.text import Lang, Text

_RATE_WINDOW_S = 300.0
_RISE = 0.2  # of the share of starts that pull their image, from one step to the next
_FULL = 0.95  # of the KV cache
_SILENT_TIMES = 3.0  # the longest quiet so far


@dataclass(frozen=True, slots=True)
class StageNow:
    """`depth` of its queue, workers `busy` of `workers`, `rate` of completions a minute over the last five minutes."""

    depth: int | None
    busy: int | None
    workers: int | None
    done: int
    rate: float | None


@dataclass(frozen=True, slots=True)
class Alarm:
    """`kind`: hang, silence, cache_miss or kv_cache."""

    kind: str
    says: Text


@dataclass(frozen=True, slots=True)
class Frame:
    """`elapsed_s` of the step; `eta_s` until its end, None when nothing tells; `since_step`: the verdict is the same since."""

    step: int | None
    elapsed_s: float | None
    eta_s: float | None
    trajectories: int
    ended: int
    stages: dict[Stage, StageNow]
    bottleneck: Bottleneck
    cause: Cause
    confidence: float
    since_step: int | None
    lines: int
    alarms: tuple[Alarm, ...] = ()

    def as_json(self, at: str) -> dict[str, Any]:
        """One record of `--format jsonl`; `at`: UTC, ISO 8601."""
        stages = {
            s: {"depth": n.depth, "busy": n.busy, "workers": n.workers, "done": n.done, "per_min": n.rate}
            for s, n in self.stages.items()
        }
        return {
            "schema_version": 1, "at": at, "step": self.step, "elapsed_s": self.elapsed_s, "eta_s": self.eta_s,
            "trajectories": self.trajectories, "ended": self.ended, "stages": stages, "bottleneck": self.bottleneck,
            "cause": self.cause, "confidence": self.confidence, "since_step": self.since_step, "lines": self.lines,
            "alarms": [{"kind": a.kind, "says": a.says.en} for a in self.alarms],
        }  # fmt: skip


@dataclass(slots=True)
class Quiet:
    """How long nothing came, in seconds of the watcher's own clock; `least_s`: silence below that is never an alarm."""

    least_s: float = 120.0
    longest_s: float = 0.0
    now_s: float = 0.0

    def heard(self, pause_s: float) -> None:
        """Something came after this pause."""
        self.longest_s = max(self.longest_s, pause_s)
        self.now_s = 0.0

    @property
    def alarming(self) -> bool:
        return self.now_s >= max(self.least_s, _SILENT_TIMES * self.longest_s)


def frame_of(diagnosis: Diagnosis, case: Case, quiet: Quiet) -> Frame:
    """The current frame. The last step of the input is the one that runs."""
    step = case.steps[-1] if case.steps else None
    verdict = diagnosis.verdict
    done = sum(1 for p in step.pipelines for t in p.trajectories() if t.finished) if step else 0
    return Frame(
        step=step.number if step else None,
        elapsed_s=round(step.observed_s, 1) if step else None,
        eta_s=_eta(step, case, done) if step else None,
        trajectories=step.size if step else 0,
        ended=done,
        stages={s: _stage(step, s) for s in STAGES} if step else {},
        bottleneck=verdict.bottleneck,
        cause=verdict.cause,
        confidence=verdict.confidence,
        since_step=_since(diagnosis),
        lines=sum(i.lines for i in diagnosis.inputs),
        alarms=tuple(_alarms(diagnosis, case, quiet)),
    )


def _stage(step: StepFacts, stage: Stage) -> StageNow:
    ends = [v.served_s for p in step.pipelines for t in p.trajectories() if (v := t.visit(stage)).served_s is not None]
    recent = [e for e in ends if e >= step.end_s - _RATE_WINDOW_S]
    window = min(_RATE_WINDOW_S, step.observed_s)
    depths = [p.curves[stage][-1][1] for p in step.pipelines if p.curves[stage]]
    return StageNow(
        depth=sum(depths) if depths else None,
        busy=sum(_busy(p, stage) for p in step.pipelines),
        workers=step.stages[stage].workers,
        done=len(ends),
        rate=round(len(recent) / window * 60, 1) if window > 0 else None,
    )


def _busy(p: Pipeline, stage: Stage) -> int:
    visits = [t.visit(stage) for t in p.trajectories()]
    return sum(1 for v in visits if v.taken_s is not None and v.served_s is None and not v.failed)


def _eta(step: StepFacts, case: Case, done: int) -> float | None:
    """From the rate at which trajectories of this step end; before the first ends, from the step before."""
    if step.makespan_s is not None:
        return 0.0
    left = step.size - done
    ends = sorted(v.served_s for p in step.pipelines for t in p.trajectories() if (v := t.eval).served_s is not None)
    if len(ends) >= 2 and ends[-1] > ends[0]:
        return round(left * (ends[-1] - ends[0]) / (len(ends) - 1), 1)
    before = [s.makespan_s for s in case.steps[:-1] if s.makespan_s is not None]
    return round(max(0.0, before[-1] - step.observed_s), 1) if before else None


def _since(diagnosis: Diagnosis) -> int | None:
    """The first of the steps at the end that all have the verdict's bottleneck."""
    since = None
    for step in reversed(diagnosis.steps):
        if step.bottleneck != diagnosis.verdict.bottleneck:
            break
        since = step.step
    return since


def _alarms(diagnosis: Diagnosis, case: Case, quiet: Quiet) -> Iterator[Alarm]:
    if diagnosis.verdict.cause == "hang":
        yield Alarm("hang", Text(diagnosis.verdict.summary, diagnosis.verdict.summary))
    running = bool(case.steps) and case.steps[-1].makespan_s is None
    if quiet.alarming and running:
        yield Alarm(
            "silence",
            Text(
                f"nothing was written for {quiet.now_s:.0f} s; the longest pause before was {quiet.longest_s:.0f} s",
                f"已有 {quiet.now_s:.0f} 秒没有任何输出；此前最长的间隔为 {quiet.longest_s:.0f} 秒",
            ),
        )
    yield from _of_steps(case)


def _of_steps(case: Case) -> Iterator[Alarm]:
    shares = [s.pulls.miss_share for s in case.steps if s.pulls.miss_share is not None]
    if len(shares) > 1 and shares[-1] - shares[-2] >= _RISE:
        old, new = round(100 * shares[-2]), round(100 * shares[-1])
        yield Alarm(
            "cache_miss",
            Text(
                f"starts that pull their image rose from {old} % to {new} %", f"需要拉镜像的启动由 {old} % 升到 {new} %"
            ),
        )
    for server in case.steps[-1].servers if case.steps else ():
        if server.retractions or (server.usage_max is not None and server.usage_max >= _FULL):
            most = "" if server.usage_max is None else f"{round(100 * server.usage_max)} %"
            yield Alarm(
                "kv_cache",
                Text(
                    f"the KV cache of the LLM server is full ({most}, {server.retractions} requests taken back)",
                    f"LLM 服务的 KV cache 已满（{most}，撤回 {server.retractions} 个请求）",
                ),
            )


def title_of(frame: Frame, lang: Lang) -> Text:
    """Step, progress and time in one line."""
    if frame.step is None:
        return Text("no step yet", "尚无 step")
    eta = "–" if frame.eta_s is None else f"{frame.eta_s:,.0f} s"
    return Text(
        f"step {frame.step}: {frame.ended} of {frame.trajectories} trajectories ended, {frame.elapsed_s or 0:,.0f} s so far, about {eta} to go",
        f"step {frame.step}：{frame.trajectories} 条轨迹已结束 {frame.ended} 条，已用 {frame.elapsed_s or 0:,.0f} 秒，约剩 {eta}",
    )
