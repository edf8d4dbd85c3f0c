"""Sifting chunks gives the very same events, line numbers and counts as looking at each line, whatever the bytes."""

import gzip
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codex_skyrl.logs import chunks, ranges, sift
from codex_skyrl.logs.event import Event
from codex_skyrl.logs.formats import lifecycle
from codex_skyrl.logs.lines import LONGEST_KEPT, Reading
from codex_skyrl.logs.scan import FileReport, Scanner
from codex_skyrl.logs.words import WORDS

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
PIECES = [
    "12:00:31 - openhands:INFO: codeact.py:1203 - Initializing runtime for instance a__b-1, trajectory 0",
    "Successfully initialized runtime for instance a__b-1, trajectory 0 in 41.20 seconds",
    "instance id a__b-1, trajectory 0, step 3", "Git patch for instance a__b-1, trajectory 0:", "-" * 80,
    "diff --git a/x.py b/x.py", "+    return 1", "--BEGIN AGENT OBSERVATION--", "--END AGENT OBSERVATION--",
    "Traceback (most recent call last):", '  File "x.py", line 3, in f', "ValueError: no", "plain words of a prompt", "",
    "x = 3", "    x == 4", "(WorkerDict pid=42) plain", "(WorkerDict pid=42) 12:00:32 - openhands:INFO: a.py:1 - hello",
    "(A pid=1) one (B pid=2) two", "\x1b[36m(WorkerDict pid=42)\x1b[0m plain", "\x1b[36m(WorkerDict pid=42)\x1b[0m \x1b[92m12:00:33 - openhands:INFO\x1b[0m: a.py:1 - x",
    "plain \x1b[1mbold\x1b[0m", "ERROR 12-01 12:00:00 x", "E0520 12:00:01.000000 1 a.go:3] failed", "Jan  1 12:00:00 plain", "中文 = 说明：一",
    "é:é:é", '{"log":"12:00:31 - openhands:INFO: a.py:1 - hello\\n","time":"2025-05-20T12:00:31Z"}', "step:1 - timing_s/gen:300.0",
    "10%|# | 1/9 [00:01<00:02, 3it/s]12:00:34 - openhands:INFO: a.py:1 - x", "  0%| | 0/3\r 50%|# | 1/3\rplain", "[2025-05-20 12:00:06] Decode batch. #running-req: 1, #token: 9, token usage: 0.01, gen throughput (token/s): 5.00, #queue-req: 0",
    'INFO:     127.0.0.1:51022 - "POST /generate HTTP/1.1" 200 OK', 'INFO:     10.0.0.4:51022 - "POST /start HTTP/1.1" 200 OK',
    'INFO:     127.0.0.1:51022 - "POST /generate HTTP/1.1" 503 Service Unavailable', 'WARN 10.0.0.4:5 - "GET / HTTP/1.1" 200 OK - "POST /x HTTP/1.1" 500',
    "message [repeated 3x across cluster]", "2025-05-20T12:00:31Z stdout P part", "2025-05-20T12:00:31Z stdout F whole",
]  # fmt: skip


def read(path: Path, processes: int = 1) -> tuple[list[Event], FileReport]:
    scanner = Scanner([path], processes=processes)
    return list(scanner.events()), scanner.reports[0]


