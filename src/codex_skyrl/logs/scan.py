"""One source (a file, or a rotated set read as one) becomes a stream of events in one pass.

Puts the parts together: lines -> wrapping -> payload -> formats -> clock. A print has no time: its interval runs
from the stamp before it to the stamp after it in the same process, so events of a process come out in order but
a print waits for the next stamp.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from codex_skyrl.logs.clock import Clock
from codex_skyrl.logs.event import Body, Event, Kind, Lifecycle, When
from codex_skyrl.logs.formats import Parsed, Stamp, lifecycle
from codex_skyrl.logs.formats.registry import HINT, HINTS, family_of, parse_line, parse_record, table_for
from codex_skyrl.logs.lines import Reading, numbered_lines
from codex_skyrl.logs.payload import BEGIN, Payload, fits
from codex_skyrl.logs.skim import Skim, lines_of
from codex_skyrl.logs.traceback import START, Tracebacks
from codex_skyrl.logs.unwrap import Wrapped, unwrap

NEVER, ALWAYS = float("-inf"), float("inf")
_HEAD_LINES = 60
# what a line must hold, or how it must begin (see `skim`), to mean anything
_LITERALS = (*HINTS, START, BEGIN, "x across cluster]", "%|", "\r")
_MOST_PENDING = 5_000  # prints of one process that may wait for its next stamp


@dataclass(slots=True)
class FileReport:
    """One file: how it was read, and what was understood per format family."""

    path: str
    reading: Reading = field(default_factory=Reading)
    families: dict[str, int] = field(default_factory=dict)
    damaged_records: int = 0
    folded: int = 0  # lines that Ray's de-duplication swallowed
    payload_lines: int = 0


@dataclass(slots=True)
class _Process:
    """State of one writer."""

    pending: list[tuple[str, int, Body, int]] = field(default_factory=list)
    last: When | None = None
    payload: Payload = field(default_factory=Payload)
    traces: Tracebacks = field(default_factory=Tracebacks)
    partial: Wrapped | None = None
    partial_line: int = 0


class Scanner:
    """Reads the files of one source in order. `reports` and `clock` are complete when `events` is exhausted."""

    def __init__(self, paths: list[Path], names: list[str] | None = None) -> None:
        self._paths = paths
        self._names = names or [str(p) for p in paths]
        self.clock = Clock()
        self.reports: list[FileReport] = []
        self._processes: dict[str, _Process] = {}
        self._open: set[str] = set()

    def events(self) -> Iterator[Event]:
        """All events. Raises OSError when a file cannot be opened."""
        for path, name in zip(self._paths, self._names, strict=True):
            report = FileReport(name)
            self.reports.append(report)
            skim = lines_of(path, report.reading, _LITERALS)
            lines = iter(skim) if skim is not None else numbered_lines(path, report.reading)
            head = list(islice(lines, _HEAD_LINES))
            table = table_for("\n".join(text for _, text in head))
            if table is None:
                yield from self._lines(chain(head, lines), report, skim)
                continue
            for number, text in chain(head, lines):
                for row in table.feed(number, text):
                    yield self._row(report, row.line, row.body, row.stamp)
            for row in table.close():
                yield self._row(report, row.line, row.body, row.stamp)
        yield from self._close()

    def _row(self, report: FileReport, line: int, body: Body, stamp: Stamp | None) -> Event:
        report.families[family_of(body)] = report.families.get(family_of(body), 0) + 1
        when = self.clock.place("", stamp) if stamp else When(NEVER, ALWAYS)
        return Event(report.path, line, "", when, body)

    def _lines(self, lines: Iterator[tuple[int, str]], report: FileReport, skim: Skim | None) -> Iterator[Event]:
        """`skim` may pass lines over while no process has anything open."""
        for number, text in lines:
            if skim is not None:
                skim.calm = False
            for item in unwrap(text):
                if item.damaged:
                    report.damaged_records += 1
                    continue
                state = self._processes.get(item.process)
                if state is None:
                    state = self._processes[item.process] = _Process()
                if item.partial or state.partial is not None:
                    joined = self._join(state, number, item)
                    if joined is not None:
                        yield from self._line(report, state, *joined)
                else:
                    yield from self._line(report, state, number, item)
                self._note(item.process, state)
            if skim is not None:
                skim.calm = not self._open

    def _note(self, process: str, state: _Process) -> None:
        """Whether the next line of this process, whatever it says, could mean something."""
        if state.partial is not None or state.traces.active or not state.payload.calm:
            self._open.add(process)
        else:
            self._open.discard(process)

    def _join(self, state: _Process, number: int, item: Wrapped) -> tuple[int, Wrapped] | None:
        """Collect the parts of a line that a collector cut at its buffer size."""
        if state.partial is None:
            state.partial, state.partial_line = item, number
            return None
        whole = state.partial._replace(text=state.partial.text + item.text, partial=item.partial)
        if item.partial:
            state.partial = whole
            return None
        state.partial = None
        [first, *_] = unwrap(whole.text)
        return state.partial_line, first._replace(stamp=whole.stamp)

    def _line(self, report: FileReport, state: _Process, number: int, item: Wrapped) -> Iterator[Event]:
        text = item.text
        if item.times > 1:
            report.folded += item.times - 1
        traced = None
        if state.traces.active or text.startswith(START):
            traced = state.traces.step(number, text)
        if traced:
            yield from self._emit(report, state, item.process, traced[0], Parsed(traced[1]), item.stamp, 1)
        stamped = text[2:3] == ":" and text[5:6] == ":"
        parsed = parse_line(text) if stamped or HINT.search(text) else None
        if parsed is None:
            parsed = parse_record(text)
        hidden = state.payload.step(text, item.times > 1)
        if hidden:
            report.payload_lines += 1
            if not (parsed and parsed.stamp and self._present(item.process, parsed.stamp)):
                return
        if parsed is None:
            stamp = lifecycle.stamp_of(text) if stamped else item.stamp
            if stamp is not None:
                if stamped and not hidden and " - openhands:" not in text:
                    state.payload.header_seen()
                yield from self._tick(state, item.process, stamp, item.stamp)
            return
        yield from self._emit(report, state, item.process, number, parsed, item.stamp, item.times)
        if isinstance(parsed.body, Lifecycle) and parsed.body.kind is Kind.PATCH_PRINTED and item.times == 1:
            state.payload.patch_announced()

    def _present(self, process: str, stamp: Stamp) -> bool:
        return fits(self.clock.place(process, stamp, settle=False).earliest, self.clock.last(process))

    def _tick(self, state: _Process, process: str, stamp: Stamp, outer: Stamp | None) -> Iterator[Event]:
        """Move the clock; a time without a meaning still bounds the prints around it."""
        if outer is not None and outer is not stamp:
            self.clock.learn_zone(outer, stamp)
        when = self.clock.place(process, stamp)
        if state.pending:
            yield from self._release(state, process, when.latest)
        state.last = when

    def _emit(
        self, report: FileReport, state: _Process, process: str, number: int,
        parsed: Parsed, outer: Stamp | None, count: int,
    ) -> Iterator[Event]:  # fmt: skip
        family = family_of(parsed.body)
        report.families[family] = report.families.get(family, 0) + count
        stamp = parsed.stamp or outer
        if stamp is not None:
            yield from self._tick(state, process, stamp, outer)
            assert state.last is not None
            yield Event(report.path, number, process, state.last, parsed.body, count)
            return
        state.pending.append((report.path, number, parsed.body, count))
        never_stamped = state.last is None and self.clock.span is not None
        if never_stamped or len(state.pending) > _MOST_PENDING:
            yield from self._release(state, process, ALWAYS)

    def _release(self, state: _Process, process: str, latest: float) -> Iterator[Event]:
        """Hand on the prints that waited; of a process that never states a time the source's clock is the floor."""
        if state.last is not None:
            earliest = state.last.earliest
        else:
            earliest = self.clock.span[1] if self.clock.span and latest == ALWAYS else NEVER
        for path, number, body, count in state.pending:
            yield Event(path, number, process, When(earliest, latest), body, count)
        state.pending.clear()

    def _close(self) -> Iterator[Event]:
        for process, state in self._processes.items():
            traced = state.traces.close()
            if traced and self.reports:
                yield from self._emit(self.reports[-1], state, process, traced[0], Parsed(traced[1]), None, 1)
            yield from self._release(state, process, ALWAYS)
