"""Python files as trees of functions: names, spans of lines, what they call. Parses text; never imports it."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_LARGEST = 2 << 20  # bytes

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method; `name` is qualified inside its module (`Group.run_all.one`)."""

    name: str
    node: FunctionNode
    outer: str | None  # the function around it

    @property
    def short(self) -> str:
        return self.node.name

    @property
    def is_async(self) -> bool:
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def lines(self) -> tuple[int, int]:
        """First line (decorators included) and last line."""
        first = min([self.node.lineno, *(d.lineno for d in self.node.decorator_list)])
        return first, self.node.end_lineno or self.node.lineno


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file; `source` is how it is shown."""

    source: str
    text: tuple[str, ...]
    tree: ast.Module
    functions: tuple[Function, ...]

    def line(self, number: int) -> str:
        return self.text[number - 1].strip() if 0 < number <= len(self.text) else ""

    def function_at(self, line: int) -> Function | None:
        """The innermost function around a line."""
        around = [f for f in self.functions if f.lines[0] <= line <= f.lines[1]]
        return max(around, key=lambda f: f.lines[0], default=None)

    def outermost_at(self, line: int) -> Function | None:
        """The function around a line that is not itself inside another one."""
        around = [f for f in self.functions if f.outer is None and f.lines[0] <= line <= f.lines[1]]
        return around[0] if around else None


def parse(path: Path, source: str) -> Module | None:
    """None when the file is too large, unreadable, or not valid Python."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    return Module(source, tuple(text.splitlines()), tree, tuple(_functions(tree, "", None)))


def _functions(node: ast.AST, prefix: str, outer: str | None) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            name = f"{prefix}{child.name}"
            yield Function(name, child, outer)
            yield from _functions(child, f"{name}.", name)
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.", outer)
        else:
            yield from _functions(child, prefix, outer)


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """Every node of a function's body, without the functions defined inside it."""
    waiting: list[ast.AST] = _without_functions(function.node.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting[:0] = _without_functions(ast.iter_child_nodes(node))


def _without_functions(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    return [n for n in nodes if not isinstance(n, FunctionNode | ast.Lambda)]


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute chain; what cannot be named is left out (`().close` -> `close`)."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name."""
    return dotted(node).rpartition(".")[2]
