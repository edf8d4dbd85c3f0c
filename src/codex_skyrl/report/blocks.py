"""The building blocks of the terminal report: paragraph, command, table, bar. Each fits the given width.

Own layout and the neutralising of every string; know nothing of a Diagnosis. Text is never parsed as markup.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.tables import Align, Rows
from codex_skyrl.report.wrap import breaks, command_lines

Styled = tuple[str, str]
GAP = 2
WIDEST_BAR = 60
NARROWEST_BAR = 8
WIDEST_PROSE = 110  # longer lines are hard to follow, however wide the terminal is


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stands, never wrapped or cut."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.rstrip()
        self.text.no_wrap, self.text.overflow = True, "ignore"
        yield self.text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Wrapped prose: `lead` before the first line, its width in spaces (or `rest`) before the others."""

    parts: Sequence[Styled]
    lead: str = ""
    lead_style: str = ""
    rest: str | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST_PROSE)
        lead = Text(neutral(self.lead), self.lead_style)
        rest = " " * cell_len(lead.plain) if self.rest is None else self.rest
        prefix = lead
        for source in _joined(self.parts).split("\n", allow_blank=True):
            source.rstrip()
            for line in source.divide(breaks(source.plain, width - prefix.cell_len, width - cell_len(rest))):
                line.rstrip()
                yield Line(Text.assemble(prefix, line))
                prefix = Text(rest)


@dataclass(frozen=True, slots=True)
class Command:
    """One line of shell on lines of its own, to be copied."""

    text: str
    indent: int = 4

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in command_lines(neutral(self.text), options.max_width - self.indent):
            yield Line(Text(" " * self.indent + line, "bold"))


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares 0..1 of one whole, side by side, each with its own mark; an unknown share is left blank."""

    shares: tuple[float | None, ...]

    def draw(self, width: int, *, ascii_only: bool) -> str:
        marks = "#=." if ascii_only else "█▒·"
        drawn, total = "", 0.0
        for mark, share in zip(marks, self.shares, strict=False):
            total = min(total + max(share or 0.0, 0.0), 1.0)
            drawn += mark * (round(total * width) - len(drawn))
        return drawn


@dataclass(frozen=True, slots=True)
class Bars:
    """Labelled bars below each other."""

    rows: tuple[tuple[str, Bar], ...]
    legend: tuple[str, str, str] | None = None
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        labels = max(cell_len(label) for label, _ in self.rows)
        width = min(options.max_width - self.indent - labels - GAP, WIDEST_BAR)
        lead = " " * self.indent
        for label, bar in self.rows:
            drawn = bar.draw(width, ascii_only=options.ascii_only)
            yield Line(Text(f"{lead}{_pad(label, labels, 'left')}{' ' * GAP}{drawn}"))
        if self.legend:
            marks = "#=." if options.ascii_only else "█▒·"
            said = "   ".join(f"{mark} {word}" for mark, word in zip(marks, self.legend, strict=True))
            yield Paragraph([(said, "")], " " * (self.indent + labels + GAP))


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with an optional bar at the end of each row; where too narrow, one paragraph per row."""

    rows: Rows
    bars: tuple[Bar, ...] = ()
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = [[_cell(cell) for cell in row] for row in (self.rows.headers, *self.rows.cells)]
        widths = [max(cell_len(row[i]) for row in table) for i in range(len(self.rows.headers))]
        spare = options.max_width - self.indent - sum(widths) - GAP * (len(widths) - 1)
        if spare < 0:
            yield from self._paragraphs()
            return
        for number, row in enumerate(table):
            line = Text(" " * self.indent + _aligned(row, widths, self.rows.align), self._style(number - 1))
            if self.bars and number and spare >= NARROWEST_BAR + GAP:
                room = min(spare - GAP, WIDEST_BAR)
                line.append(" " * GAP + self.bars[number - 1].draw(room, ascii_only=options.ascii_only))
            yield Line(line)

    def _style(self, row: int) -> str:
        return "bold" if row < 0 or row in self.rows.strong else ""

    def _paragraphs(self) -> list[RenderableType]:
        lead = " " * self.indent
        return [
            Paragraph(
                [
                    (
                        "; ".join(f"{h}: {c}" for h, c in zip(self.rows.headers, row, strict=True)),
                        self._style(i),
                    )
                ],
                lead,
                rest=lead + "  ",
            )
            for i, row in enumerate(self.rows.cells)
        ]


def _joined(parts: Sequence[Styled]) -> Text:
    return Text.assemble(*((neutral(text), style) for text, style in parts))


def _cell(text: str) -> str:
    return neutral(text).replace("\n", " ")


def _aligned(row: Sequence[str], widths: Sequence[int], align: Sequence[Align]) -> str:
    cells = zip(row, widths, align, strict=True)
    return (" " * GAP).join(_pad(text, width, side) for text, width, side in cells)


def _pad(text: str, width: int, side: Align) -> str:
    fill = " " * (width - cell_len(text))
    return fill + text if side == "right" else text + fill
