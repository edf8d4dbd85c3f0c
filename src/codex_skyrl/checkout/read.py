"""Recognises a checkout of SkyRL-v0 or of its successor and reads it: AST, YAML and launch scripts. Runs nothing."""

import ast
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from codex_skyrl.checkout.code import Module, parse
from codex_skyrl.checkout.facts import Checkout, CodeFact, Layout, Slice, WorkerCount
from codex_skyrl.checkout.launch import Knob, Knobs, knobs_in
from codex_skyrl.checkout.queues import QueueUse, facts_of, queue_uses, stages_of
from codex_skyrl.checkout.settings import settings_in
from codex_skyrl.checkout.waits import Reach, module_facts, reached, waits_of
from codex_skyrl.checkout.workers import worker_counts
from codex_skyrl.report.model import Stage

_MARKS: dict[Layout, tuple[str, ...]] = {
    "skyrl-v0": ("verl/workers/agentic",),
    "skyrl-agent": ("skyrl_agent/dispatcher", "skyrl-agent/skyrl_agent/dispatcher"),
}
_PYTHON: dict[Layout, tuple[str, ...]] = {
    "skyrl-v0": (
        "verl/workers/agentic/**/*.py", "SkyRL-OpenHands/openhands/utils/async_utils.py",
        "SkyRL-OpenHands/openhands/core/loop.py", "SkyRL-OpenHands/openhands/core/main.py",
        "SkyRL-OpenHands/openhands/runtime/impl/remote/remote_runtime.py",
    ),
    "skyrl-agent": ("skyrl_agent/dispatcher/**/*.py", "skyrl_agent/agents/**/*.py", "skyrl_agent/tasks/swebench/**/*.py"),
}  # fmt: skip
_YAML: dict[Layout, tuple[str, ...]] = {
    "skyrl-v0": ("verl/trainer/config/ppo_trainer.yaml",),
    "skyrl-agent": ("examples/**/*.yaml", "skyrl_agent/**/*.yaml"),
}
_SCRIPTS = ("*.sh", "examples/**/*.sh", "scripts/**/*.sh")
_MOST_FILES = 400
_AROUND = ("run", "step", "generate", "generate_sequences")
_HELPERS = ("call_sync_from_async", "call_async_from_sync", "run_agent_until_done")
_STAGE_ARGUMENTS: dict[str, Stage] = {"init_fn": "init", "run_fn": "run", "eval_fn": "eval"}


def find_checkout(here: Path) -> tuple[Path, Layout] | None:
    """The checkout that holds a folder, going up; None when it is in none."""
    for folder in (here, *here.parents):
        for layout, marks in _MARKS.items():
            for mark in marks:
                if (folder / mark).is_dir():
                    return (folder / "skyrl-agent" if mark.startswith("skyrl-agent/") else folder), layout
    return None


def read_checkout(here: Path) -> Checkout | None:
    """Everything a checkout tells about its rollout pipeline; None when `here` lies in no checkout."""
    found = find_checkout(here.resolve())
    if found is None:
        return None
    root, layout = found
    paths = _files(root, _PYTHON[layout])
    modules = [m for path in paths if (m := parse(path, _shown(path, root))) is not None]
    unread = {_shown(p, root) for p in paths} - {m.source for m in modules}
    defaults = Knobs(tuple(k for p in _files(root, _YAML[layout]) for k in settings_in(p, _shown(p, root))))
    scripts = Knobs(tuple(k for p in _files(root, _SCRIPTS) for k in _script(p, _shown(p, root))))
    facts, workers, slices = _pipeline(modules, [*defaults.found, *scripts.found])
    return Checkout(str(root), layout, facts, workers, defaults, scripts, slices, tuple(sorted(unread)))


def _pipeline(
    modules: list[Module], settings: list[Knob]
) -> tuple[tuple[CodeFact, ...], tuple[WorkerCount, ...], tuple[Slice, ...]]:
    """The module with the three queues first; where they are, decides what the rest means."""
    facts: list[CodeFact] = []
    workers: list[WorkerCount] = []
    roots: dict[Stage, set[str]] = {}
    for module in modules:
        uses = queue_uses(module)
        stages = stages_of(uses)
        facts += facts_of(module, uses, stages)
        drains = _drains(uses, stages)
        for name, stage in drains.items():
            roots.setdefault(stage, set()).add(name)
        workers += worker_counts(module, drains, modules, settings)
    for stage, name in _handed_by_name(modules):
        roots.setdefault(stage, set()).add(name)
    reach = reached(modules, roots)
    homes = {(f.source, f.function) for f in facts if f.kind == "queue_made"}
    facts += [f for r in reach if r.stages or _central(r, homes) for f in waits_of(r)]
    facts += [f for m in modules for f in module_facts(m)]
    ordered = sorted(set(facts), key=lambda f: (f.source, f.line, f.kind))
    counted = {(w.source, w.line) for w in workers} | {w.divided_at for w in workers if w.divided_at}
    places = {(f.source, f.line) for f in ordered if f.kind != "timeout"} | counted
    return tuple(ordered), tuple(workers), tuple(_slices(modules, places))


def _central(reach: Reach, homes: set[tuple[str, str]]) -> bool:
    """The function that makes the queues, and the named ones near it that run it, generate, or hand work to threads."""
    source = reach.module.source
    if (source, reach.function.name) in homes:
        return True
    near = any(PurePosixPath(home).is_relative_to(PurePosixPath(source).parent) for home, _ in homes)
    return (near and reach.function.short in _AROUND) or reach.function.short in _HELPERS


def _drains(uses: Iterable[QueueUse], stages: dict[str, Stage]) -> dict[str, Stage]:
    return {
        use.function.short: stages[use.queue]
        for use in uses
        if use.kind == "queue_drained" and use.function is not None and use.queue in stages
    }


def _handed_by_name(modules: list[Module]) -> Iterable[tuple[Stage, str]]:
    """The successor's dispatcher calls its stages by name: `init_fn = "initialize_trajectory"`."""
    for module in modules:
        for node in ast.walk(module.tree):
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id in _STAGE_ARGUMENTS:
                    yield _STAGE_ARGUMENTS[target.id], node.value.value


def _slices(modules: list[Module], places: set[tuple[str, int]]) -> Iterable[Slice]:
    """Whole outermost functions around the places, each once, in order of files and lines."""
    for module in modules:
        wanted = {line for source, line in places if source == module.source}
        functions = {f.lines: f for line in wanted if (f := module.outermost_at(line)) is not None}
        for first, last in sorted(functions):
            name = functions[first, last].name
            yield Slice(module.source, first, last, name, module.text[first - 1 : last])


def _script(path: Path, source: str) -> list[Knob]:
    try:
        return knobs_in(path.read_text(encoding="utf-8", errors="replace"), source)
    except OSError:
        return []


def _files(root: Path, patterns: Iterable[str]) -> list[Path]:
    found = {p for pattern in patterns for p in root.glob(pattern) if p.is_file()}
    return sorted(found)[:_MOST_FILES]


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
