"""Events of one source as a table of columns, in compressed row groups: a few bytes an event, in memory and on the wire.

The columns of a body are the fields of its type, so a new event type needs nothing here.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from math import isnan
from typing import Any, get_args, get_type_hints

from codex_skyrl.logs.event import Body, Event, Kind, When
from codex_skyrl.remote.columns import Broken, Form, pack_numbers, unpack_numbers
from codex_skyrl.remote.packing import pack, unpack

GROUP = 1 << 15  # events
_LARGEST = 1 << 28  # bytes of a row group, unpacked
_BODIES: tuple[type, ...] = get_args(Body)  # told apart by their number: a new one comes last in `Body`


def _fields_of(body: type) -> tuple[tuple[str, str], ...]:
    """(name, kind of column) of each field: number | whole | flag | word | kind | pairs."""
    hints = get_type_hints(body)
    names = [f.name for f in fields(body)] if is_dataclass(body) else list(body._fields)  # type: ignore[attr-defined]
    return tuple((name, _column_kind(hints[name])) for name in names)


def _column_kind(hint: Any) -> str:
    text = str(hint)
    if hint is Kind:
        return "kind"
    for part, kind in (("tuple", "pairs"), ("bool", "flag"), ("float", "number"), ("int", "whole")):
        if part in text:
            return kind
    return "word"


_COLUMNS = {body: _fields_of(body) for body in _BODIES}


def table_of(events: Iterable[Event]) -> Iterator[bytes]:
    """Row groups, in order."""
    group: list[Event] = []
    for event in events:
        group.append(event)
        if len(group) == GROUP:
            yield _packed(group)
            group = []
    if group:
        yield _packed(group)


def events_in(groups: Iterable[bytes]) -> Iterator[Event]:
    """The events of row groups.

    Raises:
        Broken: when the bytes are none.
    """
    for group in groups:
        try:
            yield from _unpacked(group)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
            raise Broken(f"a row group cannot be read: {error}") from error


class _Words:
    """Words by number; 0 is none."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {None: 0}

    def column(self, words: Iterable[str | None]) -> list[float]:
        """Their numbers, new ones where needed."""
        numbers = self.numbers
        return [numbers.setdefault(word, len(numbers)) for word in words]


def _packed(group: list[Event]) -> bytes:
    words = _Words()
    columns: list[tuple[str, list[float]]] = [
        ("source", words.column(e.source for e in group)),
        ("line", [e.line for e in group]),
        ("process", words.column(e.process for e in group)),
        ("earliest", [e.when.earliest for e in group]),
        ("latest", [e.when.latest for e in group]),
        ("times", [e.times for e in group]),
        ("body", [_BODIES.index(type(e.body)) for e in group]),
    ]
    for body in _BODIES:
        rows = [e.body for e in group if type(e.body) is body]
        if rows:
            columns += [
                (f"{body.__name__}.{name}", _numbers([getattr(row, name) for row in rows], kind, words))
                for name, kind in _COLUMNS[body]
            ]
    forms: list[Form] = []
    blobs: list[bytes] = []
    for name, values in columns:
        form, blob = pack_numbers(values)
        forms.append(form | {"name": name, "bytes": len(blob)})
        blobs.append(blob)
    head = json.dumps({"events": len(group), "columns": forms, "words": list(words.numbers)[1:]}).encode()
    return pack(len(head).to_bytes(8, "little") + head + b"".join(blobs))


def _numbers(values: list[Any], kind: str, words: _Words) -> list[float]:
    if kind == "kind":
        return words.column(str(v) for v in values)
    if kind == "word":
        return words.column(values)
    if kind == "pairs":
        return words.column(json.dumps(v) for v in values)
    return [float("nan") if v is None else float(v) for v in values]


def _unpacked(group: bytes) -> Iterator[Event]:
    data = unpack(group, _LARGEST)
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    words: list[str | None] = [None, *head["words"]]
    columns: dict[str, list[float]] = {}
    at = 8 + size
    for form in head["columns"]:
        columns[form["name"]] = unpack_numbers(form, data[at : at + form["bytes"]])
        at += form["bytes"]
    bodies = {
        number: _bodies(body, columns, words)
        for number, body in enumerate(_BODIES)
        if f"{body.__name__}.{_COLUMNS[body][0][0]}" in columns
    }
    common = ("source", "line", "process", "earliest", "latest", "times", "body")
    for source, line, process, earliest, latest, times, body in zip(*(columns[c] for c in common), strict=True):
        yield Event(
            words[int(source)] or "",
            int(line),
            words[int(process)] or "",
            When(earliest, latest),
            next(bodies[int(body)]),
            int(times),
        )


def _bodies(body: type, columns: dict[str, list[float]], words: list[str | None]) -> Iterator[Body]:
    values = [_values(columns[f"{body.__name__}.{name}"], kind, words) for name, kind in _COLUMNS[body]]
    for row in zip(*values, strict=True):
        yield body(*row)


def _values(column: list[float], kind: str, words: list[str | None]) -> Iterator[Any]:
    if kind == "word":
        return (words[int(v)] for v in column)
    if kind == "kind":
        return (Kind(words[int(v)] or "") for v in column)
    if kind == "pairs":
        return (tuple((name, value) for name, value in json.loads(words[int(v)] or "[]")) for v in column)
    whole = {"whole": int, "flag": bool, "number": float}[kind]
    return (None if isnan(v) else whole(v) for v in column)
