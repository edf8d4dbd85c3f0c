"""How many workers each stage gets: from the loop that starts them back to the setting and its division by ranks."""

import ast
from collections.abc import Iterable, Iterator

from codex_skyrl.checkout.code import Function, Module, last_name, own_nodes
from codex_skyrl.checkout.facts import WorkerCount
from codex_skyrl.checkout.launch import Knob
from codex_skyrl.report.model import Stage

_STARTS = {"create_task", "ensure_future", "Thread", "submit", "start_soon", "remote"}
_DEEPEST = 6


def worker_counts(
    module: Module, drains: dict[str, Stage], modules: Iterable[Module], settings: list[Knob]
) -> Iterator[WorkerCount]:
    """One for each stage whose workers this module starts. `drains`: short function name -> the stage it works for."""
    modules = list(modules)
    seen: set[Stage] = set()
    for function in module.functions:
        for line, count, started in _started(function):
            stage = drains.get(started)
            if stage is None or stage in seen:
                continue
            seen.add(stage)
            yield _traced(stage, count, module, function, line, modules, settings)


def _started(function: Function) -> Iterator[tuple[int, ast.expr, str]]:
    """(line of the loop, expression of the count, function started) of each loop that starts tasks."""
    for node in own_nodes(function):
        if isinstance(node, ast.For):
            bodies: list[ast.AST] = list(node.body)
            line, over = node.lineno, node.iter
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            bodies, line, over = [node.elt], node.lineno, node.generators[0].iter
        else:
            continue
        if not (isinstance(over, ast.Call) and last_name(over.func) == "range" and over.args):
            continue
        for body in bodies:
            for call in ast.walk(body):
                if isinstance(call, ast.Call) and last_name(call.func) in _STARTS:
                    for inner in ast.walk(call):
                        if isinstance(inner, ast.Call) and inner is not call:
                            yield line, over.args[-1], last_name(inner.func)


def _traced(
    stage: Stage, count: ast.expr, module: Module, function: Function, line: int, modules: list[Module], settings: list[Knob]
) -> WorkerCount:  # fmt: skip
    known = {k.name for k in settings}
    text = ast.unparse(count)
    for name in _names_behind(count, module, function):
        if name in known:
            knobs = _of(name, settings)
            division, at = _division(name, modules)
            return WorkerCount(stage, text, module.source, line, name, knobs, division, at)
    return WorkerCount(stage, text, module.source, line)


def _names_behind(expression: ast.expr, module: Module, function: Function) -> Iterator[str]:
    """Names in an expression, then those in what was assigned to them before, breadth first."""
    waiting, seen = [expression], set[str]()
    for _ in range(_DEEPEST):
        following: list[ast.expr] = []
        for node in (n for e in waiting for n in ast.walk(e)):
            name = _name(node)
            if name and name not in seen:
                seen.add(name)
                yield name
                following += _assigned(name, module, function)
        waiting = following


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name | ast.Attribute):
        return last_name(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        return node.value  # cfg["max_parallel_agents"]
    return ""


def _assigned(name: str, module: Module, function: Function) -> list[ast.expr]:
    outer = [f for f in module.functions if f.name == function.name or function.name.startswith(f"{f.name}.")]
    within = outer or list(module.functions)
    return [
        n.value
        for f in within
        for n in own_nodes(f)
        if isinstance(n, ast.Assign) and any(last_name(t) == name for t in n.targets)
    ]


def _of(name: str, settings: list[Knob]) -> tuple[Knob, ...]:
    """The settings of that name, the least nested key only (not a validation set of them)."""
    own = [k for k in settings if k.name == name]
    depth = min(k.key.count(".") for k in own)
    shortest = min((k.key for k in own if k.key.count(".") == depth), default="")
    return tuple(k for k in own if k.key == shortest)


def _division(name: str, modules: list[Module]) -> tuple[str | None, tuple[str, int] | None]:
    """A keyword argument of that name whose value divides: the ranks share the setting."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.keyword) and node.arg == name:
                for part in ast.walk(node.value):
                    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.FloorDiv | ast.Div):
                        return ast.unparse(node.value), (module.source, node.value.lineno)
    return None, None
