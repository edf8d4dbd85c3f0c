"""Other loggers' dresses: time, level and message of each, and nothing of what is no record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.event import Failure, Kind, Lifecycle
from codex_skyrl.logs.formats.generic import stamp_of_text, unwrap_record
from codex_skyrl.logs.formats.registry import parse_record


@pytest.mark.parametrize(
    ("line", "level", "message", "clock"),
    [
        ("2099-06-01 12:00:00.123 | INFO     | worker.loop:run:12 - text", "info", "text", 43200.123),
        ("2099-06-01 12:00:00,456 - root - WARNING - slow request", "warning", "slow request", 43200.456),
        ("2099-06-01 12:00:00 [name] ERROR: text", "error", "text", 43200.0),
        ("2099-06-01 12:00:00,123\tINFO worker.py:1 -- text", "info", "worker.py:1 -- text", 43200.123),
        ('{"ts": 4083969601.5, "level": "error", "msg": "text"}', "error", "text", 4083969601.5 % 86400),
        (
            '{"timestamp":"2099-06-01T12:00:02+08:00","severity":"INFO","message":"text"}',
            "info",
            "text",
            4 * 3600 + 2.0,
        ),
        ('time="2099-06-01T04:00:03Z" level=warning msg="failed"', "warning", "failed", 4 * 3600 + 3.0),
        (
            'E0601 12:00:04.000000       1 reconciler.go:55] "pod not ready" err="cpu"',
            "error",
            '"pod not ready" err="cpu"',
            43204.0,
        ),
        ("[12:00:05] WARNING  text      file.py:12", "warning", "text", 43205.0),
        ("12:00:06 - other:ERROR: file.py:3 - text", "error", "text", 43206.0),
        ("ERROR:    text", "error", "text", None),
        ("[ERROR] text", "error", "text", None),
    ],
)
def test_each_dress(line: str, level: str, message: str, clock: float | None) -> None:
    record = unwrap_record(line)
    assert record is not None
    assert (record.level, record.message) == (level, message)
    if clock is None:
        assert record.stamp is None
    else:
        assert record.stamp is not None
        assert record.stamp.seconds % 86400 == pytest.approx(clock, abs=1e-3)


@pytest.mark.parametrize(
    "line", ["", "plain text", "Error in a sentence", "{not json", "a=b c=d", "2099 was a year", "[1, 2]"]
)
def test_no_record(line: str) -> None:
    assert unwrap_record(line) is None


def test_a_lifecycle_message_in_any_dress_and_errors_of_any_logger() -> None:
    said = parse_record("2099-06-01 12:00:00.1 | INFO | a:b:1 - Running agent for instance a__b-1, trajectory 0")
    assert said is not None
    assert isinstance(said.body, Lifecycle)
    assert said.body.kind is Kind.RUN_STARTED
    failed = parse_record("[ERROR] disk full")
    assert failed is not None
    assert failed.body == Failure("error", "disk full")
    assert parse_record("[INFO] all well") is None


def test_zones_and_impossible_dates() -> None:
    noon = stamp_of_text("2025-05-20T12:00:00Z")
    east = stamp_of_text("2025-05-20 20:00:00+0800")
    assert noon is not None
    assert east is not None
    assert noon.seconds == east.seconds
    assert stamp_of_text("2025-02-31T12:00:00Z") is None


@given(st.text(max_size=200))
def test_no_text_stops_it(text: str) -> None:
    unwrap_record(text)
    unwrap_record("{" + text)
    unwrap_record("time=" + text)
