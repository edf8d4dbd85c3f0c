"""Where the queues are made, filled, drained and joined, and which stage each one feeds.

A function that takes from one queue and puts into another is a link; three queues in a chain are init, run and eval,
whatever they are called. Without such a chain their names decide.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codex_skyrl.checkout.code import Function, Module, dotted, last_name, own_nodes
from codex_skyrl.checkout.facts import CodeFact, Kind
from codex_skyrl.report.model import STAGES, Stage

_MAKERS = {"Queue", "PriorityQueue", "LifoQueue", "SimpleQueue", "JoinableQueue"}
_USES: dict[str, Kind] = {
    "put": "queue_filled", "put_nowait": "queue_filled", "get": "queue_drained", "get_nowait": "queue_drained",
    "join": "queue_joined",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class QueueUse:
    """One place where code touches a queue."""

    kind: Kind
    queue: str
    function: Function | None
    line: int
    bound: str = ""


def queue_uses(module: Module) -> list[QueueUse]:
    """Every making and use of the queues that this module makes, in line order."""
    made = list(_made(module))
    names = {use.queue for use in made}
    used = [use for f in module.functions for use in _used(f, names)]
    return sorted([*made, *used], key=lambda use: use.line)


def stages_of(uses: Iterable[QueueUse]) -> dict[str, Stage]:
    """Queue name -> stage."""
    uses = list(uses)
    order = _chain({(a, b) for a, b in _links(uses) if a != b})
    if len(order) == len(STAGES):
        return dict(zip(order, STAGES, strict=True))
    named = {use.queue: stage for use in uses for stage in STAGES if stage in use.queue.lower().rpartition(".")[2]}
    return named if len(named) == len(STAGES) else {}


def facts_of(module: Module, uses: Iterable[QueueUse], stages: dict[str, Stage]) -> Iterator[CodeFact]:
    """The uses of staged queues as facts; `detail` is the queue's bound."""
    uses = list(uses)
    bounds = {use.queue: use.bound for use in uses if use.kind == "queue_made"}
    for use in uses:
        if use.queue in stages:
            function = use.function.name if use.function else ""
            yield CodeFact(
                use.kind, module.source, use.line, module.line(use.line), function, stages[use.queue], use.queue,
                bounds.get(use.queue, ""),
            )  # fmt: skip


def _made(module: Module) -> Iterator[QueueUse]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            if last_name(node.value.func) not in _MAKERS:
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if name := dotted(target):
                    yield QueueUse("queue_made", name, module.function_at(node.lineno), node.lineno, _bound(node.value))


def _bound(call: ast.Call) -> str:
    """The text of the bound; "" when the queue is unbounded."""
    given = [k.value for k in call.keywords if k.arg == "maxsize"] or call.args[:1]
    text = ast.unparse(given[0]) if given else ""
    return "" if text == "0" else text


def _used(function: Function, names: set[str]) -> Iterator[QueueUse]:
    for node in own_nodes(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _USES:
            queue = dotted(node.func.value)
            if queue in names:
                yield QueueUse(_USES[node.func.attr], queue, function, node.lineno)


def _links(uses: list[QueueUse]) -> Iterator[tuple[str, str]]:
    for taken in uses:
        if taken.kind == "queue_drained" and taken.function is not None:
            for filled in uses:
                if filled.kind == "queue_filled" and filled.function == taken.function:
                    yield taken.queue, filled.queue


def _chain(links: set[tuple[str, str]]) -> list[str]:
    """The queues in order when the links form one simple chain, else nothing."""
    after = dict(links)
    starts = set(after) - set(after.values())
    if len(after) != len(links) or len(starts) != 1:
        return []
    order = [starts.pop()]
    while order[-1] in after and len(order) <= len(links):
        order.append(after[order[-1]])
    return order
