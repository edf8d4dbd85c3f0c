"""From two places (logs, or reports of `diagnose --format json`) to a comparison with its prediction scored."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.analyse import Read, analyse
from codex_skyrl.compare.judge import compare
from codex_skyrl.compare.score import experiments_of, running, scored
from codex_skyrl.errors import InputError
from codex_skyrl.keeping import foretold_of_report, run_of_report
from codex_skyrl.report.comparison import Comparison
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.text import Lang
from codex_skyrl.whatif.kept import Foretold, Kept, Outcome
from codex_skyrl.whatif.predict import foretell


@dataclass(frozen=True, slots=True)
class Side:
    """One run: what is known of it, and its material where it came as logs."""

    name: str
    diagnosis: Diagnosis
    material: Read | None


def side_of(argument: str, lang: Lang, here: Path, reader: Callable[[str], Read]) -> Side:
    """A folder, file or glob of logs (read by `reader`), or a report in JSON.

    Raises:
        InputError: when there is nothing to read, or the report is of another version.
    """
    path = here / argument
    if path.suffix == ".json" and path.is_file() and (report := _report(path)) is not None:
        return Side(argument, report, None)
    material = reader(argument)
    return Side(argument, analyse(material, lang), material)


def compared(before: Side, after: Side, named: Sequence[str], lang: Lang, state: Path) -> Comparison:
    """The comparison; `named` experiments say what was done where no setting tells it. Outcomes are kept in `state`."""
    found = compare(before.diagnosis, after.diagnosis, (before.name, after.name), lang)
    kept = Kept(state)
    run = run_of_report(before.diagnosis)
    known = [*foretold_of_report(before.diagnosis), *kept.foretold(run)]
    names = list(named) or experiments_of(found.settings)
    alone = len(found.settings) <= 1  # else nobody can say what made the difference
    prediction = scored(found, names, known, lambda name: _predicted(name, before.material)) if alone else None
    outcomes = kept.outcomes()
    if prediction is not None:
        outcome = Outcome(
            run, run_of_report(after.diagnosis), prediction.experiment, prediction.predicted_pct, prediction.low_pct,
            prediction.high_pct, prediction.observed_pct,
        )  # fmt: skip
        with suppress(OSError):
            outcomes = kept.score(outcome)
    return found.model_copy(update={"prediction": prediction, "score": running(outcomes)})


def _predicted(name: str, material: Read | None) -> Foretold | None:
    """The replay's word on it, from the first run alone."""
    if material is None:
        return None
    found = foretell(material.case, [name])  # nothing where it is no knob of the replay
    return Foretold("", "", name, found[0].change_pct, found[0].low_pct, found[0].high_pct) if found else None


def _report(path: Path) -> Diagnosis | None:
    """None when it is some other JSON: Kubernetes events, say."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if '"schema_version"' not in text or '"verdict"' not in text:
        return None
    try:
        return Diagnosis.model_validate_json(text)
    except ValueError as error:
        raise InputError("is no report of this version of codex-skyrl.", where=str(path)) from error
