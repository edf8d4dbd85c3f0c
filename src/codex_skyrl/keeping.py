"""Keeps what was predicted for a run; not being able to is no reason to fail."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.moment import now_utc
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.whatif.kept import Foretold, Kept, run_of
from codex_skyrl.whatif.predict import Prediction


def keep_predictions(folder: Path, case: Case, found: Sequence[Prediction]) -> None:
    """Predictions for this run, by the experiment as it was asked."""
    run = run_of((s.number, s.size, None if s.makespan_s is None else round(s.makespan_s, 2)) for s in case.steps)
    at = now_utc()
    _keep(folder, [Foretold(at, run, p.asked, p.change_pct, p.low_pct, p.high_pct) for p in found])


def keep_report(folder: Path, diagnosis: Diagnosis) -> None:
    """The predictions of a report, by setting and new value."""
    at = now_utc()
    _keep(folder, [replace(f, at=at) for f in foretold_of_report(diagnosis)])


def foretold_of_report(diagnosis: Diagnosis) -> list[Foretold]:
    """What a report predicts; when it was made is not part of it."""
    run = run_of_report(diagnosis)
    return [
        Foretold("", run, f"{e.knob}={e.to:g}" if isinstance(e.to, float) else f"{e.knob}={e.to}",
                 e.step_time_change_pct, e.low_pct, e.high_pct)
        for e in diagnosis.experiments
        if e.step_time_change_pct is not None and e.low_pct is not None and e.high_pct is not None
    ]  # fmt: skip


def run_of_report(diagnosis: Diagnosis) -> str:
    """The digest by which the run of a report is known."""
    return run_of((s.step, s.trajectories, s.makespan_s) for s in diagnosis.steps)


def _keep(folder: Path, records: Sequence[Foretold]) -> None:
    with suppress(OSError):
        Kept(folder).foretell(records)
