"""Runs another program within a time limit of ours, in a process group that ends with it.

Made for Codex: a killed npm shim would leave the native process running, and Codex since 0.150 waits for ever when a
gateway can't be reached.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Ran:
    """One finished run. `timed_out`: our limit ended it; `code` is None then."""

    code: int | None
    stdout: str
    stderr: str
    timed_out: bool


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
