"""What was understood in one source, as a table: kinds, how often, first and last place, time covered.

Collects counts only, so it stays small however long the source is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType

from codex_skyrl.logs.event import Event, Lifecycle, moment_text
from codex_skyrl.logs.scan import FileReport
from codex_skyrl.report.blocks import Grid
from codex_skyrl.report.figures import DASH, count, size
from codex_skyrl.report.inputs import problems_of
from codex_skyrl.report.prose import item, paragraph
from codex_skyrl.report.tables import Align, Rows
from codex_skyrl.text import Lang, Text

_HEAD = (Text("Kind", "类型"), Text("Events", "事件数"), Text("First line", "首行"), Text("Last line", "末行"), Text("From", "起"), Text("To", "止"))  # fmt: skip
_ALIGN: tuple[Align, ...] = ("left", "right", "right", "right", "left", "left")


@dataclass(slots=True)
class _Kind:
    events: int = 0
    first_line: int = 0
    last_line: int = 0
    begin: float = float("inf")
    end: float = float("-inf")


class EventTable:
    """Takes a source's events one by one, then shows them."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._kinds: dict[str, _Kind] = {}

    def add(self, event: Event) -> None:
        body = event.body
        name = body.kind.value if isinstance(body, Lifecycle) else type(body).__name__
        kind = self._kinds.setdefault(name, _Kind(first_line=event.line))
        kind.events += event.times
        kind.last_line = event.line
        if event.when.earliest != float("-inf"):
            kind.begin = min(kind.begin, event.when.earliest)
        if event.when.latest != float("inf"):
            kind.end = max(kind.end, event.when.latest)

    def view(self, reports: Sequence[FileReport], shift_s: float = 0.0) -> RenderableType:
        """The table under a line for each file of the source; `shift_s` puts its times on the calendar."""
        return Group(*self._blocks(reports, shift_s))

    def _blocks(self, reports: Sequence[FileReport], shift_s: float) -> Iterator[RenderableType]:
        for report in reports:
            yield from self._file(report)
        if not self._kinds:
            return
        ordered = sorted(self._kinds.items(), key=lambda pair: pair[1].first_line)
        cells = tuple(
            (
                name,
                count(k.events),
                str(k.first_line),
                str(k.last_line),
                moment_text(k.begin + shift_s) or DASH,
                moment_text(k.end + shift_s) or DASH,
            )
            for name, k in ordered
        )
        yield Grid(Rows(tuple(h.to(self._lang) for h in _HEAD), _ALIGN, cells))
        yield paragraph("")

    def _file(self, report: FileReport) -> Iterator[RenderableType]:
        reading = report.reading
        understood = sum(report.families.values())
        says = Text(
            f"{report.path}: {count(reading.lines)} lines ({size(reading.bytes)}), {count(understood)} events; "
            f"{count(report.quoted)} more stand in patches or command output and count for nothing",
            f"{report.path}：{count(reading.lines)} 行（{size(reading.bytes)}），{count(understood)} 个事件；"
            f"另有 {count(report.quoted)} 行只出现在补丁或命令输出中，不计",
        )
        yield paragraph(says.to(self._lang), "bold", indent=0)
        for problem in problems_of(report):
            yield item("!", problem.to(self._lang))
