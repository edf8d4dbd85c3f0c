"""A frame of `watch` for the terminal: step and time, three rows of bars, the verdict so far, alarms."""

from collections.abc import Iterator

from rich.console import Group, RenderableType

from codex_skyrl.report import figures, phrases, words
from codex_skyrl.report.blocks import Bar, Grid
from codex_skyrl.report.model import Verdict
from codex_skyrl.report.prose import item, paragraph
from codex_skyrl.report.tables import Rows
from codex_skyrl.text import Lang, Text
from codex_skyrl.watch.frame import Frame, StageNow, title_of


def frame_view(frame: Frame | None, lang: Lang, hint: str = "") -> RenderableType:
    """`hint`: a last line, say how to leave."""
    return Group(*_blocks(frame, lang, hint))


def _blocks(frame: Frame | None, lang: Lang, hint: str) -> Iterator[RenderableType]:
    if frame is None:
        yield paragraph(Text("Waiting for the first lines ...", "等待第一批日志……").to(lang), indent=0)
        return
    yield paragraph(phrases.capital(title_of(frame, lang).to(lang)), "bold", indent=0)
    if frame.stages:
        yield Grid(_rows(frame, lang), tuple(_bar(now) for now in frame.stages.values()))
    verdict = Verdict(bottleneck=frame.bottleneck, cause=frame.cause, confidence=frame.confidence, summary="", naive="")
    line = phrases.verdict_line(verdict, lang)
    since = (
        ""
        if frame.since_step is None
        else Text(f" Since step {frame.since_step}.", f"自 step {frame.since_step} 起。").to(lang)
    )
    yield paragraph(line + since, "bold red" if frame.bottleneck not in ("healthy", "unknown") else "bold", indent=0)
    for alarm in frame.alarms:
        yield item("!", alarm.says.to(lang), "bold red", indent=0)
    if hint:
        yield paragraph(hint, indent=0)


def _rows(frame: Frame, lang: Lang) -> Rows:
    headers = (
        words.STAGE, Text("In queue", "队列中"), words.BUSY, words.WORKERS, Text("Done", "已完成"), Text("Per min", "每分钟"),
    )  # fmt: skip
    return Rows(
        headers=tuple(h.to(lang) for h in headers),
        align=("left", *["right"] * 5),  # type: ignore[arg-type]
        cells=tuple(
            (name, figures.count(n.depth), figures.count(n.busy), figures.count(n.workers), figures.count(n.done), figures.per_minute(n.rate))
            for name, n in frame.stages.items()
        ),
    )  # fmt: skip


def _bar(now: StageNow) -> Bar:
    """Busy workers of all, then those that have nothing or are held."""
    if not now.workers or now.busy is None:
        return Bar((None,))
    return Bar((min(1.0, now.busy / now.workers),))
