"""Each knob names what to change: a setting with its line, a line of code, or something outside."""

from pathlib import Path

import pytest

from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.checkout.read import read_checkout
from codex_skyrl.whatif.how import how_of
from codex_skyrl.whatif.knobs import KNOBS
from mini_checkout import v0, v1


@pytest.mark.parametrize(
    ("knob", "said"),
    [
        ("eval_workers", "actor_rollout_ref.rollout.max_eval_parallel_agents (verl/trainer/config/ppo_trainer.yaml:7)"),
        ("agents", "actor_rollout_ref.rollout.max_parallel_agents (examples/sky/run.sh:4)"),
        ("max_iterations", "actor_rollout_ref.rollout.max_iterations (verl/trainer/config/ppo_trainer.yaml:8)"),
        ("batch", "data.train_batch_size (verl/trainer/config/ppo_trainer.yaml:3)"),
        ("init_workers", "verl/workers/agentic/codeact.py:68"),
        ("queue_size", "verl/workers/agentic/codeact.py:48, verl/workers/agentic/codeact.py:49"),
        ("eval_poll_s", "verl/workers/agentic/codeact.py:37"),
        ("eval_timeout_s", "verl/workers/agentic/codeact.py:33"),
        ("async_stop", "verl/workers/agentic/codeact.py:14"),
        ("image_cache", "on every node"),
        ("llm_slots", "--max-running-requests"),
    ],
)
def test_the_place_in_a_checkout(tmp_path: Path, knob: str, said: str) -> None:
    checkout = read_checkout(v0(tmp_path))
    assert checkout is not None
    assert said in how_of(knob, checkout.only_script, checkout).en


def test_the_successors_settings_have_other_keys(tmp_path: Path) -> None:
    checkout = read_checkout(v1(tmp_path))
    assert how_of("eval_workers", Knobs(), checkout).en == "dispatcher.max_eval_parallel_agents (examples/run.yaml:3)"


@pytest.mark.parametrize("knob", KNOBS)
def test_every_knob_says_something_without_a_checkout(knob: str) -> None:
    text = how_of(knob, Knobs(), None)
    assert text.en
    assert text.zh
