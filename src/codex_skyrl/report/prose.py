"""Small combinations of building blocks that several sections of the terminal report use alike."""

from codex_skyrl.report.blocks import Paragraph
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.wrap import shorten
from codex_skyrl.text import Lang, Text

QUOTE_CELLS = 260
_INDENT = 2


def heading(label: Text, lang: Lang) -> Paragraph:
    """A section title with an empty line before it."""
    return Paragraph([("\n" + label.to(lang), "bold underline")])


def paragraph(text: str, style: str = "", indent: int = _INDENT) -> Paragraph:
    return Paragraph([(text, style)], " " * indent)


def item(mark: str, text: str, style: str = "", indent: int = _INDENT) -> Paragraph:
    """Text behind a number, a dash or an evidence id; later lines align with the text."""
    return Paragraph([(text, style)], f"{' ' * indent}{mark} ", "bold")


def quoted(text: str, indent: int) -> Paragraph:
    """Foreign text marked with `>` on every line, shortened at most once."""
    lead = " " * indent + "> "
    return Paragraph([(shorten(neutral(text).strip("\n"), QUOTE_CELLS), "")], lead, rest=lead)
