"""Everything the log says about one pipeline (one rank) in one step, gathered event by event.

Owns the mutable record and its growth; what the figures mean is decided in `figures`, where steps begin and end
in `ranks`. Turn and sandbox lines carry no trajectory id, so only their times are kept, as compact arrays: sums
of differences between such series do not depend on which line belongs to which trajectory.
"""

from __future__ import annotations  # array[float] is a type only for the checker before Python 3.12

from array import array
from collections import Counter, deque
from dataclasses import dataclass, field

from codex_skyrl.logs.event import Event, Kind, Lifecycle, When
from codex_skyrl.pipeline.details import Details, Moments, Session, packed, unpacked, when_shifted
from codex_skyrl.pipeline.eval_errors import eval_error_kind
from codex_skyrl.pipeline.trajectory import Place, Trajectory, Visit
from codex_skyrl.report.model import Stage

# Kinds whose moments are kept as a series (time, how many): counts survive even where ids were folded away.
COUNTED = frozenset({
    Kind.INIT_STARTED, Kind.INIT_WORK_DONE, Kind.INIT_DONE, Kind.INIT_FAILED, Kind.RUN_STARTED, Kind.RUN_DONE,
    Kind.RUN_FAILED, Kind.EVAL_STARTED, Kind.EVAL_DONE, Kind.EVAL_FAILED, Kind.TURN_STARTED, Kind.REPLY_PARSED,
    Kind.COMPLETION_STARTED, Kind.COMPLETION_DONE, Kind.MAX_ITERATIONS, Kind.STUCK_IN_LOOP, Kind.TURN_ERROR,
    Kind.SANDBOX_REQUESTED, Kind.SANDBOX_CONNECTING, Kind.SANDBOX_BUILD, Kind.SANDBOX_RETRY, Kind.SANDBOX_ERROR,
    Kind.INIT_SCRIPT_STARTED, Kind.INIT_SCRIPT_DONE, Kind.EVAL_TESTS_STARTED, Kind.EVAL_TESTS_DONE,
    Kind.EVAL_GRADED,
})  # fmt: skip

# Prints whose seconds run from the moment a worker took the item to the moment of the print.
_TIMED_FROM_TAKEN: dict[Kind, Stage] = {Kind.INIT_DONE: "init", Kind.EVAL_DONE: "eval"}

MOST_OPEN = 8  # records whose details are not packed, beside those that still grow

# Lines that the event loop's own thread writes; while it is blocked none of them appears.
LOOP_KINDS = frozenset({
    Kind.INIT_STARTED, Kind.INIT_DONE, Kind.RUN_STARTED, Kind.RUN_DONE, Kind.EVAL_STARTED, Kind.EVAL_DONE,
})  # fmt: skip


