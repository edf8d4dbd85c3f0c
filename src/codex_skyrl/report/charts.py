"""The charts of the HTML report, by plotly: all on one time axis, in minutes since the first step began.

Depth of the queues, busy workers, a lane for each trajectory, the LLM server, GPUs, containers. Colours are middle tones
that read on white and on black. What was thinned out is said in the notes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan
from typing import Any

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.errors import InputError
from codex_skyrl.logs.event import ClusterEvent
from codex_skyrl.pipeline.trajectory import Trajectory
from codex_skyrl.report.model import STAGES, Diagnosis, Stage
from codex_skyrl.report.neutral import neutral
from codex_skyrl.text import Lang, Text

COLOURS: dict[Stage, str] = {"init": "#3b82c4", "run": "#d97706", "eval": "#2f9e6e"}
_FAILED, _GREY = "#d13b4b", "#8a8f98"
_MOST_POINTS = 3_000  # of one line
_MOST_LANES = 1_500  # trajectories that are drawn
_TAIL = 0.02  # of a step's trajectories, the last to end: its stragglers


@dataclass(frozen=True, slots=True)
class Chart:
    """One row of the picture: plotly traces and the title of its y axis. `height`: share of the whole."""

    title: str
    traces: tuple[Any, ...]
    height: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plotly figure as HTML without the library, the library itself, and what was left out."""

    html: str
    library: str
    notes: tuple[str, ...]


