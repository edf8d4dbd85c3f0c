"""What a model's answer is held against: the diagnosis with all evidence that was shown, settings, files of the checkout."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from codex_skyrl.report.model import Diagnosis, Evidence

_SUFFIXES = (".1", ".2", ".gz", ".zst", ".xz")


@dataclass(frozen=True)
class Known:
    """`settings`: each key that can be set, with the values it has where they are known. `files`: further known files."""

    diagnosis: Diagnosis
    settings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    @cached_property
    def evidence(self) -> dict[str, Evidence]:
        return {e.id: e for e in self.diagnosis.evidence}

    def is_file(self, name: str) -> bool:
        """Whether a name, or the end of a path, is a file that was read or lies in the checkout."""
        sources = (*self.files, *(i.path for i in self.diagnosis.inputs), *(e.source for e in self.diagnosis.evidence))
        return any(is_path_of(name, source) for source in sources)

    def is_setting(self, key: str) -> bool:
        """Whether a key, whole or by its last parts, can be set; our own experiments count."""
        wanted = key.lstrip("+")
        names = (*self.settings, *(e.knob for e in self.diagnosis.experiments))
        return any(name == wanted or name.endswith(f".{wanted}") for name in names)

    def values_of(self, key: str) -> frozenset[str]:
        """The values a setting has; empty where they are not known."""
        wanted = key.lstrip("+")
        ours = {_plain(e.from_) for e in self.diagnosis.experiments if e.knob == wanted and e.from_ is not None}
        return frozenset(ours).union(*(v for k, v in self.settings.items() if k == wanted or k.endswith(f".{wanted}")))


def settings_of(pairs: Iterable[tuple[str, str]], names: Iterable[str] = ()) -> dict[str, frozenset[str]]:
    """Settings from (key, value) pairs and from names whose values nobody knows."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in found.items()}


def is_path_of(name: str, source: str) -> bool:
    """Whether `name` is `source` or its last components; a rotated or packed file may go by its plain name."""
    wanted, parts = PurePosixPath(name.lstrip("./")).parts, PurePosixPath(source).parts
    while parts and wanted and parts[-1] != wanted[-1] and parts[-1].endswith(_SUFFIXES):
        parts = (*parts[:-1], parts[-1].rpartition(".")[0])
    return bool(wanted) and parts[-len(wanted) :] == wanted


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
