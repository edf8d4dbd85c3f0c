"""Where stages wait: calls that block the event loop, threads that are held, barriers, polls, limits, generation.

Knows which functions run on the event loop and which in a pool thread from how they are called; follows names, not types,
so a name shared by two functions counts for both.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codex_skyrl.checkout.code import Function, Module, dotted, last_name, own_nodes
from codex_skyrl.checkout.facts import CodeFact, Kind
from codex_skyrl.report.model import STAGES, Stage

_TO_THREAD = {"call_sync_from_async", "run_in_executor", "to_thread", "run_sync"}
_TO_LOOP = {"call_async_from_sync", "run_coroutine_threadsafe"}
_BLOCKING = {"run_action", "copy_to", "copy_from"}  # calls of a remote sandbox; each is an HTTP request that waits
_BLOCKING_DOTTED = ("requests.", "subprocess.", "urllib.request.", "ray.get")
_BARRIERS = {"barrier", "gather", "run_until_complete"}
_GENERATE = {"async_generate", "generate", "generate_sequences", "chat_completions"}
_ENGINES = ("engine", "llm", "client", "server", "infer")


@dataclass(frozen=True, slots=True)
class Reach:
    """A function, the stages whose workers reach it, and whether it is handed to a pool thread."""

    module: Module
    function: Function
    stages: frozenset[Stage]
    in_thread: bool

    @property
    def stage(self) -> Stage | None:
        """The one stage, None when several or none reach it."""
        return next(iter(self.stages)) if len(self.stages) == 1 else None


def reached(modules: Iterable[Module], roots: dict[Stage, set[str]]) -> list[Reach]:
    """Every function with the stages whose workers call it, directly or through others."""
    named: dict[str, list[tuple[Module, Function]]] = {}
    for module in modules:
        for function in module.functions:
            named.setdefault(function.short, []).append((module, function))
    stages: dict[int, set[Stage]] = {}
    for stage in STAGES:
        for function in _closure(roots.get(stage, set()), named):
            stages.setdefault(id(function), set()).add(stage)
    threaded = {name for pairs in named.values() for _, f in pairs for name in _handed_to_threads(f)}
    found = []
    for pairs in named.values():
        for module, function in pairs:
            own = frozenset(stages.get(id(function), set()))
            found.append(Reach(module, function, own, function.short in threaded))
    return found


def waits_of(reach: Reach) -> Iterator[CodeFact]:
    """The waiting places of one function."""
    function = reach.function
    awaited = {id(n.value) for n in own_nodes(function) if isinstance(n, ast.Await)}
    loops = [n for n in own_nodes(function) if isinstance(n, ast.While | ast.For)]
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            for kind, detail in _meaning(node, reach, awaited=id(node) in awaited, in_loop=_inside(node, loops)):
                yield _fact(kind, reach, node.lineno, detail)
        elif isinstance(node, ast.Assign) and (limit := _limit(node)):
            yield _fact("timeout", reach, node.lineno, limit)
    if longest := _longest_command(function):
        yield _fact("timeout", reach, longest.lineno, f"command {ast.unparse(longest.args[0])}")


def module_facts(module: Module) -> Iterator[CodeFact]:
    """Thread pools that a module makes for all its callers."""
    for node in module.tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and last_name(call.func) == "ThreadPoolExecutor":
            size = _argument(call, "max_workers") or "default"
            yield CodeFact("executor", module.source, node.lineno, module.line(node.lineno), "", detail=size)


def _fact(kind: Kind, reach: Reach, line: int, detail: str) -> CodeFact:
    module = reach.module
    return CodeFact(kind, module.source, line, module.line(line), reach.function.name, reach.stage, None, detail)


def _meaning(call: ast.Call, reach: Reach, *, awaited: bool, in_loop: bool) -> Iterator[tuple[Kind, str]]:
    name, whole = last_name(call.func), dotted(call.func)
    on_loop = not reach.in_thread and (reach.function.is_async or bool(reach.stages))
    if name in _TO_THREAD:
        yield "executor", "default"
    elif name in _TO_LOOP:
        yield "executor", "shared"
        if any("generate" in last_name(a) for a in call.args):
            yield "generation", "blocks its thread"
    if name == "ThreadPoolExecutor":
        yield "executor", _argument(call, "max_workers") or "default"
    if whole == "time.sleep":
        yield ("poll" if in_loop else "blocks_loop" if on_loop else "holds_thread"), _argument(call, "") or "?"
    elif whole == "asyncio.sleep" and in_loop:
        yield "poll", _argument(call, "") or "?"
    elif _blocks(name, whole) and not awaited and on_loop:
        yield "blocks_loop", whole
    if name in _BARRIERS or whole == "asyncio.wait":
        yield "barrier", whole
    if name in _GENERATE and any(word in whole.lower() for word in _ENGINES):
        yield "generation", "awaited" if awaited else "not awaited"
    limits = [k for k in call.keywords if k.arg and "timeout" in k.arg and isinstance(k.value, ast.Constant)]
    if limits:
        yield "timeout", ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in limits)


def _blocks(name: str, whole: str) -> bool:
    closes_sandbox = name == "close" and whole.rpartition(".")[0].endswith("runtime")
    return name in _BLOCKING or closes_sandbox or whole.startswith(_BLOCKING_DOTTED)


def _argument(call: ast.Call, keyword: str) -> str:
    given = [k.value for k in call.keywords if k.arg == keyword] or call.args[:1]
    return ast.unparse(given[0]) if given else ""


def _limit(node: ast.Assign) -> str:
    """`timeout = 1200` -> `timeout=1200`."""
    name = last_name(node.targets[0])
    number = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float)
    return f"{name}={ast.unparse(node.value)}" if number and "timeout" in name.lower() else ""


def _longest_command(function: Function) -> ast.Call | None:
    """The call that gives a sandbox command its largest time limit; one stands for all of a function."""
    calls = [n for n in own_nodes(function) if isinstance(n, ast.Call) and last_name(n.func) == "set_hard_timeout"]
    stated = [c for c in calls if c.args and isinstance(c.args[0], ast.Constant) and isinstance(c.args[0].value, int)]
    return max(stated, key=lambda c: _number(c.args[0]), default=None)


def _number(node: ast.expr) -> float:
    return float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else 0.0


def _inside(node: ast.AST, loops: list[ast.While | ast.For]) -> bool:
    line = getattr(node, "lineno", 0)
    return any(loop.lineno < line <= (loop.end_lineno or 0) for loop in loops if isinstance(loop, ast.While))


def _closure(roots: set[str], named: dict[str, list[tuple[Module, Function]]]) -> list[Function]:
    seen: dict[int, Function] = {}
    waiting = [f for root in roots for _, f in named.get(root, [])]
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen[id(function)] = function
        waiting += [f for name in _mentioned(function) for _, f in named.get(name, []) if id(f) not in seen]
    return list(seen.values())


def _mentioned(function: Function) -> set[str]:
    """Names of our own functions that this one calls or hands on: plain names, methods of `self`, what it awaits."""
    names = set()
    awaited = {id(n.value) for n in own_nodes(function) if isinstance(n, ast.Await)}
    for node in own_nodes(function):
        if isinstance(node, ast.Call):
            whole = dotted(node.func)
            if "." not in whole or whole.startswith("self.") or id(node) in awaited:
                names.add(last_name(node.func))
            names |= {last_name(a) for a in node.args if isinstance(a, ast.Name | ast.Attribute)}
    return names - {""}


def _handed_to_threads(function: Function) -> Iterator[str]:
    for node in own_nodes(function):
        if isinstance(node, ast.Call) and last_name(node.func) in _TO_THREAD:
            yield from (last_name(a) for a in node.args if isinstance(a, ast.Name | ast.Attribute))
