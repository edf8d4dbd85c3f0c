"""A run as Chrome trace events, for Perfetto: a process for each rank, a lane for each worker, counters beside them.

Format: "Trace Event Format" (Google, 2016): complete events `X` with `ts` and `dur` in microseconds, counters `C`, metadata
`M`. Worker lanes are laid out here, as logs do not name workers: a lane is free again when its worker is. Waiting
trajectories stand in a process of their own, so that they do not look like work.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import Any

from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.report.model import STAGES, Stage

Event = dict[str, Any]
_Stay = tuple[float, float, float, Trajectory]  # begin, end of work, let go
_US = 1_000_000
_LANES: dict[Stage, int] = {
    "init": 1_000,
    "run": 2_000,
    "eval": 3_000,
}  # first lane of a stage; a rank has fewer than 1,000
_OUTSIDE = 1  # the process of servers and GPUs
_FIRST_RANK = 10


def trace_of(case: Case) -> dict[str, Any]:
    """The whole trace; `ts` 0 is the first moment of the first step."""
    zero = min((s.begin_s for s in case.steps), default=0.0)
    events = [e for event in _events(case) if (e := _from(event, zero)) is not None]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _from(event: Event, zero: float) -> Event | None:
    """With times from `zero` on, in whole microseconds; None for what lies before."""
    if "at_s" not in event:
        return event
    at = round((event.pop("at_s") - zero) * _US)
    if "dur_s" in event:
        event["dur"] = max(0, round(event.pop("dur_s") * _US))
    return {**event, "ts": at} if at >= 0 else None


def _events(case: Case) -> Iterator[Event]:
    ranks = {name: n for n, name in enumerate(dict.fromkeys(p.shown.id for s in case.steps for p in s.pipelines))}
    for name, n in ranks.items():
        short = name.rpartition("/")[2]  # where no process is named, the id is a path
        yield _named("process_name", _pid(n), 0, f"{short}: workers")
        yield _named("process_name", _pid(n) + 1, 0, f"{short}: waiting")
    named: set[tuple[int, int]] = set()
    for step in case.steps:
        for p in step.pipelines:
            pid = _pid(ranks[p.shown.id])
            yield from _work(p, pid, step.number, named)
            yield from _waits(p, pid + 1, step.number, named)
            yield from _depths(p, pid)
    yield from _outside(case)


def _pid(rank: int) -> int:
    return _FIRST_RANK + 2 * rank


def _work(p: Pipeline, pid: int, step: int, named: set[tuple[int, int]]) -> Iterator[Event]:
    """What workers did and, after it, how long a full queue held them."""
    for stage in STAGES:
        for lane, (taken, served, released, t) in _laned(_services(p, stage)):
            tid = _LANES[stage] + lane
            yield from _lane_name(pid, tid, f"{stage} {lane + 1}", named)
            visit = t.visit(stage)
            more = {"step": step, "wait_s": _rounded(visit.wait_s), "failed": visit.failed}
            yield _span(f"{t.instance}, {t.number}", f"{stage} service", pid, tid, taken, served - taken, more)
            if released > served and stage != "eval":  # nothing comes after evaluation
                yield _span(
                    "held by a full queue", f"{stage} blocked", pid, tid, served, released - served, {"step": step}
                )


def _services(p: Pipeline, stage: Stage) -> list[_Stay]:
    visits = [(t.visit(stage), t) for t in p.trajectories()]
    return [
        (v.taken_s, v.taken_s + v.service_s, v.taken_s + v.service_s + v.blocked_s, t)
        for v, t in visits
        if v.taken_s is not None and v.service_s is not None
    ]


def _waits(p: Pipeline, pid: int, step: int, named: set[tuple[int, int]]) -> Iterator[Event]:
    for stage in STAGES:
        visits = [(t.visit(stage), t) for t in p.trajectories()]
        stays = [
            (v.ready_s, v.ready_s + v.wait_s, v.ready_s + v.wait_s, t)
            for v, t in visits
            if v.wait_s and v.ready_s is not None
        ]
        for lane, (ready, taken, _, t) in _laned(stays):
            tid = _LANES[stage] + lane
            yield from _lane_name(pid, tid, f"{stage}_queue {lane + 1}", named)
            yield _span(f"{t.instance}, {t.number}", f"{stage} wait", pid, tid, ready, taken - ready, {"step": step})


def _laned(stays: Sequence[_Stay]) -> Iterator[tuple[int, _Stay]]:
    """Each stay with a lane: one that was let go, else the one that is held and let go next, else a new one.

    When a worker was let go is known between two lines only; so what holds it may end early here, when its lane is needed.
    """
    lanes: list[list[_Stay]] = []
    for stay in sorted(stays, key=lambda s: s[:3]):
        begin = stay[0]
        free = [n for n, lane in enumerate(lanes) if lane[-1][2] <= begin]
        held = [n for n, lane in enumerate(lanes) if lane[-1][1] <= begin]
        if free:
            lanes[free[0]].append(stay)
        elif held:
            lane = lanes[min(held, key=lambda n: lanes[n][-1][2])]
            taken, served, _, t = lane[-1]
            lane[-1] = (taken, served, begin, t)
            lane.append(stay)
        else:
            lanes.append([stay])
    yield from ((n, stay) for n, lane in enumerate(lanes) for stay in lane)


def _depths(p: Pipeline, pid: int) -> Iterator[Event]:
    for stage in STAGES:
        for at, depth in p.curves[stage]:
            yield _counter(f"{stage}_queue depth", pid, at, {"depth": depth})


def _outside(case: Case) -> Iterator[Event]:
    yield _named("process_name", _OUTSIDE, 0, "LLM servers and GPUs")
    for log in case.run.llm:
        for at, running, queued in zip(log.times, log.running, log.queued, strict=True):
            known = {name: v for name, v in (("running", running), ("queued", queued)) if not isnan(v)}
            if known:
                yield _counter(f"LLM requests {log.replica}".strip(), _OUTSIDE, at, known)
    for gpu in case.run.gpu:
        for at, percent in zip(gpu.times, gpu.percent, strict=True):
            yield _counter(f"GPU {gpu.index} %", _OUTSIDE, at, {"percent": percent})


def _span(name: str, category: str, pid: int, tid: int, at_s: float, dur_s: float, more: Event) -> Event:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "at_s": at_s,
        "dur_s": dur_s,
        "args": more,
    }


def _counter(name: str, pid: int, at_s: float, values: Event) -> Event:
    return {"name": name, "ph": "C", "pid": pid, "at_s": at_s, "args": values}


def _named(kind: str, pid: int, tid: int, name: str) -> Event:
    return {"name": kind, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def _lane_name(pid: int, tid: int, name: str, named: set[tuple[int, int]]) -> Iterable[Event]:
    if (pid, tid) in named:
        return ()
    named.add((pid, tid))
    return (_named("thread_name", pid, tid, name),)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
