"""Where a series changes its level once and for good: the split that explains most of its variance.

Pure; used for throughput of a server and for figures per step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codex_skyrl.pipeline import series

_LEAST_SIDE = 4


@dataclass(frozen=True, slots=True)
class Change:
    """`at` is the index of the first value after the change; `before` and `after` are medians."""

    at: int
    before: float
    after: float
    explained: float  # share of the variance that the two levels explain

    @property
    def ratio(self) -> float:
        return self.after / self.before if self.before else float("inf")


def change_of(values: Sequence[float]) -> Change | None:
    """The one split with the largest drop in squared error; None for fewer than 8 values or a flat series."""
    n = len(values)
    if n < 2 * _LEAST_SIDE:
        return None
    total, squares = sum(values), sum(v * v for v in values)
    spread = squares - total * total / n
    if spread <= 1e-9 * max(1.0, squares):
        return None
    best, best_gain, left = 0, 0.0, 0.0
    for i in range(1, n):
        left += values[i - 1]
        if _LEAST_SIDE <= i <= n - _LEAST_SIDE:
            gain = left * left / i + (total - left) ** 2 / (n - i) - total * total / n
            if gain > best_gain:
                best, best_gain = i, gain
    before, after = sorted(values[:best]), sorted(values[best:])
    return Change(best, series.quantile(before, 0.5), series.quantile(after, 0.5), best_gain / spread)
