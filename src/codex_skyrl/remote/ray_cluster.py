"""Reads logs where they lie: one task on each node of a Ray cluster lists them, one reads them; only tables come back.

A node that is lost, or a file that cannot be read, is told as `Lost` and costs nothing else: what another node sees as well
(a shared disk) is read there instead. Ray is imported here only, and only when it is asked for.
"""

import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import codex_skyrl
from codex_skyrl.errors import InputError
from codex_skyrl.remote import on_node
from codex_skyrl.remote.cluster import tell
from codex_skyrl.remote.columns import Broken
from codex_skyrl.remote.nodes import Lost
from codex_skyrl.remote.on_node import Listed
from codex_skyrl.remote.taken import decode
from codex_skyrl.text import Text

_OLDEST = (2, 3)
_LACKING = "No module named 'codex_skyrl'"
_ANSWER_S = 10.0
_PATIENCE_S = 1.0  # how often a wait looks up

Say = Callable[[str, str], None]  # English, Chinese


@dataclass(frozen=True, slots=True)
class _Node:
    id: str
    name: str


def main(address: str, *arguments: str) -> None:
    """Run by `cluster.read_cluster`, which reads what is told on the standard output."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints is none of ours

    def say(en: str, zh: str) -> None:
        tell(out, "say", en, zh)

    try:
        tables, lost = _read_cluster(_ray(), address, arguments, say)
    except InputError as error:
        tell(out, "error", error.what, error.where, error.fix)
        return
    for table in tables:
        tell(out, "table", len(table), data=table)
    for one in lost:
        tell(out, "lost", one.name, one.why.en, one.why.zh)
    tell(out, "end")


def _read_cluster(ray: ModuleType, address: str, arguments: Sequence[str], say: Say) -> tuple[list[bytes], list[Lost]]:
    _connect(ray, address)
    nodes, lost = _nodes(ray)
    say(f"looking for logs on {_several(len(nodes), 'node')}", f"正在 {len(nodes)} 个节点上查找日志")
    wanted = list(arguments), str(Path.cwd())
    listed, gone = _on_each(ray, on_node.logs_here, dict.fromkeys(nodes, wanted))
    if any(_LACKING in why.en for why in gone.values()):
        say("some lack codex-skyrl: sending it along", "有的节点没有 codex-skyrl：随任务发送")
        ray.shutdown()
        _connect(ray, address, py_modules=[str(Path(codex_skyrl.__file__).parent)])
        listed, gone = _on_each(ray, on_node.logs_here, dict.fromkeys(nodes, wanted))
    lost += [Lost(node.name, why) for node, why in gone.items()]
    lost += [Lost(node.name, _nothing_found(why)) for node, (found, why) in listed.items() if not found]
    tables, more = _read(ray, {node: found for node, (found, _) in listed.items() if found}, say)
    lost += more
    if not tables:
        told = "; ".join(f"{one.name}: {one.why.en}" for one in lost) or "it has no nodes"
        raise InputError(
            f"no logs could be read on this cluster ({told}).", where=f"--ray {address}",
            fix="Name log files or globs as they are on the nodes: codex-skyrl diagnose PATH... --ray",
        )  # fmt: skip
    return tables, lost


def _ray() -> ModuleType:
    try:
        import ray
    except ImportError as error:
        raise InputError("needs Ray.", where="--ray", fix="Run: pip install 'codex-skyrl[ray]'") from error
    version = tuple(int(part) for part in ray.__version__.split(".")[:2])
    if version < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise InputError(f"needs Ray {oldest} or newer, this is {ray.__version__}.", where="--ray",
                         fix="Collect a bundle on each node instead: codex-skyrl collect")  # fmt: skip
    return ray


def _connect(ray: ModuleType, address: str, **runtime_env: list[str]) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if host and port.isdigit():
            socket.create_connection((host, int(port)), _ANSWER_S).close()  # Ray would wait much longer
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="critical",
            configure_logging=False,
            runtime_env=runtime_env,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise SystemExit(" ".join(str(error).split())[:300] or type(error).__name__) from error


def _nodes(ray: ModuleType) -> tuple[list[_Node], list[Lost]]:
    """The living nodes under names that differ, and the dead ones."""
    alive = [n for n in ray.nodes() if n["Alive"]]
    dead = [n for n in ray.nodes() if not n["Alive"]]
    names = [_name(n) for n in alive]
    nodes = [
        _Node(n["NodeID"], name if names.count(name) == 1 else f"{name}-{n['NodeID'][:6]}")
        for n, name in zip(alive, names, strict=True)
    ]
    before = Text("the node is dead: its logs are not in this report", "节点已失效：报告中没有它的日志")
    return nodes, [Lost(_name(n), before) for n in dead]


def _name(node: Mapping[str, Any]) -> str:
    return str(
        node.get("NodeName") or node.get("NodeManagerHostname") or node.get("NodeManagerAddress") or node["NodeID"]
    )


def _read(ray: ModuleType, listed: Mapping[_Node, Sequence[Listed]], say: Say) -> tuple[list[bytes], list[Lost]]:
    """Every source once; of those that a lost node was to read, the ones that another node sees as well."""
    wanted: dict[str, dict[_Node, Listed]] = {}
    for node, found in listed.items():
        for source in found:
            wanted.setdefault(source[3], {})[node] = source
    tables: dict[str, bytes] = {}
    lost: list[Lost] = []
    dead: dict[_Node, Text] = {}
    while wanted:
        work = _shared_out(wanted, dead)
        if not work:
            break
        logs = sum(map(len, work.values()))
        size = f"{sum(s[2] for own in work.values() for s in own.values()) / 1e6:,.0f}"
        say(
            f"reading {_several(logs, 'log')} ({size} MB) on {_several(len(work), 'node')}",
            f"正在 {len(work)} 个节点上读取 {logs} 个日志（{size} MB）",
        )
        tasks = {node: (node.name, [(s[0], s[1]) for s in own.values()]) for node, own in work.items()}
        done, gone = _on_each(ray, on_node.read_here, tasks)
        dead.update(gone)
        for node, answers in done.items():
            for identity, (name, data, why) in zip(work[node], answers, strict=True):
                del wanted[identity]
                try:
                    if data is None:
                        raise Broken(why)
                    tables[decode(data).name] = data
                except Broken as error:
                    lost.append(
                        Lost(f"{node.name}:{name}", Text(f"it could not be read: {error}", f"无法读取：{error}"))
                    )
    for node, why in dead.items():
        names = [s[0] for holders in wanted.values() for holder, s in holders.items() if holder == node]
        lost.append(Lost(node.name, _with_logs(why, ", ".join(names))))
    return [tables[name] for name in sorted(tables)], lost


def _shared_out(
    wanted: Mapping[str, Mapping[_Node, Listed]], dead: Mapping[_Node, Text]
) -> dict[_Node, dict[str, Listed]]:
    """Which node reads which source: those that only it sees, of the others an even share of the bytes."""
    work: dict[_Node, dict[str, Listed]] = {}
    load: dict[_Node, int] = {}
    for identity, holders in sorted(wanted.items(), key=lambda item: (len(item[1]), item[0])):
        living = [node for node in holders if node not in dead]
        if not living:
            continue
        node = min(living, key=lambda n: (load.get(n, 0), n.name))
        work.setdefault(node, {})[identity] = holders[node]
        load[node] = load.get(node, 0) + holders[node][2]
    return work


def _on_each(
    ray: ModuleType, task: Callable[..., Any], work: Mapping[_Node, Sequence[Any]]
) -> tuple[dict[_Node, Any], dict[_Node, Text]]:
    """Run `task` once on each node; the answers, and why there is none."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def start(node: _Node) -> Any:
        here = NodeAffinitySchedulingStrategy(node.id, soft=False)
        options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": here}
        return ray.remote(task).options(**options).remote(*work[node])

    running = {start(node): node for node in work}
    done: dict[_Node, Any] = {}
    gone: dict[_Node, Text] = {}
    while running:
        ready, _ = ray.wait(list(running), num_returns=1, timeout=_PATIENCE_S)
        for answer in ready:
            node = running.pop(answer)
            try:
                done[node] = ray.get(answer)
            except ray.exceptions.RayError as error:
                gone[node] = _why(ray, error)
        alive = {n["NodeID"] for n in ray.nodes() if n["Alive"]}
        for answer, node in list(running.items()):
            if node.id not in alive:
                del running[answer]
                gone[node] = _NODE_LOST
    return done, gone


_NODE_LOST = Text("the node was lost while its logs were read", "读取日志时节点丢失")


def _why(ray: ModuleType, error: Exception) -> Text:
    lost = (ray.exceptions.WorkerCrashedError, ray.exceptions.ObjectLostError, ray.exceptions.RaySystemError)
    if isinstance(error, lost) or type(error).__name__ in ("NodeDiedError", "TaskUnschedulableError"):
        return _NODE_LOST
    cause = getattr(error, "cause", None) or error
    said = " ".join(str(cause).split())[-300:]
    return Text(f"its task failed: {type(cause).__name__}: {said}", f"任务失败：{type(cause).__name__}：{said}")


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _with_logs(why: Text, names: str) -> Text:
    if not names:
        return why
    return Text(f"{why.en}; not in this report: {names}", f"{why.zh}；报告中没有：{names}")


def _nothing_found(why: str) -> Text:
    return Text(f"it has none of these logs ({why})", f"这里没有这些日志（{why}）")


if __name__ == "__main__":
    main(*sys.argv[1:])
