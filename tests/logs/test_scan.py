"""Whole sources: what is understood, where and when, and that nothing in a file can stop the reader."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.event import Event, Failure, Kind, Lifecycle, Progress
from codex_skyrl.logs.scan import Scanner
from story import batch, play, write_log


def scan(path: Path) -> tuple[list[Event], Scanner]:
    scanner = Scanner([path])
    return list(scanner.events()), scanner


def events(tmp_path: Path, *lines: str) -> list[Event]:
    path = tmp_path / "x.log"
    path.write_text("\n".join(lines) + "\n")
    return scan(path)[0]


def kinds(found: list[Event]) -> list[tuple[int, str]]:
    return [(e.line, e.body.kind if isinstance(e.body, Lifecycle) else type(e.body).__name__) for e in found]


LOG = "{} - openhands:INFO: codeact.py:1 - {}"
RUN, EVAL = "Running agent for instance a__b-1, trajectory 0", "Evaluating agent for instance a__b-1, trajectory 0"


def test_a_print_lies_between_the_stamps_around_it(tmp_path: Path) -> None:
    found = events(
        tmp_path, LOG.format("12:00:00", RUN), "instance id a__b-1, trajectory 0, step 1", LOG.format("12:00:09", EVAL)
    )
    assert [(e.line, e.when) for e in found] == [(1, (43200, 43201)), (2, (43200, 43210)), (3, (43209, 43210))]


def test_prints_of_one_process_are_not_timed_by_another(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        "(W pid=1) " + LOG.format("12:00:00", RUN),
        "(W pid=1) instance id a__b-1, trajectory 0, step 1",
        "(W pid=2) " + LOG.format("12:30:00", RUN),
        "(W pid=1) " + LOG.format("12:00:05", EVAL),
    )
    turn = next(e for e in found if e.line == 2)
    assert turn.when == (43200, 43206)


def test_a_line_that_stands_for_many(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        "(W pid=1) " + LOG.format("09:00:00", RUN),
        "(W pid=2) " + LOG.format("09:00:05", RUN) + " [repeated 15x across cluster]",
    )
    assert [e.times for e in found] == [1, 15]


def test_a_patch_that_quotes_log_lines_is_no_event(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        LOG.format("12:00:00", RUN),
        "Git patch for instance a__b-1, traj 0:",
        "-" * 80,
        "instance id a__b-1, trajectory 0, step 9",
        LOG.format("03:00:00", EVAL),
        "-" * 80,
        LOG.format("12:00:01", EVAL),
    )
    assert kinds(found) == [(1, Kind.RUN_STARTED), (2, Kind.PATCH_PRINTED), (7, Kind.EVAL_STARTED)]


def test_midnight_within_a_source(tmp_path: Path) -> None:
    found = events(tmp_path, LOG.format("23:59:50", RUN), LOG.format("00:00:10", EVAL))
    assert found[1].when.earliest - found[0].when.earliest == 20.0


def test_docker_parts_are_joined_before_they_are_read(tmp_path: Path) -> None:
    def record(log: str) -> str:
        return json.dumps({"log": log, "stream": "stdout", "time": "2025-05-20T11:00:00Z"})

    long = LOG.format("11:00:00", EVAL + " " + "é" * 9000)
    found = events(
        tmp_path,
        record(long[:4000]),
        record(long[4000:] + "\n"),
        record(LOG.format("11:00:05", RUN) + "\n"),
        record("x")[:-5],
    )
    assert kinds(found) == [(1, Kind.EVAL_STARTED), (3, Kind.RUN_STARTED)]


def test_json_dress_of_lifecycle_lines(tmp_path: Path) -> None:
    record = {"message": RUN, "level": "INFO", "asctime": "2025-06-10 12:00:01,123"}
    [found] = events(tmp_path, json.dumps(record))
    assert isinstance(found.body, Lifecycle)
    assert (found.body.kind, found.body.instance) == (Kind.RUN_STARTED, "a__b-1")
    assert found.when.earliest % 86400 == pytest.approx(43201.123, abs=1e-3)


def test_two_tracebacks_line_by_line_with_a_line_written_into_one(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        "(W pid=1) Traceback (most recent call last):",
        "(W pid=2) Traceback (most recent call last):",
        "(W pid=1)   File x(W pid=3) " + LOG.format("10:00:07", RUN),
        "(W pid=2)   File y",
        "(W pid=1) TimeoutError: alive",
        "(W pid=2) RuntimeError: not ready",
    )
    failures = {e.process: e.body.text for e in found if isinstance(e.body, Failure)}
    assert failures == {"W pid=1": "TimeoutError: alive", "W pid=2": "RuntimeError: not ready"}
    assert (3, Kind.RUN_STARTED) in kinds(found)


def test_bars_are_one_event_each(tmp_path: Path) -> None:
    bars = "".join(f"\rRollout: {n * 12}%|#| {n}/8 [00:0{n}<00:01, 1.0s/it]" for n in range(9))
    found = events(tmp_path, bars)
    assert [e.body for e in found] == [Progress("Rollout", 8, 8)]


def test_a_rotated_set_is_one_stream(tmp_path: Path) -> None:
    whole = write_log(tmp_path / "whole.log", play(batch(4, 4), 4, 4))
    text = whole.read_bytes()
    cut = text.index(b"\n", len(text) // 2) + 1
    (tmp_path / "run.log.1.gz").write_bytes(gzip.compress(text[:cut]))
    (tmp_path / "run.log").write_bytes(text[cut:])
    rotated = Scanner([tmp_path / "run.log.1.gz", tmp_path / "run.log"])
    assert [(e.when, e.body) for e in rotated.events()] == [(e.when, e.body) for e in scan(whole)[0]]


@given(st.lists(st.one_of(st.text(max_size=80), st.sampled_from([LOG.format("12:00:00", RUN), "-" * 80, "(W pid=1) x", '{"log": "x', "Traceback (most recent call last):", "--BEGIN AGENT OBSERVATION--", "step:1 - a:1"])), max_size=30))  # fmt: skip
def test_no_lines_stop_the_reader(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("any") / "x.log"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    for event in scan(path)[0]:
        assert event.when.earliest <= event.when.latest
        assert event.line >= 1


@given(st.binary(max_size=400))
def test_no_bytes_stop_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.log"
    path.write_bytes(content)
    scan(path)


def test_memory_stays_flat(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with path.open("w") as file:
        for number in range(40_000):
            file.write(
                LOG.format(f"{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}", "x" * 60) + "\n"
            )
            file.write(f"instance id a__b-{number % 50}, trajectory 0, step {number}\n")
    tracemalloc.start()
    count = sum(1 for _ in Scanner([path]).events())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40_000
    assert peak < 8_000_000