@dataclass(slots=True)
class Record:
    """One pipeline in one step. `process` is the writer's name in the log ("" when there is one writer)."""

    source: str
    process: str
    index: int  # nth generate call of this process in the input, from 0
    started: When | None = None
    ended: When | None = None
    started_at: Place | None = None
    ended_at: Place | None = None
    first_at: Place | None = None
    first_event_s: float | None = None
    last_event_s: float | None = None
    truncated: bool = False  # the input begins inside this step
    pooled: bool = False  # all ranks together, their lines folded by Ray
    instances: int | None = None
    batch: int | None = None
    eval_workers: int | None = None
    eval_workers_at: Place | None = None
    eval_errors: Counter[str] = field(default_factory=Counter)
    eval_error_at: dict[str, Place] = field(default_factory=dict)
    max_iterations: int | None = None
    remaining: tuple[Place, str] | None = None
    folded: int = 0
    first_wave: int = 0
    processes: set[str] = field(default_factory=set)  # who wrote its lines
    worked: bool = False  # it holds a trajectory or a moment
    _wave_open: bool = True
    _details: Details | None = field(default_factory=Details)
    _packed: bytes = b""  # the details, as long as they are put away
    _moved_s: float = 0.0  # what the details must be moved by when they are taken out again

    @property
    def details(self) -> Details:
        """What it holds of each trajectory and moment; taken out again when it was put away."""
        if self._details is None:
            self._details = unpacked(self._packed)
            self._details.move(self._moved_s)
            _at_hand(self)
        return self._details

    def put_away(self) -> None:
        """Keep the details packed, in about a sixth of the memory: the step is over and others follow."""
        if self._details is not None and not self._packed:
            self._packed, self._details, self._moved_s = packed(self._details), None, 0.0

    def _reopen(self) -> None:
        """A line came late: the details change, so what was packed is void."""
        self._details, self._packed = self.details, b""
        _AT_HAND.pop(id(self), None)

    @property
    def trajectories(self) -> dict[tuple[str, int], Trajectory]:
        return self.details.trajectories

    @property
    def series(self) -> dict[Kind, Moments]:
        return self.details.series

    @property
    def sessions(self) -> dict[str, Session]:
        return self.details.sessions

    @property
    def turn_gaps(self) -> array[float]:
        return self.details.turn_gaps

    @property
    def loop_seconds(self) -> set[int]:
        return self.details.loop_seconds

    @property
    def thread_seconds(self) -> set[int]:
        return self.details.thread_seconds

    def moments(self, kind: Kind) -> Moments:
        return self.series.get(kind) or Moments()

    def move(self, by: float) -> None:
        """Shift all times by so many seconds."""
        self.started, self.ended = when_shifted(self.started, by), when_shifted(self.ended, by)
        self.first_event_s = None if self.first_event_s is None else self.first_event_s + by
        self.last_event_s = None if self.last_event_s is None else self.last_event_s + by
        if self._packed:
            self._moved_s += by
        if self._details is not None:
            self._details.move(by)

    def just_begun(self, now_s: float) -> bool:
        """Whether only the first wave of inits has been seen, or the first event lies seconds back."""
        if self._wave_open or self.first_event_s is None:
            return True
        return now_s - self.first_event_s < 10.0

    def trajectory(self, instance: str, number: int) -> Trajectory:
        key = (instance, number)
        found = self.trajectories.get(key)
        if found is None:
            found = self.trajectories[key] = Trajectory(instance, number)
            self.worked = True
        return found

    def feed(self, event: Event, line: Lifecycle, order: int) -> None:
        """Take in one lifecycle event of this process and step; `order` is its position in the input."""
        if self._packed:
            self._reopen()
        when, kind = event.when, line.kind
        place = (event.source, event.line)
        time = self._moment(line, when)
        self.first_at = self.first_at or place
        if event.times > 1:
            self.folded += event.times - 1
        if kind in COUNTED and abs(time) != float("inf"):
            details = self.details
            moments = details.series.get(kind)
            if moments is None:
                moments = details.series[kind] = Moments()
            moments.add(order, time, event.times, place)
            self.worked = True
            self.first_event_s = time if self.first_event_s is None else min(self.first_event_s, time)
            self.last_event_s = time if self.last_event_s is None else max(self.last_event_s, time)
            (details.loop_seconds if kind in LOOP_KINDS else details.thread_seconds).add(int(time))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, line, when, place)

    def _moment(self, line: Lifecycle, when: When) -> float:
        """The middle of the interval. Lines that Ray held back come late: then a print's own seconds tell better.

        It may hold one back until the next step; what this call did was done by its end.
        """
        time, stage = when.middle, _TIMED_FROM_TAKEN.get(line.kind)
        if not self.pooled:
            return time
        if stage is not None and line.value is not None:
            known = self.trajectories.get(
                (line.instance or "?", line.trajectory if line.trajectory is not None else -1)
            )
            taken = known.visit(stage).taken_s if known is not None else None
            time = time if taken is None else taken + line.value
        if self.ended is not None and time > self.ended.latest:
            return self.ended.middle
        return time

    # -- init ---------------------------------------------------------------------------------------------------
    def _init_started(self, line: Lifecycle, when: When, place: Place) -> None:
        trajectory = self._of(line)
        trajectory.init.taken_s, trajectory.init.taken_at = when.middle, place
        self.details.initialising.setdefault(trajectory.instance, deque()).append(trajectory)
        if self._wave_open:
            self.first_wave += 1

    def _init_work_done(self, line: Lifecycle, when: When, place: Place) -> None:
        self._wave_open = False
        waiting = self.details.initialising.get(line.instance or "")
        if not waiting:
            return
        trajectory = waiting.popleft()
        trajectory.init.served_s, trajectory.init.served_at = when.middle, place
        trajectory.run.ready_s = when.middle

    def _init_done(self, line: Lifecycle, when: When, place: Place) -> None:
        self._wave_open = False
        trajectory = self._of(line)
        init = trajectory.init
        if init.taken_s is None and line.value is not None and abs(when.middle) != float("inf"):
            init.taken_s = when.middle - line.value
        if init.served_s is None:
            self._swap_with_twin(trajectory)
        if init.served_s is None and init.taken_s is not None and line.value is not None:
            init.served_s = trajectory.run.ready_s = init.taken_s + line.value
            self._forget(trajectory)
        if init.taken_s is not None and line.value is not None:
            put = init.taken_s + line.value
            when = When(max(when.earliest, put - 0.75), min(when.latest, put + 0.75)) if _inside(put, when) else when
        init.released = trajectory.run.entered = when

    def _swap_with_twin(self, trajectory: Trajectory) -> None:
        """The end-of-work line names no trajectory: a twin of the same instance may hold the one that is ours."""
        for twin in self.trajectories.values():
            held = twin.init.served_s is not None and twin.init.released is None and not twin.init.failed
            if held and twin.instance == trajectory.instance and twin is not trajectory:
                trajectory.init.served_s, trajectory.init.served_at = twin.init.served_s, twin.init.served_at
                trajectory.run.ready_s = twin.init.served_s
                twin.init.served_s = twin.init.served_at = twin.run.ready_s = None
                self._forget(trajectory)
                self.details.initialising.setdefault(twin.instance, deque()).appendleft(twin)
                return

    def _init_failed(self, line: Lifecycle, when: When, place: Place) -> None:
        self._wave_open = False
        trajectory = self._of(line)
        init = trajectory.init
        init.failed, init.error = True, line.text or init.error
        init.served_s, init.served_at, init.released = when.middle, place, when
        self._forget(trajectory)

    def _forget(self, trajectory: Trajectory) -> None:
        waiting = self.details.initialising.get(trajectory.instance)
        if waiting and trajectory in waiting:
            waiting.remove(trajectory)

    # -- run ----------------------------------------------------------------------------------------------------
    def _run_started(self, line: Lifecycle, when: When, place: Place) -> None:
        trajectory = self._of(line)
        trajectory.run.taken_s, trajectory.run.taken_at = when.middle, place

    def _turn_started(self, line: Lifecycle, when: When, place: Place) -> None:
        if line.instance is None or line.trajectory is None:
            return
        trajectory = self.trajectories.get((line.instance, line.trajectory))
        if trajectory is None or abs(when.middle) == float("inf"):
            return
        if trajectory.last_turn_s is not None and line.value == trajectory.turns + 1:
            self.turn_gaps.append(when.middle - trajectory.last_turn_s)
        trajectory.turns, trajectory.last_turn_s = int(line.value or 0), when.middle

    def _run_done(self, line: Lifecycle, when: When, place: Place) -> None:
        trajectory = self._of(line)
        run = trajectory.run
        if run.taken_s is not None and line.value is not None:
            run.served_s = run.taken_s + line.value
        elif line.value is not None and abs(when.middle) != float("inf"):
            run.served_s = when.middle
            run.taken_s = when.middle - line.value
        run.served_at, run.released = place, when
        trajectory.eval.ready_s = run.served_s
        trajectory.eval.entered = When(max(when.earliest, min(run.served_s or when.earliest, when.latest)), when.latest)

    def _run_failed(self, line: Lifecycle, when: When, place: Place) -> None:
        run = self._of(line).run
        run.failed, run.error, run.served_s, run.served_at, run.released = True, line.text, when.middle, place, when

    # -- eval ---------------------------------------------------------------------------------------------------
    def _eval_started(self, line: Lifecycle, when: When, place: Place) -> None:
        trajectory = self._of(line)
        trajectory.eval.taken_s, trajectory.eval.taken_at = when.middle, place
        if trajectory.eval.entered is not None and when.latest < trajectory.eval.entered.latest:
            entered = trajectory.eval.entered
            trajectory.eval.entered = When(min(entered.earliest, when.latest), when.latest)

    def _eval_failed(self, line: Lifecycle, when: When, place: Place) -> None:
        visit = self._of(line).eval
        visit.failed, visit.error = True, line.text
        visit.served_s, visit.served_at = when.middle, place
        reason = eval_error_kind(line.text)
        self.eval_errors[reason] += 1
        self.eval_error_at.setdefault(reason, place)

    def _eval_done(self, line: Lifecycle, when: When, place: Place) -> None:
        visit = self._of(line).eval
        _close(visit, line.value, when, place)

    def _tests_started(self, line: Lifecycle, when: When, place: Place) -> None:
        self._of(line).tests_started_s = when.middle

    def _tests_done(self, line: Lifecycle, when: When, place: Place) -> None:
        trajectory = self._of(line)
        trajectory.tests_s, trajectory.tests_done_s = line.value, when.middle

    def _patch_printed(self, line: Lifecycle, when: When, place: Place) -> None:
        self._of(line).patch = True

    # -- sandboxes and the batch --------------------------------------------------------------------------------
    def _connecting(self, line: Lifecycle, when: When, place: Place) -> None:
        if line.instance is not None:
            self.sessions[line.instance] = Session(when.middle, line.text, place)

    def _session_started(self, line: Lifecycle, when: When, place: Place) -> None:
        session = self.sessions.get(line.instance or "")
        if session is not None:
            session.started_s = when.middle

    def _session_ready(self, line: Lifecycle, when: When, place: Place) -> None:
        session = self.sessions.get(line.instance or "")
        if session is not None:
            session.ready_s = when.middle

    def _session_failed(self, line: Lifecycle, when: When, place: Place) -> None:
        session = self.sessions.get(line.instance or "")
        if session is not None:
            session.failed = True

    def _announced(self, line: Lifecycle, when: When, place: Place) -> None:
        self.instances = int(line.value or 0)
        if self.started is None:
            self.started, self.started_at = when, place

    def _trimmed(self, line: Lifecycle, when: When, place: Place) -> None:
        self.batch = int(line.value or 0)
        self.ended, self.ended_at = when, place

    def _capped(self, line: Lifecycle, when: When, place: Place) -> None:
        self.max_iterations = int(line.value or 0)

    def _remaining(self, line: Lifecycle, when: When, place: Place) -> None:
        self.remaining = (place, line.text)

    def _of(self, line: Lifecycle) -> Trajectory:
        return self.trajectory(line.instance or "?", line.trajectory if line.trajectory is not None else -1)


