"""The parts a pack is made of: series, figures, evidence, settings, whole functions. Each knows its place and its rank."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from codex_skyrl.checkout.facts import Checkout, Slice
from codex_skyrl.checkout.launch import Knob, Knobs
from codex_skyrl.report.model import COMPUTED, STAGES, Diagnosis, Evidence, Queue, StageFigures, Timeline
from codex_skyrl.report.neutral import neutral
from codex_skyrl.text import Lang, Text

QUEUES, WORKERS, SERVER, STORES = range(4)  # sections, in the mission's order of reading

_POINTS = 12  # of a time series
_SERIES = 3  # steps whose series are shown
_STEPS = 40  # steps whose makespans are listed
_SETTINGS = 24
_LLM = re.compile(r"#running-req|Avg (?:prompt|generation) throughput|Retract|Running: \d+ reqs")
_CONTAINERS = re.compile(
    r"\b(?:Pull(?:ed|ing)|image|kubelet|Failed(?:Scheduling|Mount)|BackOff|overlayfs|containerd)\b"
)
_BESIDES = (
    "tensor_model_parallel_size", "n_gpus_per_node", "nnodes", "n_trajectories", "train_batch_size", "max_iterations",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """`rank`: the smaller, the sooner it is taken. `section`, `order`: where it stands."""

    rank: int
    section: int
    order: int
    what: str
    text: str
    ids: tuple[str, ...] = ()
    instead_of: str | None = None  # a longer form of that part


# -- figures --------------------------------------------------------------------------------------------------------
def series_parts(diagnosis: Diagnosis) -> Iterator[Part]:
    """The longest step and the first and last ones: depth of each queue, workers serving, at even moments."""
    steps = diagnosis.timelines
    longest = max(steps, key=lambda t: t.sample_s, default=None)
    picked = {t.step: t for t in (longest, *steps[:1], *steps[-1:]) if t is not None}
    for order, line in enumerate(sorted(picked.values(), key=lambda t: t.step)[:_SERIES]):
        yield Part(1, QUEUES, order - 100, f"series of step {line.step}", _table(line))


def _table(line: Timeline) -> str:
    every = max(1, len(line.depth.init or line.depth.run or line.depth.eval or [0]) // _POINTS)
    rows = [f"step {line.step}, one value each {line.sample_s * every:.0f} s:"]
    for name, found in (("depth", line.depth), ("serving", line.serving), ("held by a full queue", line.blocked)):
        for stage in STAGES:
            values = getattr(found, stage)
            if values is not None and (name != "held by a full queue" or any(values)):
                rows.append(f"  {stage} {name}: {' '.join(map(str, values[every // 2 :: every]))}")
    return "\n".join(rows)


def figures_as_evidence(diagnosis: Diagnosis) -> list[Evidence]:
    """Queue figures, stage figures and makespans with ids of their own, so that answers can cite them."""
    lang = diagnosis.lang
    said = [_queue(stage, getattr(diagnosis.queues, stage), lang) for stage in STAGES]
    said += [_stage(stage, getattr(diagnosis.stages, stage), lang) for stage in STAGES]
    times = [(s.step, s.makespan_s) for s in diagnosis.steps[-_STEPS:] if s.makespan_s is not None]
    if times:
        listed = "; ".join(f"step {n}: {t:.1f}" for n, t in times)
        said.append(Text(f"makespan in seconds: {listed}", f"各 step 总时长（秒）：{listed}").to(lang))
    first = 1 + _last_number(diagnosis, "E")
    return [
        Evidence(id=f"E{n}", kind="metric", source=COMPUTED, says=says)
        for n, says in enumerate((s for s in said if s), first)
    ]


def _queue(stage: str, queue: Queue, lang: Lang) -> str:
    said = [
        _value(Text("maximum depth", "最大深度"), queue.max_depth, "", lang),
        _value(Text("mean wait", "平均等待"), queue.mean_wait_s, " s", lang),
        _value(Text("consumed", "消费"), queue.consumption_per_min, Text(" a minute", " 个/分钟").to(lang), lang),
    ]
    return _joined(f"{stage}_queue", said, lang)


def _stage(stage: str, figures: StageFigures, lang: Lang) -> str:
    def share(of: float | None) -> float | None:
        return None if of is None else round(100 * of, 1)

    said = [
        _value(Text("workers", "worker 数"), figures.workers, "", lang),
        _value(Text("busy", "忙碌"), share(figures.utilisation), " %", lang),
        _value(Text("held by a full queue", "被满队列阻塞"), share(figures.blocked), " %", lang),
        _value(Text("without an item", "空等"), share(figures.starved), " %", lang),
        _value(Text("median service time", "服务时间中位数"), figures.service_p50_s, " s", lang),
        _value(Text("95th percentile", "95 分位"), figures.service_p95_s, " s", lang),
        _value(Text("completed", "完成"), figures.completed, "", lang),
        _value(Text("failed", "失败"), figures.failed, "", lang),
    ]
    return _joined(Text(f"{stage} stage", f"{stage} 阶段").to(lang), said, lang)


def _joined(head: str, said: list[str], lang: Lang) -> str:
    known = [s for s in said if s]
    return f"{head}{Text(': ', '：').to(lang)}{Text(', ', '，').to(lang).join(known)}" if known else ""


def _value(name: Text, value: float | None, unit: str, lang: Lang) -> str:
    return "" if value is None else f"{name.to(lang)} {value:g}{unit}"


def figure_parts(figures: Sequence[Evidence]) -> Iterator[Part]:
    for order, e in enumerate(figures):
        yield Part(0, QUEUES, order - 50, e.id, evidence_lines(e), (e.id,))


# -- evidence of the diagnosis ----------------------------------------------------------------------------------------
def evidence_parts(diagnosis: Diagnosis, around: Mapping[tuple[str, int], str]) -> Iterator[Part]:
    """What the verdict cites first, then the matrix and the stages' code, then the rest."""
    cited = set(diagnosis.verdict.evidence)
    matrix = {i for row in diagnosis.matrix for i in row.evidence}
    counted = {i for s in (diagnosis.checkout.stages if diagnosis.checkout else []) for i in s.evidence}
    kinds = {i.path: i.kind for i in diagnosis.inputs}
    for order, e in enumerate(diagnosis.evidence):
        rank = 0 if e.id in cited else 2 if e.id in counted or e.id in matrix or e.kind == "code" else 3
        section = _section(e, kinds.get(e.source, ""))
        yield Part(rank, section, order, e.id, evidence_lines(e), (e.id,))
        near = _near(e, around)
        if near and e.id in cited:
            yield Part(6, section, order, f"{e.id}+", f"{evidence_lines(e)}\n{near}", (e.id,), instead_of=e.id)


