"""The report as one HTML file that needs nothing else: words and tables by a template that escapes, charts by plotly.

Foreign text reaches the page only through the escaping template or as escaped labels. Imported only where it is used.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.report import figures, phrases, tables, words
from codex_skyrl.report.charts import Drawn, drawn
from codex_skyrl.report.checks import checks_of
from codex_skyrl.report.model import Diagnosis, OtherFinding, Stage
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.tables import Rows
from codex_skyrl.text import Lang, Text
from codex_skyrl.whatif.how import how_of
from codex_skyrl.whatif.predict import Prediction

_STEPS_WITH_BUTTONS = 12


def to_html(diagnosis: Diagnosis, case: Case, foretold: Sequence[Prediction]) -> str:
    """The whole page. `foretold`: what-if predictions, best first.

    Raises:
        InputError: when plotly is not installed.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_neutral)
    template = environment.from_string(files("codex_skyrl.report").joinpath("page.html.j2").read_text(encoding="utf-8"))
    charts = drawn(case, diagnosis)
    page = template.render(**_words_of(diagnosis), **_tables_of(diagnosis), **_helpers(diagnosis), charts=_safe(charts),
                           steps=_steps(case), ranking=_ranking(foretold, case, diagnosis.lang))  # fmt: skip
    library = f"<script>{charts.library}</script>\n</head>" if charts.library else "</head>"
    return page.replace("</head>", library, 1)


def _neutral(value: Any) -> Any:
    """Control and direction-changing characters are shown as escapes; markup made here is left alone."""
    return neutral(value) if type(value) is str else value


def _safe(charts: Drawn) -> dict[str, Any]:
    from markupsafe import Markup

    return {"html": Markup(charts.html), "notes": charts.notes}


def _words_of(d: Diagnosis) -> dict[str, Any]:
    lang = d.lang
    report = d.report
    named = {
        "why": words.WHY, "naive": words.NAIVE, "also": words.ALSO, "timeline": words.TIMELINE, "matrix": words.MATRIX,
        "steps": words.STEPS, "missing": words.MISSING, "further": words.FURTHER, "inputs": words.INPUTS, "model": words.MODEL,
        "verified": words.VERIFIED, "unverified": words.UNVERIFIED, "everything": Text("everything", "全部"),
        "thinned": Text("Thinned out for size:", "为控制大小作了抽稀："), "ranking": Text("What one change would bring (replayed)", "只改一项会怎样（重放预测）"),
    }  # fmt: skip
    cited = [e for i in dict.fromkeys(d.verdict.evidence) for e in d.evidence if e.id == i]
    return {
        "d": d,
        "w": {
            **{k: t.to(lang) for k, t in named.items()},
            "questions": {n: t.to(lang) for n, t in words.QUESTIONS.items()},
        },
        "title": phrases.verdict_line(d.verdict, lang),
        "verdict_line": phrases.verdict_line(d.verdict, lang),
        "first_step": phrases.first_step(d),
        "cited": cited,
        "others": [e for e in d.evidence if e not in cited],
        "overlap": _overlap(d),
        "limits": {stage: _limit(d, stage) for stage in ("init", "eval")},
        "checks": {stage: checks_of(stage, d.verdict.cause) for stage in ("init", "eval")},
        "engine_line": phrases.engine_line(d),
        "model_line": phrases.model_line(report, d.verdict, lang) if report else "",
        "tally": phrases.tally(report, lang) if report else "",
        "model_summary": phrases.summary_line(report, lang) if report else "",
        "model_experiment": phrases.model_experiment(report.experiment, lang) if report and report.experiment else "",
        "model_details": phrases.model_experiment_details(report.experiment, lang)
        if report and report.experiment
        else [],
    }


def _overlap(d: Diagnosis) -> str:
    """The third answer: what breaks the overlap, or that nothing was found to."""
    broken = (
        [d.verdict.summary]
        if d.verdict.bottleneck == "sync"
        else [o.summary for o in d.verdict.also if o.bottleneck == "sync"]
    )
    if broken:
        return " ".join(broken)
    return Text(
        "Nothing in the logs shows a barrier, a thread cap or a blocked event loop that keeps the stages from overlapping, beyond "
        "the end of each step, which waits for all trajectories.",
        "日志中没有发现阻止各阶段重叠的同步点、线程上限或被阻塞的事件循环；只有每个 step 的结尾会等待所有轨迹。",
    ).to(d.lang)


