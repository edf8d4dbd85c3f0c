"""A Ray cluster's logs, as the commands ask for them. Ray itself runs in a process of its own (`ray_cluster`).

For Ray prints into the output of the process that uses it, and ends that process when a cluster does not answer.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Timer
from typing import IO, Any

from codex_skyrl.errors import InputError
from codex_skyrl.remote.nodes import Lost
from codex_skyrl.remote.taken import Taken, decode
from codex_skyrl.text import Text

_JOIN_S = 60.0  # Ray itself may wait for ever for a cluster that is not there
Say = Callable[[Text], None]


def read_cluster(address: str, arguments: Sequence[str], here: Path, say: Say) -> tuple[list[Taken], list[Lost]]:
    """The sources of all nodes, and what was lost. `say` is told how it goes.

    Raises:
        InputError: when Ray is missing or too old, no cluster answers there, or no node has logs.
    """
    command = [sys.executable, "-P", "-m", "codex_skyrl.remote.ray_cluster", address, *arguments]
    with (
        tempfile.TemporaryFile() as noise,
        subprocess.Popen(command, cwd=here, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=noise) as child,
    ):
        assert child.stdout is not None
        patience = Timer(_JOIN_S, child.kill)
        patience.start()
        try:
            found = _answers(child.stdout, say, patience.cancel)
            if found is not None:
                return found
        finally:
            patience.cancel()
            child.kill()
        noise.seek(0)
        raise InputError(
            f"no Ray cluster could be joined there: {_last_line(noise.read())}", where=f"--ray {address}",
            fix="Run this on a node of the cluster, with its version of Ray, or name its address: --ray=HOST:PORT",
        )  # fmt: skip


def _answers(stream: IO[bytes], say: Say, joined: Callable[[], None]) -> tuple[list[Taken], list[Lost]] | None:
    """What the child tells, line by line; None when it ended before it was done."""
    sources: list[Taken] = []
    lost: list[Lost] = []
    for line in stream:
        joined()
        kind, *said = json.loads(line)
        if kind == "say":
            say(Text(*said))
        elif kind == "table":
            sources.append(decode(stream.read(said[0])))
        elif kind == "lost":
            lost.append(Lost(said[0], Text(*said[1:])))
        elif kind == "error":
            raise InputError(said[0], where=said[1], fix=said[2])
        else:
            return sources, lost
    return None


def tell(stream: IO[bytes], kind: str, *said: Any, data: bytes = b"") -> None:
    """One line of the child's, and the bytes behind it."""
    stream.write(json.dumps([kind, *said]).encode() + b"\n" + data)
    stream.flush()


def _last_line(noise: bytes) -> str:
    lines = [line.strip() for line in noise.decode(errors="replace").splitlines() if line.strip()]
    said = lines[-1][-300:].rstrip(".") if lines else "it did not answer"
    return f"{said}."
