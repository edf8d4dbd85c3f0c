"""One finding of `check`, and how it gets its place."""

from dataclasses import dataclass
from typing import Literal

from codex_skyrl.setup.document import Document
from codex_skyrl.setup.toml_scan import Path
from codex_skyrl.text import Text

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`line` and `column` are 1-based, None where the fault is what is not there."""

    code: str
    severity: Severity
    file: str
    line: int | None
    column: int | None
    what: Text
    fix: Text


def found(
    document: Document,
    code: str,
    severity: Severity,
    path: Path | None,
    what: Text,
    fix: Text,
    *,
    line: int | None = None,
) -> Finding:
    """A finding at the statement of a key or table, or at a line, or about the whole file."""
    statement = None
    if path is not None:
        statement = document.scan.of_key(path) or document.scan.header(path)
    if statement is not None:
        return Finding(code, severity, str(document.path), statement.line, statement.column, what, fix)
    return Finding(code, severity, str(document.path), line, 1 if line is not None else None, what, fix)
