"""One module per log family. Two shapes:

- a *line format* has `HINTS: tuple[str, ...]`, at least one of which stands in every line it understands, and
  `parse(text: str) -> Parsed | None`, stateless, for one physical line without wrapping, prefix or colours;
- a *table format* owns a whole file: `sniff(head: str) -> bool` and `class Table` with
  `feed(number: int, text: str) -> Iterable[Row]` and `close() -> Iterable[Row]`.

Neither raises on any text: what it does not understand is None (a line) or skipped (a table).
"""

from typing import NamedTuple, Protocol

from codex_skyrl.logs.event import Body


class Stamp(NamedTuple):
    """A time as the line states it.

    `seconds` since local midnight when `dated` is False, else since 1970-01-01 by the stamp's own calendar
    (naive). `resolution` is the width of the interval the stamp may stand for: 1.0 for whole seconds.
    `utc` is True when the stamp says so (`Z`, offset already applied), False when it is local or unknown.
    """

    seconds: float
    dated: bool
    resolution: float
    utc: bool = False


class Parsed(NamedTuple):
    """What one line says, and when it says it happened (None: the line has no time of its own)."""

    body: Body
    stamp: Stamp | None = None


class Row(NamedTuple):
    """A parsed record of a table format, with the 1-based line it starts on."""

    line: int
    body: Body
    stamp: Stamp | None


class LineFormat(Protocol):
    """A module that understands single lines."""

    @property
    def HINTS(self) -> tuple[str, ...]: ...

    def parse(self, text: str) -> Parsed | None: ...
