"""Intervals from few steps: against a table, against chance, and honest about one step."""

from math import log
from random import Random

import pytest

from codex_skyrl.compare.statistics import ratio


def test_two_and_two_by_hand() -> None:
    """Both sides vary by cv = sqrt(50) / 105; t(2) = 4.303, standard error cv * sqrt(1/2 + 1/2)."""
    found = ratio([100.0, 110.0], [50.0, 55.0])
    assert found is not None
    assert found.low_pct is not None
    assert found.high_pct is not None
    assert found.change_pct == pytest.approx(-50.0)
    half = 4.303 * 50**0.5 / 105
    assert log(1 + found.high_pct / 100) - log(0.5) == pytest.approx(half)
    assert log(0.5) - log(1 + found.low_pct / 100) == pytest.approx(half)


@pytest.mark.parametrize(("before", "after"), [([100.0], [50.0]), ([100.0, 101.0, 99.0], [50.0])])
def test_one_step_has_a_change_but_no_interval(before: list[float], after: list[float]) -> None:
    found = ratio(before, after)
    assert found is not None
    assert found.change_pct == pytest.approx(-50.0, abs=1.0)
    assert (found.low_pct, found.high_pct) == (None, None)


def test_nothing_to_compare() -> None:
    assert ratio([], [1.0, 2.0]) is None


def test_equal_steps_are_not_taken_for_certainty() -> None:
    found = ratio([100.0] * 3, [100.0] * 3)
    assert found is not None
    assert found.low_pct is not None
    assert found.low_pct < -3.0


@pytest.mark.parametrize(("steps", "spread"), [(2, 0.05), (4, 0.10), (40, 0.10)])
def test_about_nineteen_of_twenty_intervals_hold_the_truth(steps: int, spread: float) -> None:
    chance = Random(3)
    inside = 0
    for _ in range(2_000):
        old, new = ([m * 2.718281828 ** chance.gauss(0, spread) for _ in range(steps)] for m in (100.0, 80.0))
        found = ratio(old, new)
        assert found is not None
        assert found.low_pct is not None
        assert found.high_pct is not None
        inside += found.low_pct <= -20.0 <= found.high_pct
    assert 0.94 <= inside / 2_000 <= 0.99
