"""A file is replaced as a whole or not at all, and can be put back byte for byte."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.files import real_target, replace_file, undo


def test_mode_and_links_stay_and_undo_restores_every_byte(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "config.toml"
    real.parent.mkdir()
    real.write_bytes(b"old\r\n")
    real.chmod(0o640)
    link, outer = tmp_path / "link", tmp_path / "config.toml"
    link.symlink_to(real)
    outer.symlink_to(link)
    backup = replace_file(outer, b"old\r\n", b"new")
    assert outer.is_symlink()
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == backup.stat().st_mode & 0o777 == 0o640
    undo(outer)
    assert real.read_bytes() == b"old\r\n"
    assert sorted(p.name for p in real.parent.iterdir()) == ["config.toml"]


def test_a_file_that_was_not_there_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    replace_file(path, None, b"x = 1\n")
    assert path.stat().st_mode & 0o777 == 0o600
    undo(path)
    assert not path.exists()
    with pytest.raises(ConfigError, match="no backup"):
        undo(path)


def test_another_writer_in_between_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"theirs")
    with pytest.raises(ConfigError, match="changed by another program"):
        replace_file(path, b"ours", b"new")
    assert path.read_bytes() == b"theirs"


def test_links_that_lead_nowhere_or_in_circles(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for name in ("dangling", "a"):
        with pytest.raises(ConfigError, match="link"):
            real_target(tmp_path / name)


HOLD = """
import sys, time
from pathlib import Path
from codex_skyrl.setup import files
with files._locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(30)
"""


def test_a_second_run_waits_for_no_one_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(ConfigError, match="another codex-skyrl"):
            replace_file(path, b"old", b"new")
        holder.kill()
        holder.wait()
    replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become another user")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "config.toml").write_bytes(b"old")
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o005 != 0o005 and str(parent) != "/":
            parent.chmod(parent.stat().st_mode | 0o055)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            replace_file(folder / "config.toml", b"old", b"new")
            os._exit(1)
        except ConfigError as error:
            os._exit(0 if "cannot be written" in str(error) else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (folder / "config.toml").read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to mount a small file system")
def test_a_full_disk(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        path = small / "config.toml"
        path.write_bytes(b"old")
        with pytest.raises(ConfigError, match=r"No space left on device. It is unchanged"):
            replace_file(path, b"old", b"x" * 200_000)
        assert path.read_bytes() == b"old"
        assert not [p for p in small.iterdir() if p.name.startswith(".config.toml.") and "lock" not in p.name]
    finally:
        subprocess.run(["umount", str(small)], check=True)


WRITE = """
import sys
from pathlib import Path
from codex_skyrl.setup.files import replace_file
path = Path(sys.argv[1])
print("ready", flush=True)
while True:
    old = path.read_bytes()
    replace_file(path, old, (b"A" if old[:1] == b"B" else b"B") * 200_000)
"""


def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"A" * 200_000)
    for attempt in range(50):
        with subprocess.Popen([sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.002 + 0.0007 * attempt)
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        content = path.read_bytes()
        assert len(content) == 200_000
        assert content in (b"A" * 200_000, b"B" * 200_000)
