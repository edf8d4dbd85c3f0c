"""Cuts the lifecycle lines of one source into records: one per generate call and rank, or one per call for all ranks.

Owns where a step begins and ends. Ranks are told apart by their process; where Ray has folded lines of several ranks
together (`pooled`), all of them share one record and ids carry the process that happened to print them.
"""

from codex_skyrl.logs.event import Event, Kind, Lifecycle
from codex_skyrl.pipeline.record import MOST_OPEN, Record
from codex_skyrl.pipeline.trajectory import Place, Trajectory

_OPENING = frozenset({Kind.BATCH_ANNOUNCED, Kind.GENERATE_STARTED})
_CLOSING = frozenset({Kind.GENERATE_FINISHED, Kind.BATCH_TRIMMED, Kind.STEP_TIMED_OUT})
_OTHER_WORK = frozenset({Kind.WEIGHTS_RESUMED, Kind.POOL_ANNOUNCED, Kind.PHASE_DRAINED})
_EVAL_ENDS = frozenset({Kind.EVAL_DONE, Kind.EVAL_FAILED, Kind.EVAL_TESTS_DONE, Kind.EVAL_GRADED})
_CALLS_OPEN = 3  # of a process: its lines belong to the call that goes on, or to the one before


class StepCutter:
    """Takes lifecycle events in input order; `records` grows."""

    def __init__(self, name: str, *, pooled: bool = False) -> None:
        self.records: list[Record] = []
        self._name, self._pooled = name, pooled
        self._current: dict[str, Record] = {}
        self._closed: set[str] = set()
        self._eval_workers: dict[str, tuple[int, Place]] = {}
        self._order = 0

    def feed(self, event: Event, line: Lifecycle) -> None:
        """Put one line into the record it belongs to."""
        self._order += 1
        if line.kind in _OTHER_WORK:
            return
        writer = event.process
        if self._pooled:
            event, line = event._replace(process=""), _marked(line, writer)
        if line.kind is Kind.EVAL_WORKERS:
            self._workers_printed(event, line)
            return
        record = self._record(event, line)
        if record is None:
            return
        record.processes.add(writer)
        self._note_bounds(record, event, line)
        record.eval_workers, record.eval_workers_at = self._eval_workers.get(event.process, (None, None))
        record.feed(event, line, self._order)

    def _workers_printed(self, event: Event, line: Lifecycle) -> None:
        """Printed just before a call announces itself."""
        if line.value and line.value > 0:
            self._eval_workers[event.process] = int(line.value), (event.source, event.line)

    def _record(self, event: Event, line: Lifecycle) -> Record | None:
        record = self._current.get(event.process)
        if line.kind in _OPENING:
            return self._opened(event, record)
        if record is None:
            return None if line.kind is Kind.GENERATE_FINISHED else self._begin(event, truncated=True)
        if self._starts_again(record, line):
            return self._begin(event, truncated=False)
        if self._belongs_to_previous(record, event, line):
            return self._previous(record)
        return record

    def _opened(self, event: Event, record: Record | None) -> Record:
        """A generate call announces itself twice, in either order, and once more per tensor-parallel rank.

        Through Ray the announcements may also come after the first init starts: they still open that step. Of ranks
        that are folded together some are held back for long, so only the first after a step's end opens the next.
        """
        if record is None or event.process in self._closed:
            return self._begin(event, truncated=False)
        if not self._pooled and record.trajectories and not record.just_begun(event.when.earliest):
            return self._begin(event, truncated=False)
        record.truncated = False
        return record

    def _begin(self, event: Event, *, truncated: bool) -> Record:
        process = event.process
        index = sum(1 for r in self.records if r.process == process)
        record = Record(self._name, process, index, truncated=truncated and index == 0, pooled=self._pooled)
        self.records.append(record)
        over = len(self.records) - max(MOST_OPEN, _CALLS_OPEN * (1 + len(self._current)))
        if over > 0:
            self.records[over - 1].put_away()
        self._current[process] = record
        self._closed.discard(process)
        return record

    def _starts_again(self, record: Record, line: Lifecycle) -> bool:
        """Without an announcement: an init start after the step's end, or of an item that came to its end before."""
        if line.kind is not Kind.INIT_STARTED:
            return False
        known = _known(record, line)
        again = known is not None and known.init.taken_s is not None and known.finished
        return again or (record.process in self._closed and not self._pooled)

    def _belongs_to_previous(self, record: Record, event: Event, line: Lifecycle) -> bool:
        """Lines of the step before: of evaluations that outlive their call, or held back by Ray."""
        if self._pooled and record.first_event_s is not None and event.when.latest < record.first_event_s - 1.0:
            return True
        if line.kind not in _EVAL_ENDS:
            return False
        if self._pooled:
            return not record.moments(Kind.EVAL_STARTED).total
        known = _known(record, line)
        if known is not None and known.eval.taken_s is not None:
            return False
        before = self._previous(record)
        old = _known(before, line)
        return before is not record and old is not None and old.eval.served_s is None

    def _previous(self, record: Record) -> Record:
        same = (r for r in self.records if r.process == record.process and r.index == record.index - 1)
        return next(same, record)

    def _note_bounds(self, record: Record, event: Event, line: Lifecycle) -> None:
        place = (event.source, event.line)
        if line.kind in _OPENING and record.started is None:
            record.started, record.started_at = event.when, place
        if line.kind in _CLOSING:
            if record.ended is None or line.kind is not Kind.GENERATE_FINISHED:
                record.ended, record.ended_at = event.when, place
            if self._current.get(record.process) is record:
                self._closed.add(record.process)


def _known(record: Record, line: Lifecycle) -> Trajectory | None:
    return record.trajectories.get((line.instance or "", line.trajectory if line.trajectory is not None else -1))


def _marked(line: Lifecycle, writer: str) -> Lifecycle:
    """Ids of several ranks repeat: the writer makes them differ."""
    return line if line.instance is None else line._replace(instance=f"{writer}:{line.instance}")
