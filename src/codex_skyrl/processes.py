"""Runs another program within a time limit of ours, in a process group that ends with it.

Made for Codex: a killed npm shim would leave the native process running, and Codex since 0.150 waits for ever when a
gateway can't be reached.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Ran:
    """One finished run. `timed_out`: our limit ended it; `code` is None then."""

    code: int | None
    stdout: str
    stderr: str
    timed_out: bool


def run(
    command: Sequence[str], env: Mapping[str, str], text: str | None, limit_s: float, cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Ran:  # fmt: skip
    """Run a program in a process group of its own, at most `limit_s` seconds; its input is closed after `text`.

    `on_line` hears each line of its output as it comes, on another thread.
    """
    process = subprocess.Popen(
        list(command), env=dict(env), cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace", start_new_session=True,
    )  # fmt: skip
    out, err = _Reader(process.stdout, on_line), _Reader(process.stderr, None)
    threading.Thread(target=_feed, args=(process.stdin, text or ""), daemon=True).start()
    timed_out = False
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        _end(process)
    finally:
        if process.poll() is None:
            _signal(process, signal.SIGKILL)
            process.wait()
    return Ran(None if timed_out else process.returncode, out.text(), err.text(), timed_out)


class _Reader(threading.Thread):
    """Reads one stream to its end; a child that keeps it open after the program ended is not waited for."""

    def __init__(self, stream: IO[str] | None, on_line: Callable[[str], None] | None) -> None:
        super().__init__(daemon=True)
        self._stream, self._on_line, self._lines = stream, on_line, list[str]()
        self.start()

    def run(self) -> None:
        if self._stream is None:
            return
        with self._stream:
            for line in self._stream:
                self._lines.append(line)
                if self._on_line is not None:
                    self._on_line(line)

    def text(self) -> str:
        self.join(_GRACE_S)
        return "".join(list(self._lines))


def _feed(stream: IO[str] | None, text: str) -> None:
    if stream is not None:
        with suppress(OSError), stream:
            stream.write(text)


def _end(process: "subprocess.Popen[str]") -> None:
    """End the whole group, politely first."""
    _signal(process, signal.SIGTERM)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
    except ProcessLookupError:
        pass
