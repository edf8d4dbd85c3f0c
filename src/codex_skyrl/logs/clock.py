"""Time of one source: stamps of several kinds become intervals on one axis, without inventing a date.

The axis of a source counts seconds from midnight of its first day. `shift_s` says where that midnight lies on the
calendar once any line has stated a date. Owns midnight, disorder around it and time zones of outer stamps; knows
nothing about files or formats.
"""

from codex_skyrl.logs.event import When
from codex_skyrl.logs.formats import Stamp

DAY = 86400.0
HALF_DAY = DAY / 2
_DISORDER = 3600.0  # how far back a line of the same process may be late before it must be the next day
_QUARTER = 900.0  # time zones are multiples of 15 minutes


class Clock:
    """Places stamps. Per process the last time is kept; a new process starts near the source's last time.

    Within a process a step back of more than an hour is midnight; a smaller one is disorder and stays where it
    says. Gaps of about a day and more without a dated line cannot be seen.
    """

    def __init__(self) -> None:
        self.shift_s: float | None = None
        self._last: dict[str, float] = {}
        self._source_last: float | None = None
        self._first: float | None = None
        self._newest = 0.0
        self._offset: dict[bool, float] = {False: 0.0}

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last placed time, seconds on the source's axis; None when nothing was placed."""
        return None if self._first is None else (self._first, self._newest)

    @property
    def day_changes(self) -> int:
        return 0 if self._first is None else int(self._newest // DAY - self._first // DAY)

    def place(self, process: str, stamp: Stamp, *, settle: bool = True) -> When:
        """The interval a stamp stands for. `settle=False` looks without moving the clock."""
        time = self._dated(process, stamp) if stamp.dated else self._undated(process, stamp.seconds)
        if settle:
            self._settle(process, time)
        return When(time, time + stamp.resolution)

    def learn_zone(self, outer: Stamp, inner: Stamp) -> None:
        """Take the difference between a wrapper's UTC stamp and the local stamp inside the same line."""
        if not outer.utc or inner.dated or True in self._offset:
            return
        difference = (inner.seconds - outer.seconds % DAY + HALF_DAY) % DAY - HALF_DAY
        self._offset[True] = round(difference / _QUARTER) * _QUARTER

    def last(self, process: str) -> float | None:
        """The last time settled for a process, seconds on the source's axis."""
        return self._last.get(process)

    def _undated(self, process: str, time_of_day: float) -> float:
        own = self._last.get(process)
        if own is not None:
            return _first_after(time_of_day, own - _DISORDER)
        if self._source_last is not None:
            return _first_after(time_of_day, self._source_last - HALF_DAY)
        return time_of_day

    def _dated(self, process: str, stamp: Stamp) -> float:
        local = stamp.seconds + self._offset.get(stamp.utc, 0.0)
        if self.shift_s is None:
            self.shift_s = local - self._undated(process, local % DAY)
        return local - self.shift_s

    def _settle(self, process: str, time: float) -> None:
        before = self._last.get(process)
        if before is None or time > before:
            self._last[process] = time
        if self._source_last is None or time > self._source_last:
            self._source_last = time
        self._first = time if self._first is None else min(self._first, time)
        self._newest = max(self._newest, time)


def _first_after(time_of_day: float, floor: float) -> float:
    """The first moment not before `floor` that has this time of day."""
    return floor + (time_of_day - floor) % DAY