def same(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    quick, report = read(path)
    with monkeypatch.context() as patched:
        patched.setattr(sift, "_is_plain", lambda chunk: False)  # every line by itself, and none understood in bulk
        slow, expected = read(path)
    assert quick == slow
    assert report == expected
    return quick


@pytest.mark.parametrize("chunk", [64, 1 << 18])
@settings(max_examples=150, deadline=None)
@given(lines=st.lists(st.sampled_from(PIECES), max_size=150), ends=st.sampled_from(["", "\n"]))
def test_any_mixture_of_lines(
    chunk: int, lines: list[str], ends: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("sift") / "x.log"
    filler = ["an ordinary line of nothing"] * 70  # beyond the head that is always read
    path.write_text("\n".join([*filler, *lines]) + ends, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK", chunk)
        same(path, patched)


@settings(max_examples=100, deadline=None)
@given(lines=st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([p.encode() for p in PIECES])), max_size=120))
def test_any_bytes(lines: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("sift") / "x.log"
    path.write_bytes(b"\n".join([*[b"ordinary"] * 70, *lines]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK", 256)
        same(path, patched)


@pytest.mark.parametrize("sample", sorted(p.name for p in SAMPLES.iterdir() if p.is_dir()))
def test_the_samples(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (SAMPLES / sample).glob("*.log"):
        same(path, monkeypatch)


def test_most_of_a_log_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text(
        "".join(f"some words of a prompt {n}\n" + (PIECES[0] + "\n") * (n % 100 == 0) for n in range(10_000))
    )
    sieve, reading = sift.Sieve(), Reading()
    sieve.start(reading)
    rows = [row for chunk in chunks.chunks(path, reading) for row in sieve.sift(chunk)]
    assert len(rows) == 100
    assert {row[1] for row in rows} == {""}, "understood in bulk"
    assert (reading.lines, reading.bytes) == (10_100, path.stat().st_size)


@pytest.mark.parametrize("text", [text for text in PIECES if lifecycle.parse(text)])
def test_bulk_understands_as_the_format_does(text: str) -> None:
    sieve = sift.Sieve()
    sieve.start(Reading())
    [(_, process, seconds, kind, instance, trajectory, value, said)] = sieve.sift(f"\n{text}\n".encode())
    parsed = lifecycle.parse(text)
    assert parsed is not None
    assert process == ""
    assert (kind, instance, trajectory, value, said) == parsed.body
    assert seconds == (parsed.stamp.seconds if parsed.stamp else None)


def test_long_lines_and_nul_bytes_between_plain_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.log"
    filler = b"an ordinary line\n" * 70
    wanted = PIECES[0].encode() + b"\n"
    path.write_bytes(
        filler + wanted + b"x" * (3 * LONGEST_KEPT) + b"\n" + b"\0" * 5_000 + wanted + filler + b"\0\0" + wanted
    )
    for size in (4_096, 1 << 20):
        monkeypatch.setattr(chunks, "CHUNK", size)
        found = same(path, monkeypatch)
        assert [e.line for e in found] == [71, 73, 144]


def pieces_of(path: Path) -> Path:
    """A log of every piece many times, long enough for several ranges."""
    lines = [PIECES[(n * 7 + n // 50) % len(PIECES)] + (f" {n}" if n % 3 else "") for n in range(30_000)]
    path.write_text("\n".join(["an ordinary line"] * 70 + lines), encoding="utf-8", newline="")
    return path


def test_several_processes_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pieces_of(tmp_path / "x.log")
    expected = read(path)
    monkeypatch.setattr(ranges, "_BIG", 1)
    monkeypatch.setattr(ranges, "_RANGE", 100_000)
    assert read(path, processes=2) == expected


def test_a_traceback_across_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "Traceback (most recent call last):",
        *['  File "x.py", line 3, in f'] * 1_500,
        "ValueError: no",
        PIECES[0],
    ]
    path = tmp_path / "x.log"
    path.write_text("\n".join(["an ordinary line"] * 70 + lines * 5))
    expected = read(path)
    assert [e.line for e in expected[0]] == [n for k in range(5) for n in (1572 + 1503 * k, 1573 + 1503 * k)]
    monkeypatch.setattr(ranges, "_BIG", 1)
    monkeypatch.setattr(ranges, "_RANGE", 10_000)
    assert read(path, processes=2) == expected


def test_without_its_libraries_it_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pieces_of(tmp_path / "x.log")
    packed = tmp_path / "x.log.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected, from_packed = read(path)[0], read(packed)[0]
    for name in ("ahocorasick_rs", "isal", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    assert read(path)[0] == expected
    assert read(packed)[0] == from_packed
    assert [e._replace(source="") for e in from_packed] == [e._replace(source="") for e in expected]


def test_the_search_stays_quick() -> None:
    """Beyond these limits the library leaves its SIMD search, and reading takes twice as long."""
    assert len(WORDS) <= 64
    assert min(len(word.encode()) for word in WORDS) >= 4
