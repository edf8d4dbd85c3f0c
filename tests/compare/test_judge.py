"""Pairs of played runs with known answers: better, worse or can't tell; moved, not moved or can't tell; what was changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codex_skyrl.compare.judge import compare
from codex_skyrl.comparing import compared, side_of
from codex_skyrl.report.comparison import Comparison
from material import diagnosis, material
from story import Story, batch, play, write_log


def slow_start(seconds: float = 120.0) -> Story:
    return play(batch(8, 4, lambda i: {"init_s": seconds, "sandbox_s": seconds - 5}), 4, 8)


def few_evaluators(number: int = 1) -> Story:
    return play(batch(8, 4, lambda i: {"tests_s": 120.0}), 4, number)


def busy_agents(turns: int = 8) -> Story:
    return play(batch(8, 4, lambda i: {"init_s": 5.0, "turns": ((3.0, 2.0),) * turns}), 4, 8)


Run = Callable[[], list[Story]]

# name -> (before, after, step time, bottleneck)
PAIRS: dict[str, tuple[Run, Run, str, str]] = {
    "quicker starts": (lambda: [slow_start()] * 2, lambda: [busy_agents()] * 2, "better", "moved"),
    "evaluation no longer limits": (lambda: [few_evaluators(1)] * 2, lambda: [busy_agents()] * 2, "better", "moved"),
    "some more evaluators": (lambda: [few_evaluators(1)] * 3, lambda: [few_evaluators(2)] * 3, "better", "not_moved"),
    "starts somewhat quicker": (
        lambda: [slow_start(200.0)] * 2,
        lambda: [slow_start(120.0)] * 2,
        "better",
        "not_moved",
    ),
    "the same again": (lambda: [slow_start()] * 3, lambda: [slow_start()] * 3, "no_change", "not_moved"),
    "slower starts": (lambda: [busy_agents()] * 2, lambda: [slow_start()] * 2, "worse", "moved"),
    "fewer evaluators": (lambda: [few_evaluators(2)] * 3, lambda: [few_evaluators(1)] * 3, "worse", "not_moved"),
    "longer trajectories": (lambda: [busy_agents(8)] * 2, lambda: [busy_agents(16)] * 2, "worse", "not_moved"),
    "one step before": (lambda: [slow_start()], lambda: [busy_agents()] * 2, "cannot_tell", "cannot_tell"),
    "one step after": (lambda: [few_evaluators(1)] * 3, lambda: [few_evaluators(8)], "cannot_tell", "cannot_tell"),
    "one step each": (lambda: [slow_start()], lambda: [slow_start()], "cannot_tell", "cannot_tell"),
    "uneven steps": (
        lambda: [slow_start(60.0), slow_start(200.0)],
        lambda: [slow_start(50.0), slow_start(190.0)],
        "cannot_tell",
        "not_moved",
    ),
}


def pair(tmp_path: Path, before: list[Story], after: list[Story], scripts: tuple[str, str] = ("", "")) -> Comparison:
    sides = []
    for name, stories, script in (("before", before, scripts[0]), ("after", after, scripts[1])):
        folder = tmp_path / name
        folder.mkdir()
        write_log(folder / "rollout.log", *stories)
        if script:
            (folder / "launch.sh").write_text(f"python -m verl.trainer.main_ppo \\\n  {script}\n")
        sides.append(side_of(str(folder), "en", tmp_path, lambda path: material(Path(path))))
    return compared(sides[0], sides[1], [], "en", tmp_path / "state")


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_with_known_answers(tmp_path: Path, name: str) -> None:
    before, after, judgement, moved = PAIRS[name]
    found = pair(tmp_path, before(), after())
    assert (found.step_time.judgement, found.bottleneck.moved) == (judgement, moved), found.step_time
    if judgement in ("better", "worse"):
        assert found.step_time.low_pct is not None
        assert found.step_time.high_pct is not None
        assert found.step_time.low_pct * found.step_time.high_pct > 0


def test_a_run_that_hangs_is_worse_however_quick_it_was(tmp_path: Path) -> None:
    write_log(tmp_path / "rollout.log", *[busy_agents()] * 2)
    found = diagnosis(tmp_path / "rollout.log")
    stuck = found.verdict.model_copy(update={"bottleneck": "sync", "cause": "hang"})
    hung = found.model_copy(update={"verdict": stuck})
    assert compare(found, hung, ("a", "b"), "en").step_time.judgement == "worse"
    assert compare(hung, found, ("a", "b"), "en").step_time.judgement == "better"
    assert compare(found, hung, ("a", "b"), "en").bottleneck.moved == "moved"


def test_seconds_a_trajectory_are_compared_where_batches_differ(tmp_path: Path) -> None:
    double = play(batch(8, 8, lambda i: {"tests_s": 120.0}), 4, 1)
    found = pair(tmp_path, [few_evaluators(1)] * 2, [double] * 2)
    assert found.step_time.per_trajectory
    assert found.step_time.judgement in ("no_change", "cannot_tell")
    assert abs(found.step_time.change_pct or 99.0) < 10.0


KEY = "actor_rollout_ref.rollout.max_eval_parallel_agents"


def test_one_setting_is_named_with_its_place_and_its_prediction_is_scored(tmp_path: Path) -> None:
    scripts = (f"{KEY}=1 trainer.experiment_name=a", f"{KEY}=2 trainer.experiment_name=b")
    found = pair(tmp_path, [few_evaluators(1)] * 2, [few_evaluators(2)] * 2, scripts)
    [changed] = found.settings
    assert (changed.key, changed.before, changed.after) == (KEY, "1", "2")
    assert changed.after_at is not None
    assert changed.after_at.endswith("launch.sh:2")
    assert found.warnings == []
    assert found.prediction is not None
    assert found.prediction.experiment == f"{KEY}=2"
    assert found.prediction.kept_at is None
    assert found.prediction.inside
    assert found.score is not None
    assert (found.score.count, found.score.inside) == (1, 1)


def test_more_than_one_setting_is_a_warning_and_scores_nothing(tmp_path: Path) -> None:
    scripts = (f"{KEY}=1 data.train_batch_size=8", f"{KEY}=2 data.train_batch_size=16")
    found = pair(tmp_path, [few_evaluators(1)] * 2, [few_evaluators(2)] * 2, scripts)
    assert "2 settings differ" in found.warnings[0]
    assert found.prediction is None


def test_workers_of_the_logs_stand_in_for_a_script(tmp_path: Path) -> None:
    found = pair(tmp_path, [few_evaluators(1)] * 2, [few_evaluators(8)] * 2)
    assert [(s.key, s.before, s.after) for s in found.settings] == [("eval_workers", "1", "8")]
