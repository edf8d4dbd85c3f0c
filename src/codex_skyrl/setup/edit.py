"""Changes single keys inside the text of a configuration and leaves every other byte where it is.

A value that exists is replaced in place; a root key goes before the first table; a provider is extended in the style it
is written in (table, dotted keys, inline table) and a new one is appended. The result is parsed again before it counts.
"""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit

from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.document import Document, document_of
from codex_skyrl.setup.toml_scan import Path, Scan, Statement, scan

Changes = Mapping[Path, str]  # absolute key -> text value


def edited(document: Document, changes: Changes) -> Document:
    """The document with these text values set; the same object when nothing has to change.

    Raises:
        ConfigError: when the file can't be read as TOML, or the result would not be what was asked for.
    """
    if document.values is None:
        raise ConfigError(
            f"is not valid: {document.reason}.",
            where=str(document.path),
            fix="Run: codex-skyrl check (nothing was changed)",
        )
    wanted = {path: value for path, value in changes.items() if _get(document.values, path) != value}
    if not wanted:
        return document
    text = document.text
    for path, value in wanted.items():
        text = _set(text, path, value, document.newline)
    result = document_of(document.path, (("\ufeff" if document.bom else "") + text).encode("utf-8"))
    _prove(document, result, changes)
    return result


def _set(text: str, path: Path, value: str, newline: str) -> str:
    """One key set in the text."""
    found = scan(text)
    statement = found.of_key(path)
    if statement is not None:
        return text[: statement.begin] + _quoted(value) + text[statement.end :]
    if len(path) == 1:
        return _root(text, found, path, value, newline)
    header = found.header(path[:-1])
    if header is not None:
        return _after(text, _last_of(found, header), f"{path[-1]} = {_quoted(value)}", newline)
    inline = next((s for n in range(len(path) - 1, 0, -1) if (s := found.of_key(path[:n])) is not None), None)
    if inline is not None:
        return _inline(text, inline, path, value)
    dotted = [s for s in found.statements if s.kind == "key" and _reaches_into(s, path[:-1])]
    if dotted:
        relative = path[len(dotted[-1].table) :]
        return _after(text, dotted[-1], f"{'.'.join(map(_key, relative))} = {_quoted(value)}", newline)
    return _appended(text, path, value, newline)


def _reaches_into(statement: Statement, table: Path) -> bool:
    """Whether a key is written from outside into a table, as in `model_providers.x.name = ...`."""
    return (
        len(statement.table) < len(table) and statement.path[: len(table)] == table and len(statement.path) > len(table)
    )


def _root(text: str, found: Scan, path: Path, value: str, newline: str) -> str:
    """After the last root key, else before the first table with the comment that stands on it, else at the end."""
    line = f"{_key(path[0])} = {_quoted(value)}"
    roots = [s for s in found.statements if s.kind == "key" and not s.table]
    if roots:
        return _after(text, roots[-1], line, newline)
    tables = [s for s in found.statements if s.kind != "key"]
    if not tables:
        return text + ("" if not text or text.endswith("\n") else newline) + line + newline
    at = _above_comments(text, text.rfind("\n", 0, tables[0].start) + 1)
    return text[:at] + line + newline + newline + text[at:]


def _above_comments(text: str, at: int) -> int:
    """The start of the comment lines that stand directly above an offset."""
    while at > 0:
        before = text.rfind("\n", 0, at - 1) + 1
        if not text[before:at].lstrip().startswith("#"):
            return at
        at = before
    return at


def _last_of(found: Scan, header: Statement) -> Statement:
    """The last key written directly below a header, or the header itself."""
    at = found.statements.index(header)
    last = header
    for statement in found.statements[at + 1 :]:
        if statement.kind != "key":
            break
        last = statement
    return last


def _after(text: str, statement: Statement, line: str, newline: str) -> str:
    """A line behind a statement, past the comment on its own line, with its indentation."""
    end = text.find("\n", statement.end)
    begin = text.rfind("\n", 0, statement.start) + 1
    indent = text[begin : statement.start] if statement.kind == "key" else ""
    if end < 0:
        return text + newline + indent + line
    return text[: end + 1] + indent + line + newline + text[end + 1 :]


def _inline(text: str, statement: Statement, path: Path, value: str) -> str:
    """A key inside an inline table; only the text of that value changes."""
    holder = tomlkit.parse("x = " + text[statement.begin : statement.end])
    table: Any = holder["x"]
    for part in path[len(statement.path) : -1]:
        if part not in table:
            table[part] = tomlkit.inline_table()
        table = table[part]
    table[path[-1]] = value
    changed = tomlkit.dumps(holder).removeprefix("x = ")
    return text[: statement.begin] + changed + text[statement.end :]


def _appended(text: str, path: Path, value: str, newline: str) -> str:
    header = f"[{'.'.join(map(_key, path[:-1]))}]"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{header}{newline}{path[-1]} = {_quoted(value)}{newline}"


def _key(part: str) -> str:
    bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
    return part if bare else _quoted(part)


def _quoted(value: str) -> str:
    """A TOML basic string (JSON's escapes are TOML's too)."""
    return json.dumps(value, ensure_ascii=False)


def _get(values: Mapping[str, Any], path: Path) -> Any:
    node: Any = values
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _prove(before: Document, after: Document, changes: Changes) -> None:
    """The result says what was asked for and, beside that, exactly what it said before."""
    if after.values is None:
        raise ConfigError(f"the edited text would not be valid: {after.reason}.", where=str(before.path))
    if any(_get(after.values, path) != value for path, value in changes.items()):
        raise ConfigError("a key of the edited text would not take effect.", where=str(before.path))
    if _without(before.text, changes) != _without(after.text, changes):
        raise ConfigError("the edit would change something else.", where=str(before.path))


def _without(text: str, changes: Changes) -> Any:
    """The parsed values with the changed keys, and tables that are empty without them, taken out."""
    values = tomllib.loads(text)
    for path in changes:
        nodes: list[Any] = [values]
        for part in path[:-1]:
            nodes.append(nodes[-1].get(part) if isinstance(nodes[-1], dict) else None)
        if isinstance(nodes[-1], dict):
            nodes[-1].pop(path[-1], None)
        for depth in range(len(path) - 1, 0, -1):
            if nodes[depth] == {}:
                nodes[depth - 1].pop(path[depth - 1], None)
    return repr(values)
