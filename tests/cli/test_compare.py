"""`compare` as a command: formats, the exit code for CI, predictions that were kept, bad input."""

import json
import subprocess
from pathlib import Path

import pytest

import cli_runner
from story import batch, play, write_log


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """With a state folder of its own."""
    return cli_runner.run(*arguments, cwd=cwd, XDG_STATE_HOME=str(cwd / "state"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, evaluators in (("slow", 1), ("quick", 2)):
        (tmp_path / name).mkdir()
        story = play(batch(8, 4, lambda i: {"tests_s": 120.0}), 4, evaluators)
        write_log(tmp_path / name / "rollout.log", story, story)
        (tmp_path / name / "launch.sh").write_text(
            f"x actor_rollout_ref.rollout.max_eval_parallel_agents={evaluators}\n"
        )
    return tmp_path


@pytest.mark.parametrize(("limit", "code"), [("5%", 1), ("5", 1), ("400%", 0)])
def test_a_regression_beyond_the_limit_ends_with_1(runs: Path, limit: str, code: int) -> None:
    assert run("compare", "quick", "slow", "--max-step-time-regression", limit, cwd=runs).returncode == code
    assert run("compare", "slow", "quick", "--max-step-time-regression", limit, cwd=runs).returncode == 0


def test_one_step_is_no_regression_but_is_said(runs: Path) -> None:
    story = play(batch(8, 4, lambda i: {"tests_s": 120.0}), 4, 1)
    write_log(runs / "slow" / "rollout.log", story)
    done = run("compare", "quick", "slow", "--max-step-time-regression", "5%", "--lang", "en", cwd=runs)
    assert done.returncode == 0
    assert "Can't tell" in done.stdout
    assert "not counted as a regression" in done.stderr


def test_a_prediction_that_was_kept_is_scored(runs: Path) -> None:
    assert run("diagnose", "slow", "--engine", "offline", cwd=runs).returncode == 0
    found = json.loads(run("compare", "slow", "quick", "--format", "json", cwd=runs).stdout)
    assert found["prediction"]["experiment"] == "actor_rollout_ref.rollout.max_eval_parallel_agents=2"
    assert found["prediction"]["kept_at"].startswith("20")
    assert found["prediction"]["inside"] is True
    again = json.loads(run("compare", "slow", "quick", "--format", "json", cwd=runs).stdout)
    assert again["score"]["count"] == 1


def test_reports_do_instead_of_logs(runs: Path) -> None:
    for name in ("slow", "quick"):
        report = run("diagnose", name, "--engine", "offline", "--format", "json", cwd=runs).stdout
        (runs / f"{name}.json").write_text(report)
    text = run("compare", "slow.json", "quick.json", "--lang", "en", cwd=runs).stdout
    assert text.startswith("BETTER: ")
    assert "max_eval_parallel_agents" in text


def test_markdown_and_chinese(runs: Path) -> None:
    text = run("compare", "slow", "quick", "--format", "md", "--lang", "zh", cwd=runs).stdout
    assert text.startswith("**更好：")
    assert "| actor_rollout_ref.rollout.max_eval_parallel_agents | 1 | 2 |" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "slow", "nowhere"], "nowhere"),
        (["compare", "slow", "quick", "--max-step-time-regression", "much"], "'much' is no percentage"),
        (["compare", "slow", "other.json"], "is no report of this version"),
    ],
)
def test_bad_input_is_one_sentence(runs: Path, arguments: list[str], said: str) -> None:
    (runs / "other.json").write_text('{"schema_version": 9, "verdict": 1}')
    done = run(*arguments, cwd=runs)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
