"""How much longer or shorter steps became, with an interval that says how sure that is from so few of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, variance

FEWEST = 2  # steps of each side; one step tells nothing of how much steps differ
_LEAST_SPREAD = 0.02  # stamps are whole seconds and luck in queues is about that: nothing counts as more even
# 97.5 % points of Student's t for 1, 2, ... degrees of freedom (any table of the distribution)
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
      2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ratio:
    """Percent by which the mean changed; the 95 % interval is None with fewer than `FEWEST` steps a side."""

    change_pct: float
    low_pct: float | None
    high_pct: float | None


def ratio(before: Sequence[float], after: Sequence[float]) -> Ratio | None:
    """The change of the mean of positive values; None without values.

    The interval is Student's t on the logarithm of the ratio of means, whose standard error is
    cv * sqrt(1/n + 1/m) to first order, with cv the pooled coefficient of variation.
    """
    if not before or not after:
        return None
    shift = log(fmean(after) / fmean(before))
    if min(len(before), len(after)) < FEWEST:
        return Ratio(_percent(shift), None, None)
    freedom = len(before) + len(after) - 2
    pooled = sum((len(side) - 1) * variance(side) / fmean(side) ** 2 for side in (before, after)) / freedom
    spread = sqrt(max(pooled, _LEAST_SPREAD**2) * (1 / len(before) + 1 / len(after)))
    half = (_T[freedom - 1] if freedom <= len(_T) else 1.96) * spread
    return Ratio(_percent(shift), _percent(shift - half), _percent(shift + half))


def _percent(shift: float) -> float:
    return 100.0 * (exp(shift) - 1.0)
