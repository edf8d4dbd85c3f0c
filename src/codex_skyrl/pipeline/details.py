"""What a record holds of every trajectory, sandbox and moment: the bulk of it, which can be packed while it is not needed."""

from __future__ import annotations  # array[float] is a type only for the checker before Python 3.12

import pickle
import zlib
from array import array
from collections import deque
from dataclasses import dataclass, field

from codex_skyrl.logs.event import Kind, When
from codex_skyrl.pipeline.trajectory import Place, Trajectory


@dataclass(slots=True)
class Moments:
    """A series of moments: `times` (seconds), `counts`, and `orders` (position in the input); with its ends' places."""

    times: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] = field(default_factory=lambda: array("l"))
    orders: array[int] = field(default_factory=lambda: array("q"))
    first: Place | None = None
    last: Place | None = None

    def add(self, order: int, time: float, count: int, place: Place) -> None:
        self.orders.append(order)
        self.times.append(time)
        self.counts.append(count)
        self.first = self.first or place
        self.last = place

    def changes(self, sign: int) -> list[tuple[int, float, int]]:
        """(order, time, signed count) of each moment."""
        return [(o, t, sign * n) for o, t, n in zip(self.orders, self.times, self.counts, strict=True)]

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def sum_s(self) -> float:
        """Sum of the moments, each as often as it counts."""
        return sum(t * n for t, n in zip(self.times, self.counts, strict=True))

    @property
    def mean_s(self) -> float | None:
        return self.sum_s / self.total if self.total else None


@dataclass(slots=True)
class Session:
    """One sandbox from the pool thread that asks for it until it answers; seconds on the source's axis."""

    connecting_s: float
    image: str
    place: Place
    started_s: float | None = None
    ready_s: float | None = None
    failed: bool = False


@dataclass(slots=True)
class Details:
    """`turn_gaps`: seconds between starts of turns; `loop_seconds`, `thread_seconds`: whole seconds in which such lines stand."""

    trajectories: dict[tuple[str, int], Trajectory] = field(default_factory=dict)
    series: dict[Kind, Moments] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    turn_gaps: array[float] = field(default_factory=lambda: array("d"))
    loop_seconds: set[int] = field(default_factory=set)
    thread_seconds: set[int] = field(default_factory=set)
    initialising: dict[str, deque[Trajectory]] = field(default_factory=dict)

    def move(self, by: float) -> None:
        """Shift all times by so many seconds."""
        if not by:
            return
        for moments in self.series.values():
            for i, time in enumerate(moments.times):
                moments.times[i] = time + by
        self.loop_seconds = {int(s + by) for s in self.loop_seconds}
        self.thread_seconds = {int(s + by) for s in self.thread_seconds}
        for session in self.sessions.values():
            session.connecting_s += by
            session.started_s = None if session.started_s is None else session.started_s + by
            session.ready_s = None if session.ready_s is None else session.ready_s + by
        for trajectory in self.trajectories.values():
            _move_trajectory(trajectory, by)


def packed(details: Details) -> bytes:
    """For this process only: never sent or stored."""
    return zlib.compress(pickle.dumps(details, pickle.HIGHEST_PROTOCOL), 1)


def unpacked(data: bytes) -> Details:
    """What `packed` was given."""
    found = pickle.loads(zlib.decompress(data))  # our own bytes
    assert isinstance(found, Details)
    return found


def when_shifted(when: When | None, by: float) -> When | None:
    return None if when is None else When(when.earliest + by, when.latest + by)


def _move_trajectory(trajectory: Trajectory, by: float) -> None:
    for visit in (trajectory.init, trajectory.run, trajectory.eval):
        for name in ("ready_s", "taken_s", "served_s"):
            value = getattr(visit, name)
            if value is not None:
                setattr(visit, name, value + by)
        visit.entered = when_shifted(visit.entered, by)
        visit.released = when_shifted(visit.released, by)
    for name in ("last_turn_s", "tests_started_s", "tests_done_s"):
        value = getattr(trajectory, name)
        if value is not None:
            setattr(trajectory, name, value + by)
