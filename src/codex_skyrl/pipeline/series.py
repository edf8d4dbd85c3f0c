"""Small pure functions over moments: step-wise depth curves, their means, and the consumption rate."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from math import exp


class Curve:
    """Steps of a depth over time, in two arrays: (time, depth) pairs that hold from their time on."""

    __slots__ = ("_depths", "_times")

    def __init__(self, steps: Iterable[tuple[float, int]]) -> None:
        self._times, self._depths = array("d"), array("l")
        for time, depth in steps:
            self._times.append(time)
            self._depths.append(depth)

    def __len__(self) -> int:
        return len(self._times)

    def __getitem__(self, n: int) -> tuple[float, int]:
        return self._times[n], self._depths[n]

    def __iter__(self) -> Iterator[tuple[float, int]]:
        return zip(self._times, self._depths, strict=True)


Steps = Sequence[tuple[float, int]] | Curve


def depth_curve(changes: Iterable[tuple[int, float, int]], start: int = 0) -> list[tuple[float, int]]:
    """(time, depth) after each (order, time, change), taken in log order.

    Log order decides within a second; a time that steps back (a late line) counts as the present.
    """
    depth, now, curve = start, float("-inf"), list[tuple[float, int]]()
    for _, time, change in sorted(changes):
        depth += change
        now = max(now, time)
        curve.append((now, depth))
    return curve


def time_mean(curve: Steps, begin: float, end: float, before: int = 0) -> float | None:
    """Mean depth over [begin, end] seconds; `before` is the depth until the first change."""
    if end <= begin:
        return None
    area, last_time, depth = 0.0, begin, before
    for time, value in curve:
        if time > begin:
            upto = min(time, end)
            area += depth * max(0.0, upto - last_time)
            last_time = max(last_time, upto)
        depth = value
    area += depth * max(0.0, end - last_time)
    return area / (end - begin)


def at(curve: Steps, time: float, before: int = 0) -> int:
    """The depth that holds at a moment."""
    depth = before
    for moment, value in curve:
        if moment > time:
            break
        depth = value
    return depth


def consumption_per_min(times: Sequence[float]) -> float | None:
    """0.8 N / (t90 - t10) * 60 over completion times in seconds; None for fewer than 5 or no spread.

    t10 and t90 are the order statistics at positions int(0.1 N) and int(0.9 N).
    """
    n = len(times)
    if n < 5:
        return None
    ordered = sorted(times)
    spread = ordered[int(0.9 * n)] - ordered[int(0.1 * n)]
    return 0.8 * n / spread * 60 if spread > 0 else None


def quantile(ordered: Sequence[float], q: float) -> float:
    """Linear interpolation between order statistics of an already sorted, non-empty sequence."""
    position = q * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def open_seconds(
    starts: Iterable[tuple[int, float, int]], ends: Iterable[tuple[int, float, int]], closed: bool
) -> float:
    """Total seconds between starts and ends that carry no ids: the area under (starts so far - ends so far).

    Some starts never end (a turn without a reply). With `closed` (nothing is open after the last change) their
    number is known; the smallest later depth bounds how many lie behind each moment, and that part is taken out.
    Ends without a start (the input begins inside) lift the curve so that it never falls below zero.
    """
    curve = depth_curve([*starts, *ends])
    if len(curve) < 2:
        return 0.0
    lift = max(0, -min(d for _, d in curve))
    left_open = curve[-1][1] + lift if closed else 0
    floor, floors = left_open, [0] * len(curve)
    for i in range(len(curve) - 1, -1, -1):
        floor = min(floor, curve[i][1] + lift)
        floors[i] = floor
    return sum((depth + lift - floors[i]) * (curve[i + 1][0] - time) for i, (time, depth) in enumerate(curve[:-1]))


def lulls(times: Sequence[float], window_s: float) -> float | None:
    """How much more often nothing happens in a window than chance would leave empty; 0 for independent arrivals.

    Share of empty windows minus exp(-mean count), over the middle 80 % of the arrivals. Near 1 when they all come
    together and then none for long. None for fewer than 50 arrivals.
    """
    n = len(times)
    if n < 50 or window_s <= 0:
        return None
    middle = sorted(times)[n // 10 : n * 9 // 10]
    counts = [0] * (int((middle[-1] - middle[0]) / window_s) + 1)
    for time in middle:
        counts[int((time - middle[0]) / window_s)] += 1
    empty = sum(1 for c in counts if c == 0) / len(counts)
    return empty - exp(-len(middle) / len(counts))
