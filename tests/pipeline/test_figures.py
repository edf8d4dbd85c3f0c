"""Waits, depths, rates and occupancy against a played rollout whose true values are known."""

from pathlib import Path

import pytest

from codex_skyrl.pipeline.series import consumption_per_min
from codex_skyrl.report.model import STAGES
from material import diagnosis
from story import batch, play, write_log


@pytest.fixture(params=["", "(WorkerDict pid=41) ", "\x1b[36m(WorkerDict pid=41, ip=10.0.0.2)\x1b[0m "])
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_figures_equal_the_truth_in_every_dress(tmp_path: Path, prefix: str) -> None:
    story = play(batch(8, 6, lambda i: {"init_s": 15.0 + i % 7, "tests_s": 30.0 + 30.0 * (i % 3)}), 4, 5)
    report = diagnosis(write_log(tmp_path / "rollout.log", story, prefix=prefix))
    assert [s.makespan_s for s in report.steps] == [pytest.approx(story.end_s, abs=1.0)]
    assert [s.trajectories for s in report.steps] == [48]
    for stage in STAGES:
        queue, figures = getattr(report.queues, stage), getattr(report.stages, stage)
        assert queue.mean_wait_s == pytest.approx(story.mean_wait(stage), abs=0.6)
        ends = [i.moments[f"{stage}_served"] for i in story.items]
        assert queue.consumption_per_min == pytest.approx(consumption_per_min(ends), rel=0.03)
        workers = 5 if stage == "eval" else 4
        busy = sum(i.moments[f"{stage}_served"] - i.moments[f"{stage}_taken"] for i in story.items)
        assert figures.workers == workers
        assert figures.utilisation == pytest.approx(busy / (workers * story.end_s), abs=0.01)
        assert figures.completed == 48


def test_back_pressure_is_blocked_time_and_not_service(tmp_path: Path) -> None:
    story = play(batch(8, 4, lambda i: {"init_s": 5.0, "tests_s": 300.0}), 4, 1)
    report = diagnosis(write_log(tmp_path / "rollout.log", story))
    assert report.stages.init.service_p50_s == pytest.approx(5.0, abs=1.0)
    held = sum(i.moments["init_released"] - i.moments["init_served"] for i in story.items)
    assert report.stages.init.blocked == pytest.approx(held / (4 * story.end_s), abs=0.02)
    assert (report.stages.run.blocked or 0) > 0.5


def test_depth_curves_follow_the_queues(tmp_path: Path) -> None:
    story = play(batch(8, 4, lambda i: {"init_s": 5.0, "tests_s": 300.0}), 4, 1)
    report = diagnosis(write_log(tmp_path / "rollout.log", story))
    assert report.queues.init.max_depth == 32 - 4
    assert report.queues.run.max_depth == 4
    assert report.queues.eval.max_depth == 4


def test_failed_starts_are_counted_and_skip_the_later_stages(tmp_path: Path) -> None:
    items = batch(8, 4, lambda i: {"init_error": "503 Server Error" if i % 4 == 0 else None})
    report = diagnosis(write_log(tmp_path / "rollout.log", play(items, 4, 4)))
    assert (report.stages.init.completed, report.stages.init.failed) == (24, 8)
    assert report.stages.run.completed == report.stages.eval.completed == 24
    assert report.steps[0].failed == 8


def test_a_log_that_stops_inside_a_step_has_no_makespan(tmp_path: Path) -> None:
    whole = write_log(tmp_path / "rollout.log", play(batch(8, 6), 4, 4))
    lines = whole.read_text().splitlines()
    whole.write_text("\n".join(lines[: len(lines) // 2]) + "\n")
    report = diagnosis(whole)
    assert report.steps[0].makespan_s is None
    assert report.queues.run.mean_wait_s is not None


def test_a_step_without_its_beginning_is_timed_by_the_trainer(tmp_path: Path) -> None:
    first, second = play(batch(4, 6), 4, 4), play(batch(4, 5), 4, 4)
    steps = [write_log(tmp_path / "part.log", s).read_text().splitlines() for s in (first, second)]
    gens = [f"step:{n} - timing_s/gen:{s.end_s + 18:.2f} - timing_s/step:9999.0" for n, s in ((7, first), (8, second))]
    (tmp_path / "part.log").unlink()
    lines = [*steps[0][150:], gens[0], *steps[1], gens[1]]
    (tmp_path / "rollout.log").write_text("\n".join(lines) + "\n")
    cut, whole = diagnosis(tmp_path / "rollout.log").steps
    assert (cut.step, whole.step) == (7, 8)
    assert whole.makespan_s == pytest.approx(second.end_s, abs=1.0)
    assert cut.makespan_s == pytest.approx(first.end_s, abs=2.0)
    assert cut.bounds_s is not None
    assert cut.bounds_s[0] <= first.end_s <= cut.bounds_s[1]
