"""`kubectl get events` as a whole file: wide tables, lines that begin with a time, and JSON (a list, or one a line).

Tables print ages (`5m`), which are no times: such rows carry no stamp. JSON is read item by item, so memory stays
flat and a damaged item costs only itself.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from codex_skyrl.logs.event import ClusterEvent
from codex_skyrl.logs.formats import Row, Stamp
from codex_skyrl.logs.formats.generic import stamp_of_text
from codex_skyrl.logs.formats.pulls import pull_facts

_COLUMNS = ("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "FIRST SEEN", "COUNT", "NAME", "KIND")  # fmt: skip
_HEADER = re.compile(r"(?<!\S)(" + "|".join(_COLUMNS) + r")(?!\S)")
_PLAIN = re.compile(
    r"(?P<time>\S+)\s+(?P<type>Normal|Warning)\s+(?P<reason>[A-Z]\w+)\s+(?P<object>[\w.-]+/\S+|\S+)\s+(?P<message>\S.*)"
)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_TIMES = ("lastTimestamp", "eventTime", "firstTimestamp")
_MOST_ITEM_LINES = 2_000


def sniff(head: str) -> bool:
    """The header of a table, a first line with type and reason, or JSON that speaks of events."""
    lines = [line for line in head.splitlines() if line.strip()]
    if not lines:
        return False
    if {"REASON", "MESSAGE"} <= set(_HEADER.findall(lines[0])):
        return True
    if lines[0].lstrip().startswith(("{", "[")):
        return '"involvedObject"' in head or ('"kind"' in head and '"Event"' in head and '"reason"' in head)
    found = _PLAIN.match(lines[0])
    return found is not None and "/" in found["object"]


class Table:
    """Reads rows or items, whichever the file holds."""

    def __init__(self) -> None:
        self._offsets: list[tuple[str, int, int | None]] = []
        self._item: list[str] = []
        self._item_line = 0
        self._indent: int | None = None
        self._depth = 0

    def feed(self, number: int, text: str) -> Iterable[Row]:
        """The events that end on this line."""
        bare = text.strip()
        if self._item or bare[:1] in ("{", '"', "}", "[", "]"):
            return self._json(number, text, bare)
        names = _HEADER.findall(text)
        if {"REASON", "MESSAGE"} <= set(names):
            self._offsets = _columns(text)
            return ()
        return self._row(number, text)

    def close(self) -> Iterable[Row]:
        """An item whose end is missing is dropped: it is damaged."""
        self._item = []
        return ()

    # -- tables -------------------------------------------------------------------------------------------------
    def _row(self, number: int, text: str) -> Iterator[Row]:
        aligned = all(text[a - 1 : a] in ("", " ") for _, a, _ in self._offsets)
        named = {name: text[a:b].strip() for name, a, b in self._offsets} if aligned else {}
        if named.get("TYPE") not in ("Normal", "Warning"):
            found = _PLAIN.match(text)
            if found is None:
                return
            named = {"LAST SEEN": found["time"], "TYPE": found["type"], "REASON": found["reason"]}
            named |= {"OBJECT": found["object"], "MESSAGE": found["message"]}
        count = named.get("COUNT", "")
        event = _event(
            named["REASON"],
            named.get("OBJECT", ""),
            named.get("MESSAGE", ""),
            node=named.get("SOURCE", "").partition(", ")[2],
            count=int(count) if count.isdigit() else 1,
            warning=named["TYPE"] == "Warning",
        )
        yield Row(number, event, stamp_of_text(named.get("LAST SEEN", "")))

    # -- JSON ---------------------------------------------------------------------------------------------------
    def _json(self, number: int, text: str, bare: str) -> Iterator[Row]:
        """Collect the lines of one item; braces inside strings do not count."""
        if not self._item and bare.startswith("{") and bare.endswith(("}", "},")):
            yield from _events_in(number, bare.rstrip(","))
            return
        indent = len(text) - len(text.lstrip())
        if bare == "{" and (self._indent is None or indent == self._indent) and (indent or self._indent is not None):
            self._indent, self._item, self._item_line, self._depth = indent, [], number, 0
        elif not self._item:
            return
        if bare.startswith('"message"'):
            self._item_line = number  # the line that says something, for quoting
        skeleton = _STRING.sub("", bare)
        self._depth += skeleton.count("{") - skeleton.count("}")
        self._item.append(bare)
        if self._depth <= 0 or len(self._item) > _MOST_ITEM_LINES:
            whole, self._item = "".join(self._item).rstrip(","), []
            yield from _events_in(self._item_line, whole)


def _columns(header: str) -> list[tuple[str, int, int | None]]:
    """(name, begin, end) of each column, from where its header stands."""
    found = [(m[1], m.start()) for m in _HEADER.finditer(header)]
    ends = [start for _, start in found[1:]]
    return [(name, start, end) for (name, start), end in zip(found, [*ends, None], strict=True)]


def _events_in(number: int, text: str) -> Iterator[Row]:
    """Events of one JSON object: an event itself, or a list of them."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(record, dict):
        return
    items = record.get("items")
    if not isinstance(items, list):
        items = [record.get("object") if isinstance(record.get("object"), dict) else record]
    for item in items:
        row = _from_json(number, item) if isinstance(item, dict) else None
        if row is not None:
            yield row


def _from_json(number: int, item: dict[str, Any]) -> Row | None:
    reason = item.get("reason")
    if not isinstance(reason, str) or not reason:
        return None
    about, source = _inner(item, "involvedObject", "regarding"), _inner(item, "source")
    count = item.get("count")
    event = _event(
        reason,
        f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}" if about else "",
        str(item.get("message") or item.get("note") or ""),
        node=str(source.get("host") or item.get("reportingInstance") or ""),
        count=count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1,
        warning=item.get("type") == "Warning",
    )
    return Row(number, event, _stamp(item))


def _inner(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return next((item[n] for n in names if isinstance(item.get(n), dict)), {})


def _stamp(item: dict[str, Any]) -> Stamp | None:
    return next((stamp for key in _TIMES if (stamp := stamp_of_text(str(item.get(key) or ""))) is not None), None)


def _event(reason: str, about: str, message: str, *, node: str, count: int, warning: bool) -> ClusterEvent:
    facts = pull_facts(message)
    return ClusterEvent(
        reason,
        object=about,
        node=node or facts.node,
        image=facts.image,
        cached=facts.cached if reason == "Pulled" else None,
        seconds=facts.seconds,
        waiting_seconds=facts.waiting_seconds,
        count=count,
        warning=warning,
        text=message[:400],
    )
