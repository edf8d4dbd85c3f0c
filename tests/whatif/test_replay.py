"""The replay against closed forms and against a played rollout; knobs that must, and must not, matter."""

from pathlib import Path
from random import Random

import pytest

from codex_skyrl.diagnosis.facts import case_of
from codex_skyrl.errors import InputError
from codex_skyrl.whatif.job import Job, Structure
from codex_skyrl.whatif.knobs import parse_experiment
from codex_skyrl.whatif.predict import Baseline, Prediction, predict
from codex_skyrl.whatif.replay import polled, replay
from material import material
from story import Story, batch, play, write_log


def job(init: float = 0.0, run: float = 0.01, evaluation: float = 0.0) -> Job:
    return Job(init, False, run, 0.0, 1, evaluation, 0.0, 0.0)


def wide(init: int, run: int, evaluators: int, bound: int = 10**6) -> Structure:
    return Structure(init, run, evaluators, bound, threads=10**6)


def test_one_stage_of_equal_jobs_takes_whole_rounds() -> None:
    """D/c with everything there at the start: ceil(n / c) * service."""
    for workers in (1, 3, 7):
        made = replay([job(run=10.0)] * 20, wide(20, workers, 20))
        assert made.makespan_s == pytest.approx(-(-20 // workers) * 10.0, rel=0.01)


def test_a_tandem_of_single_servers_is_a_flow_shop() -> None:
    """C(i, k) = max(C(i-1, k), C(i, k-1)) + p(i, k) with unbounded queues."""
    chance = Random(3)
    times = [[chance.uniform(1, 9) for _ in range(3)] for _ in range(40)]
    ends = [0.0, 0.0, 0.0]
    for item in times:
        before = 0.0
        for k in range(3):
            ends[k] = max(ends[k], before) + item[k]
            before = ends[k]
    made = replay([job(*item) for item in times], wide(1, 1, 1))
    assert made.makespan_s == pytest.approx(ends[2], rel=1e-6)


def test_blocking_follows_the_flow_shop_with_buffers() -> None:
    """D(i, k) = max(C(i, k), D(i - b - 1, k + 1)...): a buffer of b places holds the server before it (b = 1)."""
    chance = Random(5)
    times = [[chance.uniform(1, 9) for _ in range(3)] for _ in range(40)]
    bound = 1
    leave = [[0.0] * 3 for _ in times]
    for i, item in enumerate(times):
        for k in range(3):
            free = leave[i - 1][k] if i else 0.0
            begin = max(free, leave[i][k - 1] if k else 0.0)
            done = begin + item[k]
            held = leave[i - bound - 1][k + 1] if k < 2 and i > bound else 0.0
            leave[i][k] = max(done, held)
    made = replay([job(*item) for item in times], wide(1, 1, 1, bound))
    assert made.makespan_s == pytest.approx(leave[-1][2], rel=0.02)


def test_the_poll_rounds_up_to_the_next_look() -> None:
    assert [polled(t, 30.0) for t in (0.0, 1.0, 29.9, 30.15, 31.0, 271.35)] == [0.0, 30.0, 30.0, 30.0, 60.0, 270.0]
    assert polled(3.0, 2.0) == 4.0


def test_a_pool_smaller_than_the_workers_limits() -> None:
    jobs = [job(init=10.0)] * 40
    assert (
        replay(jobs, Structure(20, 20, 20, 20, threads=5)).makespan_s > 3.5 * replay(jobs, wide(20, 20, 20)).makespan_s
    )


def predicted(tmp_path: Path, story: Story, *experiments: str) -> tuple[Baseline, dict[str, Prediction]]:
    read = material(write_log(tmp_path / "rollout.log", story))
    baseline, found = predict(case_of(read.run, read.knobs), experiments)
    return baseline, {p.asked: p for p in found}


@pytest.mark.parametrize(
    ("agents", "evaluators", "asked", "again"),
    [(4, 1, "eval_workers=x2", (4, 2)), (4, 2, "eval_workers=4", (4, 4)), (4, 8, "eval_workers=x2", (4, 16))],
)
def test_predictions_equal_playing_the_change(
    tmp_path: Path, agents: int, evaluators: int, asked: str, again: tuple[int, int]
) -> None:
    def items() -> list[object]:
        return batch(8, 6, lambda i: {"tests_s": 60.0 + 30.0 * (i % 3), "init_s": 20.0 + i % 5})  # type: ignore[return-value]

    now, then = play(items(), agents, evaluators), play(items(), *again)  # type: ignore[arg-type]
    baseline, found = predicted(tmp_path, now, asked)
    assert baseline.trusted
    true = 100.0 * (then.end_s - now.end_s) / now.end_s
    assert found[asked].change_pct == pytest.approx(true, abs=2.0)
    assert found[asked].low_pct <= true <= found[asked].high_pct


def test_slow_starts_make_more_runners_pointless(tmp_path: Path) -> None:
    _, found = predicted(
        tmp_path, play(batch(8, 6, lambda i: {"init_s": 120.0}), 4, 8), "run_workers=x2", "init_workers=x2"
    )
    assert abs(found["run_workers=x2"].change_pct) < 1.0
    assert found["init_workers=x2"].change_pct < -35
    assert found["run_workers=x2"].next_bottleneck == "init"


def test_without_experiments_the_sensible_ones_come_best_first(tmp_path: Path) -> None:
    read = material(write_log(tmp_path / "rollout.log", play(batch(8, 6, lambda i: {"tests_s": 300.0}), 4, 2)))
    _, found = predict(case_of(read.run, read.knobs), [])
    assert found[0].knob in ("eval_workers", "test_time")
    assert [p.change_pct for p in found] == sorted(p.change_pct for p in found)


@pytest.mark.parametrize("text", ["eval_workers", "unknown=2", "=x2"])
def test_what_is_no_experiment_is_said(text: str) -> None:
    with pytest.raises(InputError, match="no experiment"):
        parse_experiment(text)


def test_a_step_that_is_not_whole_is_not_replayed(tmp_path: Path) -> None:
    path = write_log(tmp_path / "rollout.log", play(batch(8, 6), 4, 4))
    path.write_text("\n".join(path.read_text().splitlines()[:200]) + "\n")
    read = material(path)
    with pytest.raises(InputError, match="no whole step"):
        predict(case_of(read.run, read.knobs), [])
