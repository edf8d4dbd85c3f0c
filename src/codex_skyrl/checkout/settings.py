"""Settings in YAML files, each with its line: keys joined by dots, values as they are written."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codex_skyrl.checkout.launch import Knob

if TYPE_CHECKING:
    from yaml.nodes import Node

_LARGEST = 1 << 20  # bytes
_DEEPEST = 12


def settings_in(path: Path, source: str) -> list[Knob]:
    """Every scalar of a YAML file; nothing when it cannot be read as YAML."""
    import yaml

    try:
        if path.stat().st_size > _LARGEST:
            return []
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, yaml.YAMLError, RecursionError):
        return []
    if tree is None:
        return []
    lines = text.splitlines()
    return [
        Knob(key, value, source, line, lines[line - 1].strip() if line <= len(lines) else "")
        for key, value, line in _scalars(tree, "", 0)
    ]


def _scalars(node: "Node", prefix: str, depth: int) -> Iterator[tuple[str, str, int]]:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        yield prefix, str(node.value), node.start_mark.line + 1
    elif isinstance(node, yaml.MappingNode) and depth < _DEEPEST:
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield from _scalars(value, f"{prefix}.{key.value}" if prefix else str(key.value), depth + 1)
