"""The replay against queueing theory, where a formula is known. One init worker plays the source: its work is the gap between arrivals.

Sources: Erlang C for M/M/c (Kleinrock, Queueing Systems I, 3.5); two equal exponential stations with b places between them
and blocking after service: throughput mu (b + 2) / (b + 3) (Hunt 1956).
"""

from math import factorial, inf
from random import Random

import pytest

from codex_skyrl.whatif.job import Job, Structure
from codex_skyrl.whatif.replay import replay

MANY = 10_000  # workers or threads that never limit


def jobs(count: int, arrivals_per_s: float, served_per_s: float, seed: int = 7) -> list[Job]:
    draw = Random(seed).expovariate
    return [Job(draw(arrivals_per_s), False, draw(served_per_s), 0.0, 1, 0.0, 0.0, 0.0) for _ in range(count)]


def erlang_c_wait_s(arrivals_per_s: float, served_per_s: float, servers: int) -> float:
    load = arrivals_per_s / served_per_s
    share = load / servers
    last = load**servers / factorial(servers) / (1 - share)
    waits = last / (sum(load**k / factorial(k) for k in range(servers)) + last)
    return waits / (servers * served_per_s - arrivals_per_s)


@pytest.mark.parametrize(("arrivals_per_s", "servers"), [(0.3, 1), (0.5, 1), (1.5, 3), (2.0, 3)])
def test_waits_are_those_of_m_m_c(arrivals_per_s: float, servers: int) -> None:
    structure = Structure(1, servers, 100, inf, threads=MANY)
    waits = [replay(jobs(20_000, arrivals_per_s, 1.0, seed), structure).wait_s["run"] for seed in range(1, 7)]
    assert sum(waits) / len(waits) == pytest.approx(erlang_c_wait_s(arrivals_per_s, 1.0, servers), rel=0.05)


@pytest.mark.parametrize("places", [1, 2, 4, 16])
def test_two_stations_with_blocking_have_the_known_throughput(places: int) -> None:
    count = 30_000
    played = replay(jobs(count, 1.0, 1.0), Structure(1, 1, 100, places, threads=MANY))
    assert count / played.makespan_s == pytest.approx((places + 2) / (places + 3), rel=0.02)


def test_equal_jobs_fill_their_workers_in_rounds() -> None:
    """40 jobs of 10 s on 8 workers: five rounds; the next stage adds its own work once."""
    equal = [Job(10.0, False, 4.0, 0.0, 1, 0.0, 0.0, 0.0)] * 40
    assert replay(equal, Structure(8, 8, 8, 8, threads=MANY)).makespan_s == pytest.approx(54.0)


def test_a_pool_of_threads_limits_what_stands_before_it() -> None:
    """16 init workers, but 4 threads: 40 jobs of 10 s take 100 s."""
    equal = [Job(10.0, True, 0.0, 0.0, 0, 0.0, 0.0, 0.0)] * 40
    assert replay(equal, Structure(16, 4, 4, 4, threads=4)).makespan_s == pytest.approx(100.0, rel=0.05)


def test_the_poll_rounds_tests_up() -> None:
    one = [Job(1.0, False, 2.0, 0.0, 1, 3.0, 31.0, 0.5)]
    assert replay(one, Structure(1, 1, 1, 1)).makespan_s == pytest.approx(1 + 2 + 3 + 60 + 0.5)
    assert replay(one, Structure(1, 1, 1, 1, poll_s=2.0)).makespan_s == pytest.approx(1 + 2 + 3 + 32 + 0.5)


def test_a_job_that_loses_its_turn_goes_to_the_end_of_the_line() -> None:
    """As asyncio.Queue's putters do: the long job is ready fourth; when it gets in last, the step ends with it."""

    def played(*, loses_turn: bool) -> float:
        ready = [Job(float(n), False, 5.0, 0.0, 1, 0.0, 0.0, 0.0) for n in range(1, 9)]
        ready[3] = Job(4.0, False, 500.0, 0.0, 1, 0.0, 0.0, 0.0, init_loses_turn=loses_turn)
        return replay(ready, Structure(8, 2, 8, 1)).makespan_s

    assert played(loses_turn=True) == pytest.approx(played(loses_turn=False) + 10.0, abs=5.0)
