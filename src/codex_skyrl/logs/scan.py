"""One source (a file, or a rotated set read as one) becomes a stream of events in one pass.

Puts the parts together: chunks -> rows (`sift`) -> wrapping -> payload -> formats -> clock. A print has no time: its
interval runs from the stamp before it to the stamp after it in the same process, so events of a process come out in order
but a print waits for the next stamp.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from codex_skyrl.logs.clock import Clock
from codex_skyrl.logs.event import Body, Event, Kind, Lifecycle, When
from codex_skyrl.logs.formats import Parsed, Stamp, lifecycle
from codex_skyrl.logs.formats.registry import HINT, family_of, parse_line, parse_record, table_for
from codex_skyrl.logs.lines import Reading, numbered_lines
from codex_skyrl.logs.payload import Payload, fits
from codex_skyrl.logs.ranges import Landmarks, rows_of
from codex_skyrl.logs.sift import HEADER, Row
from codex_skyrl.logs.traceback import START, Tracebacks
from codex_skyrl.logs.unwrap import Wrapped, has_syslog_time, unwrap

LIFECYCLE = family_of(Lifecycle(Kind.RUN_STARTED))
NEVER, ALWAYS = float("-inf"), float("inf")
_HEAD_LINES = 60
_MOST_PENDING = 5_000  # prints of one process that may wait for its next stamp


@dataclass(slots=True)
class FileReport:
    """One file: how it was read, and what was understood per format family."""

    path: str
    reading: Reading = field(default_factory=Reading)
    families: dict[str, int] = field(default_factory=dict)
    damaged_records: int = 0
    folded: int = 0  # lines that Ray's de-duplication swallowed
    landmarks: Landmarks = field(default_factory=list, compare=False)
    quoted: int = 0  # lines that look like events but stand in a patch or in command output


@dataclass(slots=True)
class _Process:
    """State of one writer. `clock` is the last time of day that was placed, as `last`."""

    pending: list[tuple[str, int, Body, int]] = field(default_factory=list)
    last: When | None = None
    clock: float | None = None
    payload: Payload = field(default_factory=Payload)
    traces: Tracebacks = field(default_factory=Tracebacks)
    partial: Wrapped | None = None
    partial_line: int = 0
    calm: bool = True  # nothing is open that a line could be part of, or end

    def settle(self) -> None:
        """Note whether anything is open."""
        self.calm = self.partial is None and self.payload.calm and not self.traces.active


class Scanner:
    """Reads the files of one source in order. `reports` and `clock` are complete when `events` is exhausted.

    `processes`: how many may sift a big file side by side; 1 keeps to this one.
    """

    def __init__(self, paths: list[Path], names: list[str] | None = None, *, processes: int = 1) -> None:
        self._paths = paths
        self._names = names or [str(p) for p in paths]
        self._side_by_side = processes
        self.clock = Clock()
        self.reports: list[FileReport] = []
        self._processes: dict[str, _Process] = {}

    def events(self) -> Iterator[Event]:
        """All events. Raises OSError when a file cannot be opened."""
        for path, name in zip(self._paths, self._names, strict=True):
            report = FileReport(name)
            self.reports.append(report)
            head = [text for _, text in islice(numbered_lines(path, Reading()), _HEAD_LINES)]
            table = table_for("\n".join(head))
            if table is None:
                every = any(map(has_syslog_time, head))
                for base, rows in rows_of(path, report.reading, report.landmarks, self._side_by_side, every=every):
                    yield from self._rows(base, rows, report, every)
                continue
            for number, text in numbered_lines(path, report.reading):
                for row in table.feed(number, text):
                    yield self._row(report, row.line, row.body, row.stamp)
            for row in table.close():
                yield self._row(report, row.line, row.body, row.stamp)
        yield from self._close()

    def _row(self, report: FileReport, line: int, body: Body, stamp: Stamp | None) -> Event:
        report.families[family_of(body)] = report.families.get(family_of(body), 0) + 1
        when = self.clock.place("", stamp) if stamp else When(NEVER, ALWAYS)
        return Event(report.path, line, "", when, body)

    def _rows(self, base: int, rows: Iterable[Row], report: FileReport, syslog: bool) -> Iterator[Event]:
        processes, path = self._processes, report.path
        plain = 0
        for line, process, seconds, kind, instance, trajectory, value, text in rows:
            number = base + line
            if process is None:
                yield from self._text(number, text, report, syslog)
                continue
            state = processes.get(process)
            if state is None:
                state = processes[process] = _Process()
            if not state.calm or kind is Kind.PATCH_PRINTED:
                yield from self._cut_short(report, state)
                parsed = _parsed(seconds, kind, instance, trajectory, value, text)
                yield from self._say(report, state, number, Wrapped(text or ".", process), *parsed)
                state.settle()
            elif seconds is None:
                assert kind is not None, "what states no time is a print that means something"
                plain += 1
                state.pending.append((path, number, Lifecycle(kind, instance, trajectory, value, text), 1))
                if state.last is None or len(state.pending) > _MOST_PENDING:
                    yield from self._overdue(state, process)
            else:
                when = state.last
                if seconds != state.clock or when is None:
                    when, state.clock = self.clock.place(process, Stamp(seconds, dated=False, resolution=1.0)), seconds
                if state.pending:
                    yield from self._release(state, process, when.latest)
                state.last = when
                if kind is not None:
                    plain += 1
                    yield Event(path, number, process, when, Lifecycle(kind, instance, trajectory, value, text))
        if plain:
            report.families[LIFECYCLE] = report.families.get(LIFECYCLE, 0) + plain

    def _text(self, number: int, text: str, report: FileReport, syslog: bool) -> Iterator[Event]:
        for item in unwrap(text, syslog=syslog):
            if item.damaged:
                report.damaged_records += 1
                continue
            state = self._processes.get(item.process)
            if state is None:
                state = self._processes[item.process] = _Process()
            if item.partial or (state.partial is not None and item.stamp is not None):
                joined = self._join(state, number, item)
                if joined is not None:
                    yield from self._line(report, state, *joined)
            else:
                yield from self._cut_short(report, state)
                yield from self._line(report, state, number, item)
            state.settle()

    def _cut_short(self, report: FileReport, state: _Process) -> Iterator[Event]:
        """A line outside the collector's wrapping: what was to be continued stands as it is."""
        if state.partial is not None:
            cut, state.partial = state.partial, None
            yield from self._line(report, state, state.partial_line, cut._replace(partial=False))

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
        report.folded += item.times - 1
        parsed = (parse_line(text) or parse_record(text)) if HINT.search(text) else None
        stamp, header = item.stamp, False
        if parsed is None and text[2:3] == ":" and text[5:6] == ":":
            stamp = lifecycle.stamp_of(text)
            header = stamp is not None and " - openhands:" not in text
        yield from self._say(report, state, number, item, parsed, stamp, header)

    def _say(
        self, report: FileReport, state: _Process, number: int, item: Wrapped,
        parsed: Parsed | None, stamp: Stamp | None, header: bool,
    ) -> Iterator[Event]:  # fmt: skip
        """One line of a process. `stamp`: the time of a line that means nothing else, `header` that a block follows it."""
        traced = None
        if state.traces.active or item.text.startswith(START):
            traced = state.traces.step(number, item.text)
        if traced:
            yield from self._emit(report, state, item.process, traced[0], Parsed(traced[1]), item.stamp, 1)
        hidden = state.payload.step(number, item.text, item.times > 1)
        if hidden and not (parsed and parsed.stamp and self._present(item.process, parsed.stamp)):
            report.quoted += parsed is not None
        elif parsed is not None:
            yield from self._emit(report, state, item.process, number, parsed, item.stamp, item.times)
            if isinstance(parsed.body, Lifecycle) and parsed.body.kind is Kind.PATCH_PRINTED and item.times == 1:
                state.payload.patch_announced()
        elif stamp is not None:
            if header:
                state.payload.header_seen()
            yield from self._tick(state, item.process, stamp, item.stamp)

    def _present(self, process: str, stamp: Stamp) -> bool:
        return fits(self.clock.place(process, stamp, settle=False).earliest, self.clock.last(process))

    def _tick(self, state: _Process, process: str, stamp: Stamp, outer: Stamp | None) -> Iterator[Event]:
        """Move the clock; a time without a meaning still bounds the prints around it."""
        if outer is not None and outer is not stamp:
            self.clock.learn_zone(outer, stamp)
        when = self.clock.place(process, stamp)
        if state.pending:
            yield from self._release(state, process, when.latest)
        state.last, state.clock = when, None

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
        yield from self._overdue(state, process)

    def _overdue(self, state: _Process, process: str) -> Iterator[Event]:
        """Prints that need not wait: their process has never stated a time, or says none for too long."""
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


def _parsed(
    seconds: float | None, kind: Kind | None, instance: str | None, trajectory: int | None, value: float | None, text: str
) -> tuple[Parsed | None, Stamp | None, bool]:  # fmt: skip
    """A row that was understood in bulk, as `_say` takes it."""
    stamp = None if seconds is None else Stamp(seconds, dated=False, resolution=1.0)
    if kind is None:
        return None, stamp, text == HEADER
    return Parsed(Lifecycle(kind, instance, trajectory, value, text), stamp), None, False
