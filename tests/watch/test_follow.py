"""Everything that a log ever held is in its copy: growth, rotation, truncation, new files, packed and rewritten ones."""

import gzip
from pathlib import Path

import pytest

from codex_skyrl.errors import InputError
from codex_skyrl.watch.follow import Follower


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def follower(tmp_path: Path, *arguments: str) -> Follower:
    return Follower(arguments or ("logs",), tmp_path, None, tmp_path / "spool")


def copy_of(tmp_path: Path, name: str = "rollout.log") -> str:
    return (tmp_path / "spool" / "logs" / name).read_text()


def test_growth_rotation_and_truncation(tmp_path: Path, logs: Path) -> None:
    log = logs / "rollout.log"
    log.write_text("one\n")
    following = follower(tmp_path)
    assert following.pull()
    assert not following.pull()
    with log.open("a") as out:
        out.write("two\nthr")
    assert following.pull()
    with log.open("a") as out:
        out.write("ee\n")
    log.rename(logs / "rollout.log.1")  # rotation: written to until the very moment
    log.write_text("four\n")
    assert following.pull()
    assert following.rotations == 1
    assert copy_of(tmp_path) == "one\ntwo\nthree\nfour\n"
    with log.open("r+") as out:
        out.truncate(0)
        out.write("5\n")
    assert following.pull()
    assert following.truncations == 1
    assert copy_of(tmp_path) == "one\ntwo\nthree\nfour\n5\n"
    (logs / "rollout.log.1").rename(logs / "rollout.log.2")
    log.rename(logs / "rollout.log.1")
    following.pull()  # the new file is not there yet
    log.write_text("six\n")
    following.pull()
    assert copy_of(tmp_path) == "one\ntwo\nthree\nfour\n5\nsix\n"
    following.close()


def test_an_empty_new_file_does_not_bring_the_old_one_again(tmp_path: Path, logs: Path) -> None:
    log = logs / "rollout.log"
    log.write_text("one\n")
    following = follower(tmp_path)
    following.pull()
    log.rename(logs / "rollout.log.1")
    following.pull()
    log.touch()
    for _ in range(3):
        following.pull()
    log.write_text("two\n")
    following.pull()
    assert copy_of(tmp_path) == "one\ntwo\n"
    assert [p.name for p in (tmp_path / "spool" / "logs").iterdir()] == ["rollout.log"]
    following.close()


def test_what_was_rotated_before_comes_first_unpacked(tmp_path: Path, logs: Path) -> None:
    with gzip.open(logs / "rollout.log.2.gz", "wt") as out:
        out.write("one\n")
    (logs / "rollout.log.1").write_text("two\n")
    (logs / "rollout.log").write_text("three\n")
    following = follower(tmp_path)
    following.pull()
    assert copy_of(tmp_path) == "one\ntwo\nthree\n"
    following.close()


def test_new_files_are_found_and_whole_ones_are_copied_whole(tmp_path: Path, logs: Path) -> None:
    (logs / "rollout.log").write_text("one\n")
    events = logs / "k8s_events.json"
    events.write_text('{"items": [1]}')
    (logs / "launch.sh").write_text("echo 1\n")
    following = follower(tmp_path)
    following.pull()
    events.write_text('{"items": [1, 2]}')
    (logs / "sglang.log").write_text("x\n")
    assert following.pull()
    assert copy_of(tmp_path, "k8s_events.json") == '{"items": [1, 2]}'
    assert copy_of(tmp_path, "sglang.log") == "x\n"
    assert copy_of(tmp_path, "launch.sh") == "echo 1\n"
    following.close()


def test_nothing_to_follow_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        follower(tmp_path, "nowhere").pull()


def test_a_name_outside_stays_inside_the_copies(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "rollout.log").write_text("one\n")
    here = tmp_path / "here"
    here.mkdir()
    following = Follower(("../elsewhere/rollout.log",), here, None, tmp_path / "spool")
    following.pull()
    copies = [p for p in (tmp_path / "spool").rglob("*") if p.is_file()]
    assert [p.read_text() for p in copies] == ["one\n"]
    following.close()
