"""Two runs beside each other for reading: on the terminal and as Markdown, from the same sections."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Group, RenderableType

from codex_skyrl.report import figures
from codex_skyrl.report.blocks import Grid
from codex_skyrl.report.comparison import Comparison, FigureChange, SettingChange, StepTime
from codex_skyrl.report.markdown import prose, table
from codex_skyrl.report.prose import heading, item, paragraph
from codex_skyrl.report.tables import Rows
from codex_skyrl.text import Lang, Text

_JUDGEMENTS = {
    "better": Text("BETTER", "更好"),
    "worse": Text("WORSE", "更差"),
    "no_change": Text("No change", "没有变化"),
    "cannot_tell": Text("Can't tell", "无法判断"),
}
_MOVED = {
    "moved": Text("The bottleneck moved", "瓶颈转移了"),
    "not_moved": Text("The bottleneck did not move", "瓶颈没有转移"),
    "cannot_tell": Text("Whether the bottleneck moved can't be told", "无法判断瓶颈是否转移"),
}
_STYLES = {"better": "bold green", "worse": "bold red"}


@dataclass(frozen=True, slots=True)
class _Section:
    """`lead` stands out; `rows` is a table; `marks` are warnings."""

    title: Text | None
    lead: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    rows: Rows | None = None
    marks: tuple[str, ...] = ()


def view(comparison: Comparison) -> RenderableType:
    """For the terminal."""
    return Group(*_blocks(comparison))


def comparison_markdown(comparison: Comparison) -> str:
    """For an issue or a wiki page; ends with one line feed."""
    parts: list[str] = []
    for section in _sections(comparison):
        if section.title is not None:
            parts.append(f"## {section.title.to(comparison.lang)}")
        parts += [f"**{prose(text)}**" for text in section.lead]
        parts += [prose(text) for text in section.lines]
        if section.rows is not None:
            parts.append(table(section.rows))
        parts += [f"- **!** {prose(mark)}" for mark in section.marks]
    return "\n\n".join(parts) + "\n"


def _blocks(comparison: Comparison) -> Iterator[RenderableType]:
    style = _STYLES.get(comparison.step_time.judgement, "bold")
    for section in _sections(comparison):
        if section.title is not None:
            yield heading(section.title, comparison.lang)
        indent = 0 if section.title is None else 2
        yield from (paragraph(text, style, indent) for text in section.lead)
        yield from (paragraph(text, "", indent) for text in section.lines)
        if section.rows is not None:
            yield Grid(section.rows)
        yield from (item("!", mark) for mark in section.marks)


def _sections(c: Comparison) -> Iterator[_Section]:
    lang = c.lang
    yield _Section(None, (_step_line(c.step_time, lang), _bottleneck_line(c)))
    yield _Section(
        Text("What was changed", "改了什么"),
        rows=_settings(c.settings, lang) if c.settings else None,
        marks=tuple(c.warnings),
    )
    yield _Section(Text("Figures", "各项数字"), rows=_figures(c))
    if c.prediction is not None:
        yield _Section(Text("Predicted and observed", "预测与实测"), lines=tuple(_prediction(c)))


def _step_line(found: StepTime, lang: Lang) -> str:
    unit = Text("s per trajectory", "秒/轨迹") if found.per_trajectory else Text("s per step", "秒/step")
    before, after = (figures.DASH if v is None else f"{v:,.1f}" for v in (found.before_s, found.after_s))
    steps = Text(
        f"{found.steps_before} and {found.steps_after} steps", f"{found.steps_before} 与 {found.steps_after} 个 step"
    )
    change = "" if found.change_pct is None else f" ({found.change_pct:+.1f} %)"
    judged = _JUDGEMENTS[found.judgement]
    return Text(
        f"{judged.en}: {before} -> {after} {unit.en}{change}; {steps.en}; {found.why}.",
        f"{judged.zh}：{before} -> {after} {unit.zh}{change}；{steps.zh}；{found.why}。",
    ).to(lang)


def _bottleneck_line(c: Comparison) -> str:
    judged, why = _MOVED[c.bottleneck.moved], c.bottleneck.why
    return Text(f"{judged.en}: {why}.", f"{judged.zh}：{why}。").to(c.lang)


def _settings(settings: list[SettingChange], lang: Lang) -> Rows:
    headers = (Text("Setting", "设置"), Text("Before", "之前"), Text("After", "之后"), Text("Where", "位置"))
    return Rows(
        headers=tuple(h.to(lang) for h in headers),
        align=("left", "right", "right", "left"),
        cells=tuple(
            (s.key, s.before or figures.DASH, s.after or figures.DASH, s.after_at or s.before_at or figures.DASH)
            for s in settings
        ),
    )


def _figures(c: Comparison) -> Rows:
    headers = (Text("Figure", "数字"), Text("Before", "之前"), Text("After", "之后"), Text("Change", "变化"))
    return Rows(
        headers=tuple(h.to(c.lang) for h in headers),
        align=("left", "right", "right", "right"),
        cells=tuple((f.name, _value(f, f.before), _value(f, f.after), figures.change(f.change_pct)) for f in c.figures),
    )


def _value(figure: FigureChange, value: float | None) -> str:
    shown = {"s": figures.seconds, "/min": figures.per_minute, "share": figures.percent}
    return shown[figure.unit](value)


def _prediction(c: Comparison) -> Iterator[str]:
    p, score = c.prediction, c.score
    if p is None:
        return
    when_en = f"kept from {p.kept_at}" if p.kept_at else "made now from the first run alone"
    when_zh = f"保存于 {p.kept_at}" if p.kept_at else "现在仅由第一次运行得出"
    inside = Text("inside the interval", "在区间内") if p.inside else Text("OUTSIDE the interval", "不在区间内")
    yield Text(
        f"{p.experiment}: predicted {p.predicted_pct:+.1f} % ({p.low_pct:+.0f} to {p.high_pct:+.0f} %, {when_en}), "
        f"observed {p.observed_pct:+.1f} %: {inside.en}.",
        f"{p.experiment}：预测 {p.predicted_pct:+.1f} %（{p.low_pct:+.0f} 到 {p.high_pct:+.0f} %，{when_zh}），"
        f"实测 {p.observed_pct:+.1f} %：{inside.zh}。",
    ).to(c.lang)
    if score is not None:
        yield Text(
            f"Running score: {score.inside} of {score.count} inside their intervals, median error {score.median_error_points:g} points.",
            f"累计：{score.count} 次预测中 {score.inside} 次在区间内，误差中位数 {score.median_error_points:g} 个百分点。",
        ).to(c.lang)
