"""On the import path of a node's processes: hides what such a node would not have, but for what Ray sends along."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder

_HIDDEN = ("codex_skyrl", "ahocorasick_rs", "isal", "zstandard")


class _Hide:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name not in _HIDDEN:
            return None
        found = PathFinder.find_spec(name, [p for p in sys.path if "py_modules" in p])
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found


sys.meta_path.insert(0, _Hide)  # type: ignore[arg-type]
