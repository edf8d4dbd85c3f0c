"""Stamps become moments on one axis: midnight, disorder, several processes, dates and zones."""

from codex_skyrl.logs.clock import DAY, Clock
from codex_skyrl.logs.formats import Stamp


def at(hours: int, minutes: int = 0, seconds: int = 0) -> Stamp:
    return Stamp(hours * 3600.0 + minutes * 60 + seconds, dated=False, resolution=1.0)


def test_midnight_passes_once() -> None:
    clock = Clock()
    evening, morning = clock.place("p", at(23, 59, 58)), clock.place("p", at(0, 0, 3))
    assert morning.earliest - evening.earliest == 5.0
    assert clock.day_changes == 1


def test_a_late_line_stays_before_midnight() -> None:
    clock = Clock()
    clock.place("p", at(0, 0, 3))
    clock.place("p", at(23, 59, 58))  # the first line seen of this day is later in the day: no step back
    other = Clock()
    other.place("p", at(23, 59, 59))
    other.place("p", at(0, 0, 3))
    late = other.place("p", at(23, 59, 58))
    assert late.earliest == 23 * 3600 + 59 * 60 + 58
    assert other.day_changes == 1


def test_a_new_process_starts_near_the_source() -> None:
    clock = Clock()
    clock.place("a", at(23, 59, 0))
    clock.place("a", at(0, 1, 0))
    assert clock.place("b", at(0, 0, 30)).earliest == DAY + 30
    assert clock.place("c", at(23, 59, 30)).earliest == DAY - 30


def test_a_stamp_holds_for_its_resolution() -> None:
    assert Clock().place("p", at(12))._asdict() == {"earliest": 43200.0, "latest": 43201.0}


def test_a_dated_line_dates_the_axis() -> None:
    clock = Clock()
    clock.place("p", at(23, 59, 0))
    noon = 1_747_742_400.0
    clock.place("p", Stamp(noon - 12 * 3600 + 60, dated=True, resolution=1.0))  # 00:01 of the next day
    assert clock.shift_s == noon - 12 * 3600 - DAY
    assert clock.span == (86340.0, DAY + 60)


def test_the_zone_is_learnt_from_a_line_that_has_both() -> None:
    clock = Clock()
    outer = Stamp(1_747_742_400.0, dated=True, resolution=0.001, utc=True)  # 12:00 UTC
    clock.learn_zone(outer, at(20))
    placed = clock.place("p", outer)
    assert placed.earliest % DAY == 20 * 3600


def test_looking_does_not_move_the_clock() -> None:
    clock = Clock()
    clock.place("p", at(12))
    clock.place("p", at(13), settle=False)
    assert clock.last("p") == 43200.0
