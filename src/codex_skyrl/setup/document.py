"""A config.toml as it lies on disk: bytes, text, line ends, byte order mark, and what is wrong with it before any meaning.

Owns decoding and structure (syntax, duplicate definitions). Reads, never writes.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.toml_scan import Path as KeyPath
from codex_skyrl.setup.toml_scan import Problem, Scan, scan

_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same table or key defined more than once, at these lines."""

    path: KeyPath
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """`text` without the byte order mark; `values` is None when the file cannot be read as TOML."""

    path: Path
    raw: bytes
    text: str
    bom: bool
    newline: str
    encoding_problem: str | None
    scan: Scan
    values: Mapping[str, Any] | None
    reason: str  # of tomllib, when values is None

    @property
    def exists(self) -> bool:
        return self.path.exists()


def read_document(path: Path) -> Document:
    """The document at a path; an empty one when there is no file.

    Raises:
        ConfigError: when the path is no readable file.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise ConfigError(
                "is a link to a file that does not exist.", where=str(path), fix="Mend the link."
            ) from None
        raw = b""
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}.", where=str(path)) from error
    return document_of(path, raw)


def document_of(path: Path, raw: bytes) -> Document:
    """Understand bytes as a configuration."""
    text, problem = _decoded(raw)
    bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    values: Mapping[str, Any] | None = None
    reason = problem or ""
    if problem is None:
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            reason = str(error)
    return Document(path, raw, text, bom, newline, problem, scan(text), values, reason)


def _decoded(raw: bytes) -> tuple[str, str | None]:
    """Text and, when it is no UTF-8, what it is."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(raw) > 3 and raw[1:4:2] == b"\0\0"):
        return "", "file_is_utf16"
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        return "", "file_is_not_utf8"


def syntax_problems(document: Document) -> list[Problem]:
    """Everything that keeps the file from being read, as far as it can be told apart."""
    if document.values is not None or document.encoding_problem:
        return []
    found = list(document.scan.problems)
    if not found and not duplicates(document):
        found.append(Problem(*_place_of(document.reason), document.reason))
    return found


def duplicates(document: Document) -> list[Duplicate]:
    """Tables and keys that are defined more than once, whatever quoting is used; of a table that is, not its keys."""
    lines: dict[KeyPath, list[int]] = {}
    for statement in document.scan.statements:
        if statement.kind != "array" and not _inside_array(document.scan, statement.table):
            lines.setdefault(statement.path, []).append(statement.line)
    twice = {path: found for path, found in lines.items() if len(found) > 1}
    inside = {path for path in twice if any(path[:n] in twice for n in range(1, len(path)))}
    return [Duplicate(path, tuple(found)) for path, found in twice.items() if path not in inside]


def _inside_array(found: Scan, table: KeyPath) -> bool:
    """Keys below `[[x]]` repeat with every element."""
    arrays = {s.path for s in found.statements if s.kind == "array"}
    return any(table[:n] in arrays for n in range(1, len(table) + 1))


def _place_of(reason: str) -> tuple[int, int]:
    import re

    place = re.search(r"line (\d+), column (\d+)", reason)
    return (int(place[1]), int(place[2])) if place else (1, 1)
