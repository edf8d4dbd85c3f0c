"""What a replay needs of one rank's step: each trajectory's own work, free of waiting, and the structure it ran in.

Waiting for a pool thread is part of the printed times; its mean is taken out here and comes back in the replay. All
durations are seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.pipeline.profile import Profile
from codex_skyrl.pipeline.server import Server
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.report.model import Stage

POOL_THREADS = 32
_INIT_POOL_CALLS = 3  # connect, set up the environment, initialise: each waits for a thread
_BEFORE_A_QUEUE: tuple[Stage, ...] = ("init", "run")
_HELD_S = 2.0
_OVERTAKERS = 5
_EVAL_POOL_CALLS = 3  # the same for the second sandbox, before the tests


@dataclass(frozen=True, slots=True)
class Job:
    """One trajectory. `..._loses_turn`: others that came later got into the full next queue before it."""

    init_s: float
    init_failed: bool
    model_s: float
    environment_s: float
    turns: int
    prepare_s: float
    tests_s: float
    after_s: float
    init_loses_turn: bool = False
    run_loses_turn: bool = False

    @property
    def run_s(self) -> float:
        return self.model_s + self.environment_s


@dataclass(frozen=True, slots=True)
class Structure:
    """Workers, the bound of run_queue and eval_queue, threads of the default pool; `poll_s` of the evaluator."""

    init: int
    run: int
    eval: int
    bound: float
    threads: int = POOL_THREADS
    poll_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Model:
    """How LLM calls behave: mean seconds of a call, mean calls open, requests the server really ran, its slow-down.

    `saturated`: the server's throughput is at its limit, so call times grow with the number of calls. `barrier`: calls
    seem long because every turn waits for all agents.
    """

    call_s: float
    open_calls: float
    served: float | None
    slowdown: float
    saturated: bool
    barrier: bool = False

    @property
    def served_share(self) -> float:
        """Part of a call in which the server works on it; 1 when that is not known."""
        if self.served is None or self.open_calls <= 0:
            return 1.0
        return min(1.0, self.served / self.open_calls)


@dataclass(frozen=True, slots=True)
class Play:
    """One rank's step, ready to be replayed."""

    jobs: tuple[Job, ...]
    structure: Structure
    model: Model | None
    observed_s: float
    stop_s: float
    pulls: bool = False  # some sandboxes boot many times slower than others: images are pulled


def play_of(
    pipeline: Pipeline, parts: Profile, servers: tuple[Server, ...], wait_s: float | None = None, *, bounded: bool = True
) -> Play | None:  # fmt: skip
    """None when the step is not whole or its workers are not known. `wait_s`: for a pool thread, a call; default: as printed."""
    workers = pipeline.workers
    if pipeline.makespan_s is None or not workers.init or not workers.run or not workers.eval or pipeline.record.folded:
        return None
    taken = [t for t in pipeline.trajectories() if t.init.taken_s is not None]
    ordered = sorted(taken, key=lambda t: (t.init.taken_s or 0.0, t.init.taken_at or ("", 0)))
    wait = parts.sandboxes.thread_wait_s or 0.0 if wait_s is None else wait_s
    late = {stage: _lose_turns(ordered, stage) for stage in _BEFORE_A_QUEUE}
    jobs = tuple(job for t in ordered if (job := _job(t, parts, wait, late)) is not None)
    structure = Structure(workers.init, workers.run, workers.eval, workers.run if bounded else inf)
    return Play(jobs, structure, _model(parts, servers), pipeline.makespan_s, parts.loop.stop_s or 0.0, _pulls(parts))


def _pulls(parts: Profile) -> bool:
    quick, slow = parts.sandboxes.boot_p10_s, parts.sandboxes.boot_p90_s
    return quick is not None and slow is not None and slow >= max(45.0, 5 * max(1.0, quick))


def _lose_turns(ordered: Sequence[Trajectory], stage: Stage) -> set[int]:
    """Trajectories (by id()) that waited before a full queue while many that came later got in.

    asyncio.Queue wakes the first putter when a place is free, but whoever calls put before that one runs takes the
    place, and the one that was woken waits again at the end of the line.
    """
    held = [
        (v.served_s, v.served_s + v.blocked_s, id(t))
        for t in ordered
        if (v := t.visit(stage)).served_s and v.blocked_s > _HELD_S
    ]
    held.sort()
    found = set()
    for n, (ready, got_in, name) in enumerate(held):
        overtakers = sum(
            1 for later, sooner, _ in held[n + 1 :] if later > ready + _HELD_S and sooner < got_in - _HELD_S
        )
        if overtakers >= _OVERTAKERS:
            found.add(name)
    return found


def _job(t: Trajectory, parts: Profile, wait: float, late: Mapping[Stage, set[int]]) -> Job | None:
    init = t.init.service_s
    if init is None:
        return None
    init = max(0.5, init - _INIT_POOL_CALLS * wait)
    if t.init.failed or t.run.service_s is None:
        return Job(init, True, 0.0, 0.0, 0, 0.0, 0.0, 0.0)
    run = max(0.5, t.run.service_s - wait)
    share = _model_share(parts)
    whole = t.eval.service_s or 0.0
    asked = _EVAL_POOL_CALLS * wait
    prepared = t.tests_started_s - t.eval.taken_s if t.tests_started_s and t.eval.taken_s else whole
    prepare = max(0.0, prepared - asked)
    tests = t.tests_s or 0.0
    after = max(0.0, whole - asked - prepare - tests)
    loses = [id(t) in late[stage] for stage in _BEFORE_A_QUEUE]
    return Job(init, False, run * share, run * (1 - share), t.turns, prepare, tests, after, *loses)


def _model_share(parts: Profile) -> float:
    llm, rest = parts.turns.llm_s, parts.turns.rest_s
    return llm / (llm + rest) if llm is not None and rest is not None and llm + rest > 0 else 0.5


def _model(parts: Profile, servers: tuple[Server, ...]) -> Model | None:
    call, calls = parts.turns.llm_s, parts.turns.llm_in_flight
    if call is None or calls is None:
        return None
    slow = series.mean([s for server in servers if (s := server.slowdown) is not None])
    each = series.mean([s for server in servers if (s := server.shared_tok_s) is not None])
    crawling = each is not None and each < 15.0
    served = sum(s.running for s in servers) if servers else None
    slowdown = max(1.0, slow or 1.0, calls * 0.9 if crawling else 1.0)
    barrier = (parts.turns.lulls or 0.0) >= 0.3 and served is not None and served < 0.5 * calls
    return Model(call, calls, served, slowdown, slowdown > 1.3 and not barrier, barrier)
