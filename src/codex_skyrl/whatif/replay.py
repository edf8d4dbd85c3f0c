"""Replays one rank's step as SkyRL-v0 runs it: pre-filled init_queue, bounded run and eval queues, workers held while the
next queue is full, one thread pool for sandbox starts and whole evaluations, the evaluator's poll, failed items that
skip stages. Discrete events by simpy; no randomness of its own.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from codex_skyrl.report.model import Stage
from codex_skyrl.whatif.job import Job, Structure

_FINAL_RUN_CALL_S = 1.5  # the git diff at a run's end needs a pool thread


@dataclass(slots=True)
class Replayed:
    """Seconds of the step, and worker-seconds of work in each stage."""

    makespan_s: float
    busy: dict[Stage, float]


def replay(jobs: Sequence[Job], structure: Structure) -> Replayed:
    """Run the step to its end."""
    import simpy

    env = simpy.Environment()
    waiting: Any = simpy.Store(env)
    waiting.items.extend(jobs)
    run_queue, eval_queue = (simpy.Store(env, capacity=structure.bound) for _ in "re")
    pool = simpy.Resource(env, capacity=structure.threads)
    busy: dict[Stage, float] = {"init": 0.0, "run": 0.0, "eval": 0.0}
    ended = [0.0]
    Process = Generator[Any, Any, None]

    def in_pool(seconds: float) -> Process:
        with pool.request() as thread:
            yield thread
            yield env.timeout(seconds)

    def initialiser() -> Process:
        while waiting.items:
            job = yield waiting.get()
            begun = env.now
            for part in (0.6, 0.2, 0.2):
                yield from in_pool(job.init_s * part)
            busy["init"] += env.now - begun
            ended[0] = max(ended[0], env.now)
            if not job.init_failed:
                yield run_queue.put(job)

    def runner() -> Process:
        while True:
            job = yield run_queue.get()
            begun = env.now
            last = min(_FINAL_RUN_CALL_S, job.run_s / 2)
            yield env.timeout(job.run_s - last)
            yield from in_pool(last)
            busy["run"] += env.now - begun
            yield eval_queue.put(job)

    def evaluator() -> Process:
        while True:
            job = yield eval_queue.get()
            begun = env.now
            tested = polled(job.tests_s, structure.poll_s) + job.after_s
            for seconds in (0.8 * job.prepare_s, 0.2 * job.prepare_s, tested):
                yield from in_pool(seconds)
            busy["eval"] += env.now - begun
            ended[0] = max(ended[0], env.now)

    for process, count in ((initialiser, structure.init), (runner, structure.run), (evaluator, structure.eval)):
        for _ in range(count):
            env.process(process())
    env.run()
    return Replayed(ended[0], busy)


def polled(tests_s: float, poll_s: float) -> float:
    """When the evaluator notices that tests are done: at the first look after it; looks come up to 1 % late."""
    if poll_s <= 0 or tests_s <= 0:
        return max(0.0, tests_s)
    return max(1, ceil(0.99 * tests_s / poll_s)) * poll_s