# Records whose details were taken out again, the latest last; more are put back, unchanged.
_AT_HAND: dict[int, Record] = {}


def _at_hand(record: Record) -> None:
    _AT_HAND[id(record)] = record
    if len(_AT_HAND) > MOST_OPEN:
        oldest = _AT_HAND.pop(next(iter(_AT_HAND)))
        oldest._details = None


def _close(visit: Visit, value: float | None, when: When, place: Place) -> None:
    if visit.taken_s is not None and value is not None:
        visit.served_s = visit.taken_s + value
    else:
        visit.served_s = when.middle
        if value is not None:
            visit.taken_s = when.middle - value
    visit.served_at, visit.released = place, when


def _inside(time: float, when: When) -> bool:
    return when.earliest - 1.0 <= time <= when.latest + 1.0


_HANDLERS = {
    Kind.INIT_STARTED: Record._init_started,
    Kind.INIT_WORK_DONE: Record._init_work_done,
    Kind.INIT_DONE: Record._init_done,
    Kind.INIT_FAILED: Record._init_failed,
    Kind.RUN_STARTED: Record._run_started,
    Kind.TURN_STARTED: Record._turn_started,
    Kind.RUN_DONE: Record._run_done,
    Kind.RUN_FAILED: Record._run_failed,
    Kind.EVAL_STARTED: Record._eval_started,
    Kind.EVAL_FAILED: Record._eval_failed,
    Kind.EVAL_DONE: Record._eval_done,
    Kind.EVAL_TESTS_STARTED: Record._tests_started,
    Kind.EVAL_TESTS_DONE: Record._tests_done,
    Kind.PATCH_PRINTED: Record._patch_printed,
    Kind.SANDBOX_CONNECTING: Record._connecting,
    Kind.SANDBOX_STARTED: Record._session_started,
    Kind.SANDBOX_READY: Record._session_ready,
    Kind.SANDBOX_ERROR: Record._session_failed,
    Kind.BATCH_ANNOUNCED: Record._announced,
    Kind.BATCH_TRIMMED: Record._trimmed,
    Kind.MAX_ITERATIONS: Record._capped,
    Kind.REMAINING_TASKS: Record._remaining,
}
