"""The installed Codex: where its home and binary are, which version it is, and one bounded run of it.

Every Codex started here has a time limit of ours and its whole process group is ended with it: a killed npm shim would
leave the native process running, and Codex since 0.150 waits for ever when a gateway can't be reached.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.errors import ConfigError

Version = tuple[int, int, int]
FIRST_WITHOUT_CHAT: Version = (0, 95, 0)
LAST_WITH_CHAT = "0.94.0"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSION_LIMIT_S = 20.0
_GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Codex:
    """A binary and what it says of itself."""

    path: str
    version: Version

    @property
    def shown(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def knows_chat(self) -> bool:
        return self.version < FIRST_WITHOUT_CHAT


@dataclass(frozen=True, slots=True)
class Ran:
    """One finished run. `timed_out`: our limit ended it; `code` is None then."""

    code: int | None
    stdout: str
    stderr: str
    timed_out: bool


def codex_home(env: Mapping[str, str]) -> Path:
    """CODEX_HOME, else `.codex` in the user's home (USERPROFILE on Windows)."""
    named = env.get("CODEX_HOME", "").strip()
    if named:
        return Path(named)
    home = env.get("HOME") or env.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".codex"


def find_codex(env: Mapping[str, str], named: str | None = None) -> Codex | None:
    """The binary named, else the one on PATH; None when there is none.

    Raises:
        ConfigError: when the named one is missing or does not tell a version.
    """
    path = shutil.which(named or "codex", path=env.get("PATH"))
    if path is None:
        if named:
            raise ConfigError("there is no such program.", where=named, fix="Give --codex the path of a Codex binary.")
        return None
    ran = run([path, "--version"], env, None, _VERSION_LIMIT_S)
    found = _VERSION.search(ran.stdout)
    if found is None:
        raise ConfigError("does not tell its version.", where=path, fix="Reinstall it: npm install -g @openai/codex")
    return Codex(path, (int(found[1]), int(found[2]), int(found[3])))


def run(
    command: Sequence[str], env: Mapping[str, str], text: str | None, limit_s: float, cwd: Path | None = None
) -> Ran:
    """Run a program in a process group of its own, at most `limit_s` seconds; its input is closed after `text`."""
    process = subprocess.Popen(
        list(command), env=dict(env), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(text or "", timeout=limit_s)
        return Ran(process.returncode, out, err, False)
    except subprocess.TimeoutExpired:
        return _ended(process)
    finally:
        if process.poll() is None:
            _signal(process, signal.SIGKILL)
            process.wait()


def _ended(process: "subprocess.Popen[str]") -> Ran:
    """End the whole group, politely first."""
    _signal(process, signal.SIGTERM)
    try:
        out, err = process.communicate(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        out, err = process.communicate()
    return Ran(None, out or "", err or "", True)


def _signal(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
    except ProcessLookupError:
        pass