def evidence_lines(e: Evidence) -> str:
    """One piece of evidence: what it says, and its words behind `>`."""
    place = e.source if e.line_start is None else f"{e.source}:{e.line_start}"
    head = f"{e.id} [{place}] {neutral(e.says)}"
    return f"{head}\n   > {neutral(e.quote)}" if e.quote else head


def _near(e: Evidence, around: Mapping[tuple[str, int], str]) -> str:
    """The lines beside it, behind `|`: to understand it by, not to be cited."""
    line = e.line_start or 0
    found = [(n, around[e.source, n]) for n in range(line - 2, line + 3) if n != line and around.get((e.source, n))]
    return "\n".join(f"   | {n}: {neutral(text)[:200]}" for n, text in found)


def _section(e: Evidence, kind: str) -> int:
    if e.kind == "code":
        return WORKERS
    if _LLM.search(e.quote) or "LLM" in e.says[:4]:
        return SERVER
    if "kubernetes" in kind or "container" in kind or (e.kind == "log" and _CONTAINERS.search(e.quote)):
        return STORES
    return QUEUES


# -- settings and code ------------------------------------------------------------------------------------------------
def settings_as_evidence(checkout: Checkout, used: Knobs, diagnosis: Diagnosis) -> list[Evidence]:
    """The lines that set workers and what divides them: defaults, and the launch script of the run (all, if unknown)."""
    behind = [w.setting for w in checkout.workers if w.setting]
    scripts = used.found or checkout.scripts.found
    wanted = list(dict.fromkeys([*behind, *_BESIDES]))
    found = [k for name in wanted for k in (*checkout.defaults.found, *scripts) if _is(k, name) and k.text]
    if not used.found:
        found = [k for k in found if k.source in {d.source for d in checkout.defaults.found} or k.name in behind]
    first = 1 + _last_number(diagnosis, "C")
    unique = list({(k.source, k.line): k for k in found}.values())[:_SETTINGS]
    says = Text("setting", "设置").to(diagnosis.lang)
    return [
        Evidence(
            id=f"C{n}", kind="code", source=k.source, line_start=k.line, line_end=k.line, quote=k.text,
            says=f"{says}: {k.key} = {k.value}",
        )
        for n, k in enumerate(unique, first)
    ]  # fmt: skip


def _is(knob: Knob, name: str) -> bool:
    return knob.name == name and ".val_kwargs." not in knob.key


def setting_parts(settings: Sequence[Evidence]) -> Iterator[Part]:
    for order, e in enumerate(settings):
        yield Part(1, WORKERS, 5_000 + order, e.id, evidence_lines(e), (e.id,))


def functions_as_evidence(checkout: Checkout, diagnosis: Diagnosis, first: int) -> list[tuple[Evidence, int]]:
    """Each whole function as evidence with an id from `C{first}` on, and how soon it should be taken."""
    behind = {
        (e.source, e.line_start) for e in diagnosis.evidence if e.kind == "code" and e.id in diagnosis.verdict.evidence
    }
    queues = {(f.source, f.line) for f in checkout.facts if f.queue}
    divided = {w.divided_at for w in checkout.workers}
    found = []
    for number, piece in enumerate(checkout.slices, first):
        rank = 1 if _holds(piece, queues) else 4 if _holds(piece, behind) or _holds(piece, divided) else 5
        found.append((_function(f"C{number}", piece), rank))
    return found


def _holds(
    piece: Slice, places: set[tuple[str, int]] | set[tuple[str, int | None]] | set[tuple[str, int] | None]
) -> bool:
    return any(p and p[0] == piece.source and piece.line <= (p[1] or 0) <= piece.line_end for p in places)


def _function(name: str, piece: Slice) -> Evidence:
    return Evidence(
        id=name, kind="code", source=piece.source, line_start=piece.line, line_end=piece.line_end,
        quote="\n".join(piece.lines), says=f"function {piece.function}",
    )  # fmt: skip


def function_parts(functions: Sequence[tuple[Evidence, int]]) -> Iterator[Part]:
    """Each line behind its number and `>`."""
    for order, (e, rank) in enumerate(functions):
        numbered = "\n".join(
            f"   {n} > {neutral(text)}" for n, text in enumerate(e.quote.split("\n"), e.line_start or 1)
        )
        head = f"{e.id} [{e.source}:{e.line_start}-{e.line_end}] {e.says}"
        what = f"{PurePath(e.source).name} {e.says.removeprefix('function ')}"
        yield Part(rank, WORKERS, 10_000 + order, what, f"{head}\n{numbered}", (e.id,))


def _last_number(diagnosis: Diagnosis, letter: str) -> int:
    return max((int(e.id[1:]) for e in diagnosis.evidence if e.id[:1] == letter and e.id[1:].isdigit()), default=0)
