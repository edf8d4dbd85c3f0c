"""The command against a writer that appends a sample, rotates twice and truncates once; alarms; one frame; how it is left."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from codex_skyrl.watch.frame import Quiet
from material import diagnosis
from story import batch, play, write_log

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
MAIN = [sys.executable, "-c", "from codex_skyrl.cli import main; main()", "watch"]

# appends to OUT what stands in IN: rotates after a third and two thirds, truncates in the middle (as copytruncate does)
WRITER = dedent(
    """
    import os, sys, time
    lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
    path = sys.argv[2]
    out = open(path, "ab", buffering=0)
    parts = 24
    for n in range(parts):
        out.write(b"".join(lines[len(lines) * n // parts : len(lines) * (n + 1) // parts]))
        time.sleep(0.1)
        if n in (7, 15):
            out.close()
            if os.path.exists(path + ".1"):
                os.rename(path + ".1", path + ".2")
            os.rename(path, path + ".1")
            out = open(path, "ab", buffering=0)
        if n == 11:
            time.sleep(1.5)
            os.truncate(path, 0)
    """
)


def environment() -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CODEX", "TAOTOKEN", "LC_", "LANG"))}
    return {**clean, "PYTHONWARNINGS": "error"}


def watched(folder: Path, *more: str) -> tuple[list[dict[str, Any]], int]:
    command = [*MAIN, str(folder), "--format", "jsonl", *more]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=90, check=False)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


@pytest.mark.parametrize("sample", ["eval_few_workers", "run_llm_saturated"])
def test_rotated_twice_and_truncated_once_the_verdict_is_the_offline_one(tmp_path: Path, sample: str) -> None:
    whole = tmp_path / "rollout.whole"
    whole.write_bytes((SAMPLES / sample / "rollout.log").read_bytes())
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("sglang.log", "gpu.csv", "launch.sh"):
        (folder / name).write_bytes((SAMPLES / sample / name).read_bytes())
    (folder / "rollout.log").write_bytes(b"")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(whole), str(folder / "rollout.log")])
    frames, code = watched(folder, "--exit-after-idle", "4", "--interval", "0.5")
    assert writer.wait(10) == 0
    (offline := tmp_path / "offline").mkdir()
    for path in folder.iterdir():
        if not path.name.startswith("rollout"):
            (offline / path.name).write_bytes(path.read_bytes())
    (offline / "rollout.log").write_bytes(whole.read_bytes())
    expected = diagnosis(offline)
    last = frames[-1]
    assert (last["bottleneck"], last["cause"]) == (expected.verdict.bottleneck, expected.verdict.cause)
    assert last["ended"] == last["trajectories"] == expected.steps[-1].trajectories
    assert last["lines"] == sum(i.lines for i in expected.inputs)
    assert code == 0
    assert frames[0]["trajectories"] > 0 or len(frames) > 1


def test_a_hang_raises_its_alarm(tmp_path: Path) -> None:
    frames, code = watched(SAMPLES / "sync_hang", "--once")
    assert [a["kind"] for a in frames[-1]["alarms"]] == ["hang"]
    assert code == 1


def test_silence_in_the_middle_of_a_step_is_an_alarm(tmp_path: Path) -> None:
    path = write_log(tmp_path / "rollout.log", play(batch(8, 4), 4, 4))
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[: len(lines) // 2]) + "\n")
    frames, code = watched(tmp_path, "--silence", "1", "--exit-after-idle", "3", "--interval", "0.5")
    assert [a["kind"] for a in frames[-1]["alarms"]] == ["silence"]
    assert code == 1
    assert frames[-1]["eta_s"] is None or frames[-1]["eta_s"] >= 0


def test_rising_cache_misses_are_an_alarm() -> None:
    frames, _ = watched(SAMPLES / "init_cache_miss", "--once")
    assert "cache_miss" in [a["kind"] for a in frames[-1]["alarms"]]


def test_a_quiet_run_is_no_alarm() -> None:
    quiet = Quiet(least_s=120.0)
    for pause in (5.0, 100.0, 30.0):
        quiet.heard(pause)
    quiet.now_s = 299.0
    assert not quiet.alarming
    quiet.now_s = 301.0
    assert quiet.alarming


def test_one_frame_says_where_the_step_is(tmp_path: Path) -> None:
    path = write_log(tmp_path / "rollout.log", play(batch(8, 4), 4, 4))
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[: len(lines) * 2 // 3]) + "\n")
    done = subprocess.run(
        [*MAIN, str(tmp_path), "--once", "--lang", "en"], env=environment(), capture_output=True, text=True, check=False
    )
    assert "Step 1: " in done.stdout
    assert re.search(r"\d+ of 3[12] trajectories ended", done.stdout)
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_q_leaves(tmp_path: Path) -> None:
    write_log(tmp_path / "rollout.log", play(batch(8, 4), 4, 4))
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*MAIN, str(tmp_path), "--lang", "en"],
        env={**environment(), "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    until = time.monotonic() + 30
    while b"q leaves" not in shown and time.monotonic() < until:
        shown += os.read(ours, 4096)
    os.write(ours, b"q")
    assert process.wait(15) == 0
    os.close(ours)
    assert b"32 of 32 trajectories" in shown


def test_nothing_to_watch_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MAIN, str(tmp_path / "none")], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no such file or folder" in done.stderr
