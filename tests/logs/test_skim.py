"""The skimming reader gives the very same events, line numbers and counts as reading every line, whatever the bytes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codex_skyrl.logs import scan, skim
from codex_skyrl.logs.event import Event
from codex_skyrl.logs.lines import Reading
from codex_skyrl.logs.scan import FileReport, Scanner

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
    "message [repeated 3x across cluster]", "2025-05-20T12:00:31Z stdout P part", "2025-05-20T12:00:31Z stdout F whole",
]  # fmt: skip


def read(path: Path, *, skimming: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Event], FileReport]:
    with monkeypatch.context() as patched:
        if not skimming:
            patched.setattr(scan, "lines_of", lambda path, reading, literals: None)
        scanner = Scanner([path])
        return list(scanner.events()), scanner.reports[0]


def same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, report = read(path, skimming=True, monkeypatch=monkeypatch)
    slow, expected = read(path, skimming=False, monkeypatch=monkeypatch)
    assert quick == slow
    assert report == expected


@pytest.mark.parametrize("chunk", [64, 1 << 18])
@settings(max_examples=150, deadline=None)
@given(lines=st.lists(st.sampled_from(PIECES), max_size=150), ends=st.sampled_from(["", "\n"]))
def test_any_mixture_of_lines(
    chunk: int, lines: list[str], ends: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("skim") / "x.log"
    filler = ["an ordinary line of nothing"] * 70  # beyond the head that is always read
    path.write_text("\n".join([*filler, *lines]) + ends, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(skim, "_CHUNK", chunk)
        same(path, patched)


@settings(max_examples=100, deadline=None)
@given(lines=st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([p.encode() for p in PIECES])), max_size=120))
def test_any_bytes(lines: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("skim") / "x.log"
    path.write_bytes(b"\n".join([*[b"ordinary"] * 70, *lines]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(skim, "_CHUNK", 256)
        patched.setattr(skim, "_SMALL", 32)
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
    reading = Reading()
    lines = skim.Skim(path, reading, scan._LITERALS)
    lines.calm = True
    assert sum(1 for _ in lines) == 100
    assert reading.lines == 10_100
    assert reading.bytes == path.stat().st_size
