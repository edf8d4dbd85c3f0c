"""Clocks of nodes are compared by the steps that begin on all of them."""

import re
from pathlib import Path

import pytest

from codex_skyrl.analyse import Elsewhere, analyse, read_elsewhere
from codex_skyrl.logs.discover import Source
from codex_skyrl.remote.taken import Taken, take
from story import batch, clock, play, write_log


def rank(folder: Path, node: str, *, steps: int = 4, ahead: int = 0, trajectories: int = 6) -> Taken:
    """The log of one rank on a node whose clock is `ahead` seconds ahead."""
    story = play(batch(8, trajectories), 8, 8)
    path = write_log(folder / f"{node}.log", *[story] * steps)
    moved = re.sub(r"(?m)^(\d\d):(\d\d):(\d\d)", lambda m: later(m, ahead), path.read_text())
    path.write_text(moved)
    return take(Source(path.name, (path,)), node)


def later(found: "re.Match[str]", by: int) -> str:
    return clock(int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3]) + by)


@pytest.mark.parametrize("ahead", [37, -90])
def test_a_clock_that_is_off_is_set_right_and_said(tmp_path: Path, ahead: int) -> None:
    right = read_elsewhere(Elsewhere((rank(tmp_path, "one"), rank(tmp_path, "two"))), tmp_path)
    skewed = read_elsewhere(Elsewhere((rank(tmp_path, "one"), rank(tmp_path, "two", ahead=ahead))), tmp_path)
    assert [s.begin_s for s in skewed.case.steps] == [s.begin_s for s in right.case.steps]
    expected, found = analyse(right, "en"), analyse(skewed, "en")
    assert (found.verdict.bottleneck, found.verdict.cause) == (expected.verdict.bottleneck, expected.verdict.cause)
    assert [s.makespan_s for s in found.steps] == [s.makespan_s for s in expected.steps]
    [note] = found.inputs[1].problems
    side = "ahead of" if ahead > 0 else "behind"
    assert note.startswith(f"the clock of two runs {abs(ahead)}.0 s {side} one's (±1.0 s, from 4 steps")
    assert not found.inputs[0].problems
    assert not expected.inputs[1].problems


def test_a_log_whose_beginning_is_lost_is_paired_all_the_same(tmp_path: Path) -> None:
    """Node two has only the last four of six steps: pairing by order would be off by two steps."""
    one, two = rank(tmp_path, "one", steps=6), rank(tmp_path, "two", steps=6, ahead=20)
    path = tmp_path / "two.log"
    lines = path.read_text().splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if "max eval parallel agents" in line or "Total instances" in line]
    path.write_text("".join(lines[starts[4] :]))
    two = take(Source(path.name, (path,)), "two")
    found = analyse(read_elsewhere(Elsewhere((one, two)), tmp_path), "en")
    assert any("runs 20.0 s ahead of one's" in p for p in found.inputs[1].problems), found.inputs[1].problems
    assert [s.trajectories for s in found.steps] == [48, 48, 96, 96, 96, 96], "the last four steps are of both ranks"


def test_too_few_steps_are_said(tmp_path: Path) -> None:
    found = analyse(
        read_elsewhere(Elsewhere((rank(tmp_path, "one"), rank(tmp_path, "two", steps=2, ahead=50))), tmp_path), "en"
    )
    assert "could not be compared" in found.inputs[1].problems[0]
