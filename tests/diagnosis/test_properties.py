"""What must hold for any log: counts are conserved, interleaving changes nothing, a cut never misleads."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codex_skyrl.report.model import Diagnosis
from material import diagnosis, material
from story import Story, batch, play, write_log

CONFIDENT = 0.6
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def init_bound() -> Story:
    return play(batch(8, 6, lambda i: {"init_s": 110.0 + i % 9, "sandbox_s": 100.0}), 4, 8)


def run_bound() -> Story:
    return play(batch(8, 6, lambda i: {"turns": ((3.0, 20.0),) * 8}), 4, 4)


def eval_bound() -> Story:
    return play(batch(8, 6, lambda i: {"tests_s": 300.0 + i % 40}), 4, 2)


STORIES = {"init": init_bound, "run": run_bound, "eval": eval_bound}


@pytest.mark.parametrize("name", STORIES)
@FEW
@given(share=st.floats(0.02, 0.98))
def test_cutting_the_beginning_never_gives_a_wrong_confident_verdict(tmp_path: Path, name: str, share: float) -> None:
    path = write_log(tmp_path / "rollout.log", STORIES[name]())
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[int(share * len(lines)) :]) + "\n")
    found = diagnosis(path).verdict
    assert found.bottleneck in (name, "unknown") or found.confidence < CONFIDENT


@FEW
@given(seed=st.integers(0, 10_000))
def test_interleaving_of_processes_changes_nothing(tmp_path: Path, seed: int) -> None:
    logs = []
    for pid in (11, 12):
        path = write_log(tmp_path / f"{pid}.part", init_bound(), prefix=f"(WorkerDict pid={pid}) ")
        logs.append(path.read_text().splitlines())
    plain, mixed = tmp_path / "plain.log", tmp_path / "mixed.log"
    plain.write_text("\n".join(_merged(logs, None)) + "\n")
    mixed.write_text("\n".join(_merged(logs, Random(seed))) + "\n")
    assert _gist(diagnosis(plain)) == _gist(diagnosis(mixed))


@FEW
@given(share=st.floats(0.05, 1.0), errors=st.integers(0, 4))
def test_counts_are_conserved(tmp_path: Path, share: float, errors: int) -> None:
    story = play(batch(8, 4, lambda i: {"init_error": "503" if errors and i % (errors + 3) == 0 else None}), 4, 4)
    path = write_log(tmp_path / "rollout.log", story)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[: max(1, int(share * len(lines)))]) + "\n")
    for step in material(path).run.steps:
        for record in step.records:
            states = [t.state for t in record.trajectories.values()]
            taken = sum(1 for t in record.trajectories.values() if t.init.taken_s is not None)
            inside = sum(s.startswith(("in-", "after-")) for s in states)
            assert taken == inside + states.count("done") + states.count("failed")


def _merged(logs: list[list[str]], chance: Random | None) -> list[str]:
    """The lines of all logs, each log in its own order; by turns, or at random."""
    left = [list(reversed(log)) for log in logs]
    merged = []
    while any(left):
        open_logs = [log for log in left if log]
        merged.append((chance.choice(open_logs) if chance else open_logs[len(merged) % len(open_logs)]).pop())
    return merged


def _gist(found: Diagnosis) -> tuple[object, ...]:
    waits = [getattr(found.queues, s).mean_wait_s for s in ("init", "run", "eval")]
    return found.verdict.bottleneck, found.verdict.cause, [s.makespan_s for s in found.steps], waits
