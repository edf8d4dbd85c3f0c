"""Keeps predictions, and how they turned out, in two small files of the user's state folder: what `compare` scores by.

A run is known by a digest of its steps (number, trajectories, makespan to a tenth of a second), so that the same logs
are the same run wherever they lie.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

_MOST = 2_000  # lines of each file

Record = TypeVar("Record", "Foretold", "Outcome")


@dataclass(frozen=True, slots=True)
class Foretold:
    """One prediction: percent of step time with its interval. `at`: UTC, ISO 8601."""

    at: str
    run: str
    experiment: str
    change_pct: float
    low_pct: float
    high_pct: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A prediction beside what was observed between two runs."""

    run: str
    after: str
    experiment: str
    change_pct: float
    low_pct: float
    high_pct: float
    observed_pct: float

    @property
    def inside(self) -> bool:
        return self.low_pct <= self.observed_pct <= self.high_pct


def run_of(steps: Iterable[tuple[int, int, float | None]]) -> str:
    """The digest of a run from (number, trajectories, makespan in seconds) of its steps."""
    text = ";".join(f"{n}:{size}:{'-' if makespan is None else f'{makespan:.1f}'}" for n, size, makespan in steps)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Kept:
    """The two files in one folder. A file that cannot be read counts as empty, damaged lines as absent."""

    def __init__(self, folder: Path) -> None:
        self._foretold, self._outcomes = folder / "predictions.jsonl", folder / "outcomes.jsonl"

    def foretell(self, records: Sequence[Foretold]) -> None:
        """Add predictions; a newer one takes the place of an older one of the same run and experiment.

        Raises:
            OSError: when the folder cannot be written.
        """
        new = {(r.run, r.experiment) for r in records}
        _write(self._foretold, [*(r for r in self.foretold() if (r.run, r.experiment) not in new), *records])

    def foretold(self, run: str | None = None) -> list[Foretold]:
        return [r for r in _read(self._foretold, Foretold) if run is None or r.run == run]

    def score(self, outcome: Outcome) -> list[Outcome]:
        """Add an outcome (once for each pair of runs and experiment) and return all there are.

        Raises:
            OSError: when the folder cannot be written.
        """
        same = (outcome.run, outcome.after, outcome.experiment)
        others = [o for o in self.outcomes() if (o.run, o.after, o.experiment) != same]
        _write(self._outcomes, [*others, outcome])
        return [*others, outcome]

    def outcomes(self) -> list[Outcome]:
        return _read(self._outcomes, Outcome)


def _read(path: Path, kind: type[Record]) -> list[Record]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for line in lines:
        try:
            found.append(kind(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def _write(path: Path, records: Sequence[Foretold] | Sequence[Outcome]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    scratch = path.with_suffix(".new")
    scratch.write_text("".join(json.dumps(asdict(r)) + "\n" for r in records[-_MOST:]), encoding="utf-8")
    scratch.replace(path)
