import pytest

from codex_skyrl.report import figures


def test_unknown_is_a_dash_never_zero() -> None:
    shown = [f(None) for f in (figures.count, figures.mean, figures.seconds, figures.between, figures.percent)]
    assert shown == ["–"] * 5
    assert figures.per_minute(None) == figures.change(None) == figures.bounded(None, None) == "–"


def test_zero_is_zero() -> None:
    assert (figures.count(0), figures.seconds(0.0), figures.percent(0.0)) == ("0", "0 s", "0%")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.042, "0.042 s"), (1.25, "1.2 s"), (9.96, "10 s"), (118.4, "118 s"), (1318.5, "1,318 s")],
)
def test_seconds(value: float, shown: str) -> None:
    assert figures.seconds(value) == shown


def test_small_but_not_nothing_is_not_shown_as_zero() -> None:
    assert figures.percent(0.001) == "<1%"
    assert figures.mean(0.04) == "<0.1"
    assert figures.per_minute(0.01) == "<0.1/min"


def test_bounds() -> None:
    assert figures.bounded(118, (96, 140.2)) == "118 s (96–140 s)"
    assert figures.bounded(None, (96, 140)) == "96–140 s"
    assert figures.bounded(118, (118, 118.2)) == "118 s"


def test_changes_carry_their_sign() -> None:
    assert [figures.change(x) for x in (-18.4, 4.0, 0.2, -0.2)] == ["-18%", "+4%", "0%", "0%"]


def test_sizes() -> None:
    assert [figures.size(x) for x in (912, 999_600, 48_212_004)] == ["912 B", "1 MB", "48.2 MB"]
