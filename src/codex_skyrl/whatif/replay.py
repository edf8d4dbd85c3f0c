"""Replays one rank's step as SkyRL-v0 runs it: pre-filled init_queue, bounded run and eval queues, workers held while the
next queue is full, one thread pool for sandbox starts and whole evaluations, the evaluator's poll, failed items that
skip stages. Discrete events by simpy; no randomness of its own.
"""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from codex_skyrl.report.model import Stage
from codex_skyrl.whatif.job import Job, Structure

if TYPE_CHECKING:
    from simpy import Environment, Event

_FINAL_RUN_CALL_S = 1.5  # the git diff at a run's end needs a pool thread


@dataclass(slots=True)
class Replayed:
    """Seconds of the step, worker-seconds of work in each stage, and mean seconds from ready to taken of run and eval."""

    makespan_s: float
    busy: dict[Stage, float]
    wait_s: dict[Stage, float]


class _Queue:
    """A bounded queue in order of arrival, as `asyncio.Queue` is: a putter that loses its turn goes to the end of the line."""

    def __init__(self, env: "Environment", bound: float) -> None:
        self._env, self._bound = env, bound
        self._items: deque[Job] = deque()
        self._putters: deque[tuple[Job, bool, Event]] = deque()
        self._getters: deque[Event] = deque()

    def put(self, job: Job, loses_turn: bool) -> "Event":
        done = self._env.event()
        self._putters.append((job, loses_turn, done))
        self._move()
        return done

    def get(self) -> "Event":
        wanted = self._env.event()
        self._getters.append(wanted)
        self._move()
        return wanted

    def _move(self) -> None:
        while True:
            while self._items and self._getters:
                self._getters.popleft().succeed(self._items.popleft())
            if not self._putters or len(self._items) >= self._bound:
                return
            job, loses_turn, done = self._putters.popleft()
            if loses_turn and self._putters:
                self._putters.append((job, False, done))
                continue
            self._items.append(job)
            done.succeed()


def replay(jobs: Sequence[Job], structure: Structure) -> Replayed:
    """Run the step to its end."""
    import simpy

    env = simpy.Environment()
    waiting = deque(jobs)
    run_queue, eval_queue = (_Queue(env, structure.bound) for _ in "re")
    pool = simpy.Resource(env, capacity=structure.threads)
    busy: dict[Stage, float] = {"init": 0.0, "run": 0.0, "eval": 0.0}
    waits: dict[Stage, list[float]] = {"run": [], "eval": []}
    ready: dict[int, float] = {}
    ended = [0.0]
    Process = Generator[Any, Any, None]

    def in_pool(seconds: float) -> Process:
        with pool.request() as thread:
            yield thread
            yield env.timeout(seconds)

    def initialiser() -> Process:
        while waiting:
            job = waiting.popleft()
            begun = env.now
            for part in (0.6, 0.2, 0.2):
                yield from in_pool(job.init_s * part)
            busy["init"] += env.now - begun
            ended[0] = max(ended[0], env.now)
            if not job.init_failed:
                ready[id(job)] = env.now
                yield run_queue.put(job, job.init_loses_turn)

    def runner() -> Process:
        while True:
            job: Job = yield run_queue.get()
            begun = env.now
            waits["run"].append(begun - ready[id(job)])
            last = min(_FINAL_RUN_CALL_S, job.run_s / 2)
            yield env.timeout(job.run_s - last)
            yield from in_pool(last)
            busy["run"] += env.now - begun
            ready[id(job)] = env.now
            yield eval_queue.put(job, job.run_loses_turn)

    def evaluator() -> Process:
        while True:
            job: Job = yield eval_queue.get()
            begun = env.now
            waits["eval"].append(begun - ready[id(job)])
            tested = polled(job.tests_s, structure.poll_s) + job.after_s
            for seconds in (0.8 * job.prepare_s, 0.2 * job.prepare_s, tested):
                yield from in_pool(seconds)
            busy["eval"] += env.now - begun
            ended[0] = max(ended[0], env.now)

    for process, count in ((initialiser, structure.init), (runner, structure.run), (evaluator, structure.eval)):
        for _ in range(count):
            env.process(process())
    env.run()
    return Replayed(ended[0], busy, {stage: sum(w) / len(w) if w else 0.0 for stage, w in waits.items()})


def polled(tests_s: float, poll_s: float) -> float:
    """When the evaluator notices that tests are done: at the first look after it; looks come up to 1 % late."""
    if poll_s <= 0 or tests_s <= 0:
        return max(0.0, tests_s)
    return max(1, ceil(0.99 * tests_s / poll_s)) * poll_s
