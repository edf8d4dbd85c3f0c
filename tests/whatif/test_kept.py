"""Predictions are kept by run and experiment, outcomes once for each pair; damage and age do no harm."""

from pathlib import Path

from codex_skyrl.whatif.kept import Foretold, Kept, Outcome, run_of


def foretold(run: str, experiment: str, change: float = -10.0) -> Foretold:
    return Foretold("2026-01-31T12:00:00.000Z", run, experiment, change, change - 2, change + 2)


def test_a_newer_prediction_takes_the_place_of_the_older(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "new")
    kept.foretell([foretold("a", "x=1"), foretold("a", "x=2")])
    kept.foretell([foretold("a", "x=1", -20.0), foretold("b", "x=1")])
    assert [(f.experiment, f.change_pct) for f in kept.foretold("a")] == [("x=2", -10.0), ("x=1", -20.0)]
    assert len(kept.foretold()) == 3


def test_an_outcome_counts_once(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    first = Outcome("a", "b", "x=1", -10.0, -12.0, -8.0, -9.0)
    assert first.inside
    kept.score(first)
    assert kept.score(Outcome("a", "b", "x=1", -10.0, -12.0, -8.0, -30.0)) == kept.outcomes()
    assert [o.inside for o in kept.outcomes()] == [False]


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.foretell([foretold("a", "x=1")])
    path = tmp_path / "predictions.jsonl"
    path.write_text('{"at": 1}\nnot json\n' + path.read_text())
    assert len(kept.foretold()) == 1


def test_a_run_is_known_by_its_steps() -> None:
    steps = [(1, 64, 300.04), (2, 64, None)]
    assert run_of(steps) == run_of([(1, 64, 300.0), (2, 64, None)])
    assert run_of(steps) != run_of(steps[:1])
