"""A line of small columns for each series, as text: how a depth or the number of busy workers went through a step.

Eight heights in block characters, four in ASCII. Where there is less room than samples, the highest of each group stands.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from codex_skyrl.report.blocks import GAP, Line
from codex_skyrl.report.model import STAGES, Timeline
from codex_skyrl.text import Lang
from codex_skyrl.text import Text as Words

_BLOCKS, _ASCII = " ▁▂▃▄▅▆▇█", " .-=#"
WIDEST = 72


@dataclass(frozen=True, slots=True)
class Spark:
    """`top`: the value of a full column; `figure` says it."""

    label: str
    figure: str
    values: tuple[int, ...]
    top: int

    def draw(self, width: int, *, ascii_only: bool) -> str:
        marks = _ASCII if ascii_only else _BLOCKS
        most = max(1, self.top)
        return "".join(marks[_height(v, most, len(marks) - 1)] for v in _grouped(self.values, width))


@dataclass(frozen=True, slots=True)
class Sparks:
    """Labelled sparks below each other, on one time axis."""

    rows: tuple[Spark, ...]
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - self.indent - sum(self._widths()) - 2 * GAP
        for line in spark_lines(self.rows, min(width, WIDEST), self.indent, ascii_only=options.ascii_only):
            yield Line(Text(line))

    def _widths(self) -> tuple[int, int]:
        return max(cell_len(r.label) for r in self.rows), max(cell_len(r.figure) for r in self.rows)


def spark_lines(rows: Sequence[Spark], width: int, indent: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Each row: label, figure, columns."""
    labels, figures = (
        max(cell_len(text) for text in texts) for texts in zip(*((r.label, r.figure) for r in rows), strict=True)
    )
    for r in rows:
        label = r.label + " " * (labels - cell_len(r.label))
        figure = " " * (figures - cell_len(r.figure)) + r.figure
        yield f"{' ' * indent}{label}{' ' * GAP}{figure}{' ' * GAP}{r.draw(max(1, width), ascii_only=ascii_only)}".rstrip()


def sparks_of(line: Timeline, lang: Lang) -> tuple[Spark, ...]:
    """Depth of each queue against its highest, busy workers against the most that were; what is unknown has no row."""
    found = []
    for stage in STAGES:
        values = getattr(line.depth, stage)
        if values:
            most = max(values)
            found.append(Spark(f"{stage}_queue", Words(f"max {most}", f"最多 {most}").to(lang), tuple(values), most))
    for stage in STAGES:
        values = getattr(line.serving, stage)
        if values:
            most = max(values)
            label = Words(f"{stage} busy", f"{stage} 忙碌").to(lang)
            found.append(Spark(label, Words(f"max {most}", f"最多 {most}").to(lang), tuple(values), most))
    return tuple(found)


def _height(value: int, most: int, heights: int) -> int:
    """Never nothing for a value above zero."""
    return 0 if value <= 0 else min(heights, max(1, round(value / most * heights)))


def _grouped(values: Sequence[int], width: int) -> list[int]:
    size = max(1, ceil(len(values) / max(1, width)))
    return [max(values[n : n + size]) for n in range(0, len(values), size)]
