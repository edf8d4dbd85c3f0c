"""How far the clocks of nodes stand apart, from events that happen on all of them together: the starts of generate calls.

The trainer enters a generate call on all ranks at once, and each rank's first init starts within a second. So the
difference between two nodes' first inits of the same call is the difference of their clocks, give or take that second. Calls
are paired by their order; where the beginning of one log is missing, by the shift of the order that agrees best.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from codex_skyrl.logs.clock import DAY, HALF_DAY
from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline.run import Gathered

_LEAST_PAIRS = 3
_MOST_SPREAD_S = 5.0
_NOTICEABLE_S = 2.0
_STAMP_S = 1.0  # stamps are whole seconds
_SHIFTS = (0, 1, -1, 2, -2, 3, -3)


@dataclass(frozen=True, slots=True)
class Skew:
    """A node's clock against `reference`: positive when it is ahead. `spread_s`: half the range that the pairs agree within."""

    seconds: float
    spread_s: float
    pairs: int
    reference: str

    @property
    def noticeable(self) -> bool:
        """Large enough to be told from the whole seconds of stamps and from the spread."""
        return abs(self.seconds) >= max(_NOTICEABLE_S, 2 * self.spread_s)


def skews_of(nodes: Mapping[str, Iterable[Gathered]]) -> dict[str, Skew | None]:
    """Each node's skew against the node with most calls; None where too few events pair. The reference is left out."""
    starts = {node: _starts(gathered) for node, gathered in nodes.items()}
    if len(starts) < 2:
        return {}
    reference = max(starts, key=lambda node: len(starts[node]))
    return {node: _skew(own, starts[reference], reference) for node, own in starts.items() if node != reference}


def _starts(sources: Iterable[Gathered]) -> list[float]:
    """When each call began on a node: its earliest rank's first init, seconds on the calendar or of the day."""
    first: dict[int, float] = {}
    for source in sources:
        for record in source.records:
            times = record.moments(Kind.INIT_STARTED).times
            if times and not record.truncated:
                moment = times[0] + (source.shift_s or 0.0)
                first[record.index] = min(first.get(record.index, moment), moment)
    return [first[index] for index in sorted(first)]


def _skew(own: Sequence[float], other: Sequence[float], reference: str) -> Skew | None:
    tries = (_differences(own[max(0, k) :], other[max(0, -k) :]) for k in _SHIFTS)
    paired = [d for d in tries if len(d) >= _LEAST_PAIRS]
    agreeing = min(map(_spread, paired), default=_MOST_SPREAD_S)
    if agreeing >= _MOST_SPREAD_S:
        return None
    # steps of one length agree under every shift: clocks that are nearer are likelier
    best = min((d for d in paired if _spread(d) <= agreeing + _STAMP_S), key=lambda d: abs(median(d)))
    return Skew(median(best), _spread(best), len(best), reference)


def _differences(own: Sequence[float], other: Sequence[float]) -> list[float]:
    """Of paired moments, less whole days: some sources do not state their date."""
    return [(a - b + HALF_DAY) % DAY - HALF_DAY for a, b in zip(own, other, strict=False)]


def _spread(differences: Sequence[float]) -> float:
    """Half the range of the middle nine tenths."""
    ordered = sorted(differences)
    cut = len(ordered) // 20
    return (ordered[len(ordered) - 1 - cut] - ordered[cut]) / 2