def drawn(case: Case, diagnosis: Diagnosis) -> Drawn:
    """Everything on one axis.

    Raises:
        InputError: when plotly is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
        from plotly.subplots import make_subplots
    except ImportError:
        raise InputError(
            "the HTML report needs plotly.", where="--format html", fix="pip install 'codex-skyrl[html]'"
        ) from None
    lang, notes = diagnosis.lang, list[str]()
    charts = [c for c in _charts(case, diagnosis, notes) if c.traces]
    if not charts:
        return Drawn("", "", ())
    figure: Any = make_subplots(
        rows=len(charts), cols=1, shared_xaxes=True, vertical_spacing=0.035,
        row_heights=[c.height for c in charts], subplot_titles=[c.title for c in charts],
    )  # fmt: skip
    for row, chart in enumerate(charts, 1):
        for trace in chart.traces:
            figure.add_trace(trace, row=row, col=1)
    zero = case.steps[0].begin_s
    for step in case.steps:
        figure.add_vline((step.begin_s - zero) / 60, line={"color": _GREY, "width": 1, "dash": "dot"})
    height = 110 + round(170 * sum(c.height for c in charts))
    figure.update_layout(
        height=height, margin={"l": 56, "r": 12, "t": 40, "b": 40}, hovermode="closest", dragmode="zoom",
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"family": "system-ui, sans-serif", "size": 12},
        legend={"orientation": "h", "y": -0.06}, bargap=0,
    )  # fmt: skip
    figure.update_xaxes(title_text=Text("minutes", "分钟").to(lang), row=len(charts), col=1)
    figure.update_yaxes(rangemode="tozero")
    html = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id="timeline",
        config={"displaylogo": False, "responsive": True, "scrollZoom": False},
    )  # fmt: skip
    return Drawn(html, get_plotlyjs(), tuple(notes))


def _charts(case: Case, diagnosis: Diagnosis, notes: list[str]) -> Iterator[Chart]:
    lang = diagnosis.lang
    if not case.steps:
        return
    zero = case.steps[0].begin_s
    yield Chart(Text("Items in the queues", "队列中的任务数").to(lang), tuple(_depths(case, zero, lang, notes)), 1.2)
    yield Chart(Text("Busy workers", "忙碌的 worker").to(lang), tuple(_busy(case, diagnosis, zero, lang)), 1.0)
    yield Chart(
        Text("Trajectories (pale: waiting)", "轨迹（浅色为等待）").to(lang), tuple(_lanes(case, zero, lang, notes)), 2.6
    )
    yield Chart(Text("LLM server: requests", "LLM 服务：请求数").to(lang), tuple(_llm(case, zero, lang, notes)), 0.9)
    yield Chart(Text("LLM server: tokens/s", "LLM 服务：token/s").to(lang), tuple(_tokens(case, zero, notes)), 0.7)
    yield Chart(Text("GPU utilisation, %", "GPU 利用率，%").to(lang), tuple(_gpu(case, zero, notes)), 0.8)
    yield Chart(Text("Containers", "容器事件").to(lang), tuple(_containers(case, zero)), 0.7)


def _line(x: Sequence[float], y: Sequence[float | None], name: str, colour: str, **more: Any) -> Any:
    from plotly.graph_objects import Scatter

    fields = {"mode": "lines", "line": {"color": colour, "width": 1.6}, **more}
    return Scatter(x=[round(v, 3) for v in x], y=list(y), name=neutral(name), **fields)


def _thinned(
    x: list[float], y: list[float | None], what: str, notes: list[str]
) -> tuple[list[float], list[float | None]]:
    """At most `_MOST_POINTS`: of each group the highest stays."""
    if len(x) <= _MOST_POINTS:
        return x, y
    size = -(-len(x) // _MOST_POINTS)
    groups = [range(n, min(n + size, len(x))) for n in range(0, len(x), size)]
    picks = [max(group, key=lambda i: y[i] if y[i] is not None else -1.0) for group in groups]  # type: ignore[arg-type,return-value]
    notes.append(f"{what}: {len(x):,} -> {len(picks):,}")
    return [x[i] for i in picks], [y[i] for i in picks]


def _depths(case: Case, zero: float, lang: Lang, notes: list[str]) -> Iterator[Any]:
    for stage in STAGES:
        x: list[float] = []
        y: list[float | None] = []
        for step in case.steps:
            for at, depth in _summed(step, stage):
                x.append((at - zero) / 60)
                y.append(depth)
            x.append((step.end_s - zero) / 60)
            y.append(None)
        if any(y):
            x, y = _thinned(x, y, f"{stage}_queue", notes)
            line = {"color": COLOURS[stage], "width": 1.6, "shape": "hv"}
            yield _line(x, y, f"{stage}_queue", COLOURS[stage], line=line, legendgroup=stage)


def _summed(step: StepFacts, stage: Stage) -> list[tuple[float, int]]:
    """Items in all ranks' queues: the ranks' curves added up."""
    changes: list[tuple[float, int]] = []
    for p in step.pipelines:
        before = 0
        for at, depth in p.curves[stage]:
            changes.append((at, depth - before))
            before = depth
    total, curve = 0, list[tuple[float, int]]()
    for at, by in sorted(changes):
        total += by
        curve.append((at, max(0, total)))
    return curve


def _busy(case: Case, diagnosis: Diagnosis, zero: float, lang: Lang) -> Iterator[Any]:
    """Sampled, as the diagnosis has it."""
    begins = {s.number: s.begin_s for s in case.steps}
    for stage in STAGES:
        x: list[float] = []
        y: list[float | None] = []
        for line in diagnosis.timelines:
            values = getattr(line.serving, stage)
            if values is None or line.step not in begins:
                continue
            start = (begins[line.step] - zero) / 60
            x += [start + (n + 0.5) * line.sample_s / 60 for n in range(len(values))]
            y += values
            x.append(x[-1] if x else start)
            y.append(None)
        if any(y):
            name = Text(f"{stage} busy", f"{stage} 忙碌").to(lang)
            yield _line(x, y, name, COLOURS[stage], legendgroup=stage, showlegend=False)


def _lanes(case: Case, zero: float, lang: Lang, notes: list[str]) -> Iterator[Any]:
    """A row for each trajectory in the order of their starts, a segment for each stay."""
    every = [(s, t) for s in case.steps for p in s.pipelines for t in p.trajectories() if t.init.taken_s is not None]
    shown = every
    if len(every) > _MOST_LANES:
        kept = set(sorted(range(len(every)), key=lambda n: -_length(every[n][1]))[: _MOST_LANES // 3])
        kept |= set(range(0, len(every), -(-len(every) * 3 // (2 * _MOST_LANES))))
        shown = [every[n] for n in sorted(kept)]
        said = f"{len(shown):,} of {len(every):,} trajectories are drawn: the longest, and an even choice of the others"
        notes.append(
            Text(said, f"共 {len(every):,} 条轨迹，只画了 {len(shown):,} 条：最长的，以及均匀抽取的其余部分").to(lang)
        )
    lanes = [t for _, t in sorted(shown, key=lambda pair: (pair[0].number, pair[1].init.taken_s or 0.0))]
    for stage in STAGES:
        waits = [(n, v.ready_s, v.taken_s, t) for n, t in enumerate(lanes) if (v := t.visit(stage)).wait_s]
        works = [(n, v.taken_s, v.served_s, t) for n, t in enumerate(lanes) if (v := t.visit(stage)).service_s]
        yield _segments(waits, zero, f"{stage}_queue", stage, 1.5, 0.35)
        yield _segments(works, zero, stage, stage, 3.0, 1.0)
    ends = [
        (n, v, t) for n, t in enumerate(lanes) for s in STAGES if (v := t.visit(s)).failed and v.served_s is not None
    ]
    marks = [
        (n, (v.served_s - zero) / 60, f"{t.instance}, {t.number}: {v.error[:80]}") for n, v, t in ends if v.served_s
    ]
    yield _marks(marks, Text("failed", "失败").to(lang), _FAILED, "x")
    tails = [
        (n, (t.eval.served_s - zero) / 60, f"{t.instance}, {t.number}")
        for n, t in _stragglers(case, lanes)
        if t.eval.served_s
    ]
    yield _marks(tails, Text("last of its step", "该 step 最后结束").to(lang), _GREY, "triangle-left")


def _length(t: Trajectory) -> float:
    return (t.eval.served_s or t.run.served_s or 0.0) - (t.init.taken_s or 0.0)


def _stragglers(case: Case, lanes: Sequence[Trajectory]) -> Iterator[tuple[int, Trajectory]]:
    at = {id(t): n for n, t in enumerate(lanes)}
    for step in case.steps:
        ended = [t for p in step.pipelines for t in p.trajectories() if t.eval.served_s is not None]
        last = sorted(ended, key=lambda t: -(t.eval.served_s or 0.0))[: max(1, round(_TAIL * len(ended)))]
        yield from ((at[id(t)], t) for t in last if id(t) in at)


def _segments(
    stays: Sequence[tuple[int, Any, Any, Trajectory]], zero: float, name: str, stage: Stage, width: float, tone: float
) -> Any:
    x = list(chain.from_iterable(((a - zero) / 60, (b - zero) / 60, None) for _, a, b, _ in stays))
    y = list(chain.from_iterable((n, n, None) for n, *_ in stays))
    said = list(chain.from_iterable([_escaped(f"{neutral(t.instance)}, {t.number}")] * 2 + [""] for *_, t in stays))
    from plotly.graph_objects import Scatter

    return Scatter(
        x=[None if v is None else round(v, 2) for v in x], y=y, text=said, mode="lines", name=name, opacity=tone,
        line={"color": COLOURS[stage], "width": width}, hovertemplate="%{text}<br>%{x} min<extra>" + name + "</extra>",
        showlegend=False, legendgroup=stage,
    )  # fmt: skip


def _marks(marks: Sequence[tuple[int, float, str]], name: str, colour: str, symbol: str) -> Any:
    from plotly.graph_objects import Scatter

    return Scatter(
        x=[round(at, 2) for _, at, _ in marks], y=[n for n, _, _ in marks], text=[_escaped(neutral(text)) for *_, text in marks],
        mode="markers", name=name, marker={"color": colour, "symbol": symbol, "size": 8}, showlegend=bool(marks),
        hovertemplate="%{text}<extra>" + name + "</extra>",
    )  # fmt: skip


def _llm(case: Case, zero: float, lang: Lang, notes: list[str]) -> Iterator[Any]:
    for log in case.run.llm:
        who = f"{log.replica} " if log.replica else ""
        for name, values, colour in (("running", log.running, COLOURS["run"]), ("queued", log.queued, _FAILED)):
            x, y = _known(log.times, values, zero)
            if any(y):
                x, y = _thinned(x, y, f"LLM {name}", notes)
                word = {"running": Text("running", "运行中"), "queued": Text("queued", "排队")}[name].to(lang)
                yield _line(x, y, f"LLM {who}{word}", colour)


def _tokens(case: Case, zero: float, notes: list[str]) -> Iterator[Any]:
    for log in case.run.llm:
        x, y = _known(log.times, log.tokens_per_s, zero)
        if any(y):
            x, y = _thinned(x, y, "LLM tokens/s", notes)
            yield _line(x, y, f"{log.replica} tokens/s".strip(), COLOURS["run"], showlegend=False)


def _gpu(case: Case, zero: float, notes: list[str]) -> Iterator[Any]:
    for gpu in case.run.gpu:
        x, y = _known(gpu.times, gpu.percent, zero)
        x, y = _thinned(x, y, f"GPU {gpu.index}", notes)
        yield _line(x, y, f"GPU {gpu.index}", _GREY, showlegend=False, opacity=0.7)


def _known(times: Sequence[float], values: Sequence[float], zero: float) -> tuple[list[float], list[float | None]]:
    pairs = [((t - zero) / 60, v) for t, v in zip(times, values, strict=True) if not isnan(v)]
    return [t for t, _ in pairs], [v for _, v in pairs]


def _containers(case: Case, zero: float) -> Iterator[Any]:
    """Kubernetes and runtime events that have a time, a row for each reason."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for placed in case.run.bodies(ClusterEvent):
        body = placed.body
        if placed.time_s is not None and isinstance(body, ClusterEvent):
            reason = "Pulled (cached)" if body.reason == "Pulled" and body.cached else body.reason
            rows.setdefault(neutral(reason)[:24], []).append(((placed.time_s - zero) / 60, neutral(body.text)[:100]))
    from plotly.graph_objects import Scatter

    for reason, events in sorted(rows.items(), key=lambda pair: -len(pair[1]))[:8]:
        bad = any(word in reason for word in ("Fail", "BackOff", "Err"))
        yield Scatter(
            x=[round(at, 2) for at, _ in events[:_MOST_POINTS]], y=[reason] * min(len(events), _MOST_POINTS),
            text=[_escaped(text) for _, text in events[:_MOST_POINTS]], mode="markers", name=reason, showlegend=False,
            marker={"color": _FAILED if bad else COLOURS["init"], "size": 6, "symbol": "line-ns-open"},
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip


def _escaped(text: str) -> str:
    """Plotly reads a little HTML in labels; a log's brackets must stay brackets."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
