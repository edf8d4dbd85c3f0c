"""Where the time inside the stages went: turns, sandboxes, evaluation parts, threads, the event loop.

Pure functions over a `Record`. Lines without a trajectory id are used through sums of moments, which do not depend
on pairing; a part whose lines are missing or do not balance is None.
"""

from dataclasses import dataclass

from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.record import Record

_BALANCE = 0.02  # series of two line kinds must agree in number this well for their means to be compared
_TURN_BALANCE = 0.05
_MOST_COMMON_POLL = 30.0
_POLL_DRIFT = 0.01  # each poll comes a little later than the period says


@dataclass(frozen=True, slots=True)
class Turns:
    """LLM and environment time of a turn, seconds; `llm_in_flight`: mean requests waiting for a reply (client side)."""

    count: int
    llm_s: float | None
    rest_s: float | None
    llm_in_flight: float | None
    gaps_p05_s: float | None
    gaps_p50_s: float | None
    lulls: float | None  # replies in quarters of a turn, see series.lulls: near 0 when agents are independent
    per_trajectory_p50: float
    per_trajectory_max: int
    capped: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class Sandboxes:
    """Sandbox starts of init and eval together (they share one code path). Seconds."""

    requested: int
    thread_wait_s: float | None
    start_s: float | None
    boot_p10_s: float | None
    boot_p50_s: float | None
    boot_p90_s: float | None
    boot_mean_s: float | None
    errors: int
    retries: int
    builds: int
    first_use_p50_s: float | None  # start to ready of an image's first use in this step
    later_use_p50_s: float | None


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Parts of an evaluation, seconds: sandbox and patch, tests (as polled), what follows them."""

    prepare_s: float | None
    tests_mean_s: float | None
    tests_p50_s: float | None
    after_s: float | None
    tests_count: int
    first_poll_share: float | None  # share of tests seen finished at the first poll
    poll_s: float | None
    timeouts: int
    no_patch: int
    patch_failed: int
    sandbox_errors: int


@dataclass(frozen=True, slots=True)
class Loop:
    """Stopping a sandbox blocks the event loop. `stop_s`: mean seconds per stop, waiting for the loop included."""

    stop_s: float | None
    eval_stop_s: float | None


@dataclass(frozen=True, slots=True)
class Profile:
    """All parts of one pipeline in one step."""

    turns: Turns
    sandboxes: Sandboxes
    evaluations: Evaluations
    loop: Loop


def profile_of(record: Record, makespan_s: float | None) -> Profile:
    """The parts of one record; `makespan_s` scales sums to means over time."""
    return Profile(_turns(record, makespan_s), _sandboxes(record), _evaluations(record), _loop(record))


def mean_difference(record: Record, before: Kind, after: Kind) -> float | None:
    """Mean seconds from lines of one kind to lines of another that follow one for one."""
    a, b = record.moments(before), record.moments(after)
    n, m = a.total, b.total
    if not n or not m or abs(n - m) > max(1, _BALANCE * max(n, m)):
        return None
    if n == m:
        return (b.sum_s - a.sum_s) / n
    return series.open_seconds(a.changes(1), b.changes(-1), record.ended is not None) / min(n, m)


def _turns(record: Record, makespan_s: float | None) -> Turns:
    started, replied = record.moments(Kind.TURN_STARTED), record.moments(Kind.REPLY_PARSED)
    llm_s = None
    if started.total and abs(started.total - replied.total) <= max(2, _TURN_BALANCE * started.total):
        total = series.open_seconds(started.changes(1), replied.changes(-1), record.ended is not None)
        llm_s = total / started.total
    count = started.total
    seen = [t for t in record.trajectories.values() if t.run.taken_at and t.run.served_s is not None and t.turns]
    turn_s = sum(t.run.service_s or 0.0 for t in seen) / sum(t.turns for t in seen) if seen else None
    rest = max(0.0, turn_s - llm_s) if turn_s is not None and llm_s is not None else None
    gaps = sorted(record.turn_gaps)
    lengths = sorted(float(t.turns) for t in record.trajectories.values() if t.run.served_s is not None and t.turns)
    cap = record.max_iterations
    return Turns(
        count=count,
        llm_s=llm_s,
        rest_s=rest,
        llm_in_flight=llm_s * count / makespan_s if llm_s is not None and makespan_s else None,
        gaps_p05_s=series.quantile(gaps, 0.05) if gaps else None,
        gaps_p50_s=series.quantile(gaps, 0.5) if gaps else None,
        lulls=series.lulls(replied.times, max(1.0, series.quantile(gaps, 0.5) / 4)) if gaps else None,
        per_trajectory_p50=series.quantile(lengths, 0.5) if lengths else 0.0,
        per_trajectory_max=int(max(lengths, default=0)),
        capped=sum(1 for n in lengths if cap and n >= cap) or record.moments(Kind.MAX_ITERATIONS).total,
        cap=cap,
    )


def _sandboxes(record: Record) -> Sandboxes:
    sessions = list(record.sessions.values())
    boots = sorted(s.ready_s - s.started_s for s in sessions if s.ready_s is not None and s.started_s is not None)
    starts = [s.started_s - s.connecting_s for s in sessions if s.started_s is not None]
    first: list[float] = []
    later: list[float] = []
    seen: set[str] = set()
    for session in sessions:
        if session.ready_s is not None:
            (later if session.image in seen else first).append(session.ready_s - session.connecting_s)
        seen.add(session.image)
    wait = mean_difference(record, Kind.SANDBOX_REQUESTED, Kind.SANDBOX_CONNECTING)
    return Sandboxes(
        requested=record.moments(Kind.SANDBOX_REQUESTED).total,
        thread_wait_s=None if wait is None else max(0.0, wait),
        start_s=series.mean(starts),
        boot_p10_s=series.quantile(boots, 0.1) if boots else None,
        boot_p50_s=series.quantile(boots, 0.5) if boots else None,
        boot_p90_s=series.quantile(boots, 0.9) if boots else None,
        boot_mean_s=series.mean(boots),
        errors=record.moments(Kind.SANDBOX_ERROR).total,
        retries=record.moments(Kind.SANDBOX_RETRY).total,
        builds=record.moments(Kind.SANDBOX_BUILD).total,
        first_use_p50_s=series.quantile(sorted(first), 0.5) if first else None,
        later_use_p50_s=series.quantile(sorted(later), 0.5) if later else None,
    )


def _evaluations(record: Record) -> Evaluations:
    trajectories = list(record.trajectories.values())
    tests = sorted(t.tests_s for t in trajectories if t.tests_s is not None)
    prepare = [
        t.tests_started_s - t.eval.taken_s
        for t in trajectories
        if t.tests_started_s is not None and t.eval.taken_s is not None
    ]
    after = [
        t.eval.served_s - t.tests_done_s
        for t in trajectories
        if t.tests_done_s is not None and t.eval.served_s is not None
    ]
    poll = _poll_of(tests)
    return Evaluations(
        prepare_s=series.mean(prepare),
        tests_mean_s=series.mean(tests),
        tests_p50_s=series.quantile(tests, 0.5) if tests else None,
        after_s=series.mean(after),
        tests_count=len(tests),
        first_poll_share=sum(1 for x in tests if x <= poll * 1.2) / len(tests) if tests and poll else None,
        poll_s=poll,
        timeouts=record.eval_errors["timeout"],
        no_patch=record.eval_errors["no_patch"],
        patch_failed=record.eval_errors["patch_failed"],
        sandbox_errors=record.eval_errors["sandbox"],
    )


def _poll_of(tests: list[float]) -> float | None:
    """The poll period when the printed test times cluster on its multiples; None when they do not."""
    near = [abs(x - round(x / _MOST_COMMON_POLL) * _MOST_COMMON_POLL) < 1.0 + _POLL_DRIFT * x for x in tests if x < 600]
    return _MOST_COMMON_POLL if len(near) >= 5 and sum(near) >= 0.8 * len(near) else None


def _loop(record: Record) -> Loop:
    done = record.moments(Kind.COMPLETION_DONE)
    served = [t.run.served_s for t in record.trajectories.values() if t.run.served_s is not None]
    stop = None
    if served and done.mean_s is not None and len(served) == done.total:  # one more or less would shift the mean
        stop = max(0.0, sum(served) / len(served) - done.mean_s)
    after = [
        t.eval.served_s - t.tests_done_s
        for t in record.trajectories.values()
        if t.eval.served_s is not None and t.tests_done_s is not None
    ]
    return Loop(stop_s=stop, eval_stop_s=series.mean(after))
