"""Hydra overrides of launch scripts, with file:line, variables and ranks."""

import pytest

from codex_skyrl.checkout.launch import Knobs, knobs_in

ROLLOUT = "actor_rollout_ref.rollout."


def test_variables_defaults_and_lines() -> None:
    script = f'N=48\nexport TP="2"\n# {ROLLOUT}max_iterations=9\npython {ROLLOUT}max_parallel_agents=$N {ROLLOUT}tensor_model_parallel_size=${{TP}} \\\n  +{ROLLOUT}max_iterations=${{ITERS:-15}}\n'
    found = [(k.key.removeprefix(ROLLOUT), k.value, k.line) for k in knobs_in(script, "run.sh")]
    assert found == [
        ("max_parallel_agents", "48", 4),
        ("tensor_model_parallel_size", "2", 4),
        ("max_iterations", "15", 5),
    ]


def test_the_last_one_wins_as_in_hydra() -> None:
    knobs = Knobs(tuple(knobs_in(f"{ROLLOUT}max_iterations=1 {ROLLOUT}max_iterations=2", "a.sh")))
    assert knobs.number(f"{ROLLOUT}max_iterations") == 2


@pytest.mark.parametrize(
    ("agents", "gpus", "tp", "per_rank"), [(192, 8, 2, 48), (3, 8, 1, 1), (-1, 8, 1, None), (16, 1, 1, 16)]
)
def test_division_over_ranks(agents: int, gpus: int, tp: int, per_rank: int | None) -> None:
    script = (
        f"{ROLLOUT}max_parallel_agents={agents} trainer.n_gpus_per_node={gpus} {ROLLOUT}tensor_model_parallel_size={tp}"
    )
    assert Knobs(tuple(knobs_in(script, "a.sh"))).per_rank("max_parallel_agents") == per_rank