def _limit(d: Diagnosis, stage: Stage) -> str:
    queue = f"{stage}_queue"
    if d.verdict.bottleneck == stage:
        return Text(
            f"{queue} is the limit. The likeliest causes, and how to tell:", f"瓶颈在 {queue}。最可能的原因及验证方法："
        ).to(d.lang)
    return Text(
        f"{queue} is not what limits this run. Where it is high elsewhere, these are the likeliest causes:",
        f"这次运行的瓶颈不在 {queue}。如果它在别处偏高，最可能的原因是：",
    ).to(d.lang)


def _tables_of(d: Diagnosis) -> dict[str, Any]:
    return {
        "t": {
            "queues": tables.queues(d),
            "stages": tables.stages(d),
            "matrix": tables.matrix(d),
            "steps": tables.steps(d),
        },
        "code_groups": phrases.code_groups(d),
    }


def _helpers(diagnosis: Diagnosis) -> dict[str, Any]:
    from markupsafe import Markup, escape

    lang, known = diagnosis.lang, {e.id for e in diagnosis.evidence}

    def table(rows: Rows | None) -> Markup:
        if rows is None:
            return Markup("<p>–</p>")
        head = "".join(
            f'<th class="{side}">{escape(neutral(h))}</th>' for h, side in zip(rows.headers, rows.align, strict=True)
        )
        body = "".join(
            f'<tr class="{"strong" if n in rows.strong else ""}">'
            + "".join(f'<td class="{side}">{_cell(c)}</td>' for c, side in zip(cells, rows.align, strict=True))
            + "</tr>"
            for n, cells in enumerate(rows.cells)
        )
        note = f'<p class="soft">{escape(rows.note)}</p>' if rows.note else ""
        return Markup(f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>{note}')

    def links(ids: Sequence[str]) -> Markup:
        """An id that a model made up leads nowhere, so it is no link."""
        linked = Markup('<a href="#{0}">{0}</a>')
        return Markup(", ").join(linked.format(i) if i in known else escape(neutral(i)) for i in ids)

    def cause(other: OtherFinding) -> str:
        topic = words.BOTTLENECKS[other.bottleneck] if other.cause == "none" else words.CAUSES[other.cause]
        return phrases.capital(topic.to(lang)) + phrases.colon(lang)

    return {
        "table": table, "links": links, "cause": cause, "place": phrases.place, "change": phrases.knob_change,
        "predicted": lambda e: phrases.predicted(e, lang) if phrases.has_prediction(e) else "",
        "input_line": lambda i: phrases.input_line(i, lang),
    }  # fmt: skip


def _cell(text: str) -> Any:
    """Evidence ids are links, everything else is escaped."""
    from markupsafe import Markup, escape

    parts = text.split(", ")
    if parts and all(p[:1] in ("E", "C") and p[1:].isdigit() for p in parts):
        return Markup(", ").join(Markup('<a href="#{0}">{0}</a>').format(p) for p in parts)
    return escape(neutral(text))


def _steps(case: Case) -> list[dict[str, Any]]:
    """Buttons that zoom to a step, in minutes on the charts' axis."""
    if not case.steps:
        return []
    zero = case.steps[0].begin_s
    return [
        {"number": s.number, "begin": round((s.begin_s - zero) / 60, 2), "end": round((s.end_s - zero) / 60, 2)}
        for s in case.steps[:_STEPS_WITH_BUTTONS]
    ]


def _ranking(foretold: Sequence[Prediction], case: Case, lang: Lang) -> list[dict[str, Any]]:
    """Rows of the what-if table; places are percent of a scale from -100 % to +30 %."""

    def place(pct: float) -> float:
        return round(100 * (min(30.0, max(-100.0, pct)) + 100) / 130, 1)

    return [
        {
            "experiment": p.asked, "change": figures.change(p.change_pct), "low": figures.change(p.low_pct), "high": figures.change(p.high_pct),
            "left": place(p.low_pct), "width": max(0.5, round(place(p.high_pct) - place(p.low_pct), 1)), "at": place(p.change_pct),
            "how": how_of(p.knob, case.knobs, case.checkout).to(lang),
        }
        for p in foretold
    ]  # fmt: skip
