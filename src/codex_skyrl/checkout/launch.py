"""The knobs of a run as its launch script sets them: Hydra overrides `key=value` in shell scripts, with file:line.

Reads text only; shell variables are followed through plain assignments of the same script, nothing is executed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_OVERRIDE = re.compile(r"(?<![\w.+~])\+{0,2}((?:actor_rollout_ref|data|trainer)(?:\.\w+)+)=(\"[^\"]*\"|'[^']*'|\S+)")
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;#]*)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_LARGEST = 1 << 20  # bytes: a launch script is small
_ROLLOUT = "actor_rollout_ref.rollout."


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting where it is written. `value` is the text after variables were filled in, `text` the line as it stands."""

    key: str
    value: str
    source: str
    line: int
    text: str = ""

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition(".")[2]

    @property
    def number(self) -> int | None:
        """The value as a whole number, None when it is none."""
        return int(self.value) if re.fullmatch(r"-?\d{1,9}", self.value) else None


@dataclass(frozen=True, slots=True)
class Knobs:
    """All settings found, by key; the last one written wins, as Hydra does it."""

    found: tuple[Knob, ...] = ()

    def get(self, key: str) -> Knob | None:
        return next((k for k in reversed(self.found) if k.key == key), None)

    def rollout(self, name: str) -> Knob | None:
        """A setting below `actor_rollout_ref.rollout`."""
        return self.get(_ROLLOUT + name)

    def number(self, key: str) -> int | None:
        knob = self.get(key)
        return knob.number if knob else None

    @property
    def data_parallel(self) -> int | None:
        """Ranks with pipelines of their own: GPUs / tensor-parallel size."""
        gpus, nodes = self.number("trainer.n_gpus_per_node"), self.number("trainer.nnodes") or 1
        if gpus is None:
            return None
        return max(1, gpus * nodes // max(1, self.number(_ROLLOUT + "tensor_model_parallel_size") or 1))

    def per_rank(self, name: str) -> int | None:
        """A rollout setting divided over the ranks, as SkyRL-v0 does it (never below 1); None when not positive."""
        value, ranks = self.number(_ROLLOUT + name), self.data_parallel
        return max(1, value // (ranks or 1)) if value is not None and value > 0 else None


def read_launch_scripts(paths: Iterable[Path], shown: dict[Path, str]) -> Knobs:
    """Knobs of all scripts that hold at least one; unreadable or huge files are passed over."""
    found: list[Knob] = []
    for path in paths:
        try:
            if path.stat().st_size > _LARGEST:
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found += knobs_in(text, shown.get(path, str(path)))
    return Knobs(tuple(found))


def knobs_in(text: str, source: str) -> list[Knob]:
    """Hydra overrides of one shell script; commented lines count for nothing."""
    variables: dict[str, str] = {}
    found: list[Knob] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        assignment = _ASSIGNMENT.match(line)
        if assignment:
            variables[assignment[1]] = _filled(assignment[2].strip("\"'"), variables)
        for override in _OVERRIDE.finditer(line):
            value = _filled(override[2].strip("\"'"), variables)
            found.append(Knob(override[1], value, source, number, line.strip()))
    return found


def _filled(value: str, variables: dict[str, str]) -> str:
    """Variables replaced where they are known; `${NAME:-default}` falls back to its default."""

    def look_up(match: re.Match[str]) -> str:
        return variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(look_up, value)
