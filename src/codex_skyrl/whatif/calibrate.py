"""Makes a play reproduce what was observed, by the one thing its log leaves open: how long items waited for a pool thread.

Only the mean wait of the first call is printed; items wait before later calls as well, and not all alike.
"""

from collections.abc import Callable

from codex_skyrl.whatif.job import Play
from codex_skyrl.whatif.replay import replay

_CLOSE = 0.004
_TRIES = 7
_RANGE = (0.7, 1.4)


def calibrated(play_with: Callable[[float], Play | None], wait_s: float) -> Play | None:
    """The play for the pool wait near `wait_s` (seconds a call) whose replay lasts as long as the step did.

    `play_with` makes the play for a wait; a longer wait leaves less work. The play for `wait_s` itself when none is closer.
    """
    first = play_with(wait_s)
    if first is None or wait_s < 1.0:
        return first
    best, low, high = first, *_RANGE
    for _ in range(_TRIES):
        if abs(_off(best)) <= _CLOSE:
            break
        middle = (low + high) / 2
        tried = play_with(middle * wait_s)
        if tried is None:
            break
        off = _off(tried)
        best = min(best, tried, key=lambda p: abs(_off(p)))
        low, high = (middle, high) if off > 0 else (low, middle)
    return best


def _off(play: Play) -> float:
    """How much longer the replay lasts than what was observed, as a share."""
    return replay(play.jobs, play.structure).makespan_s / play.observed_s - 1.0
