"""What runs on a node of a cluster: which logs lie there, and what they say. Plain data in, plain data out.

Paths are those given to `diagnose`, with environment variables of the node filled in; without any, the node's own Ray
session. A file that every node sees (a shared disk) is told by its identity, so that one node reads it.
"""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from codex_skyrl.errors import InputError
from codex_skyrl.logs.discover import Source, find, latest_ray_session
from codex_skyrl.remote.taken import encode, take

Listed = tuple[str, list[str], int, str]  # shown name, paths in writing order, bytes, identity
_NOWHERE = Path("no-such-folder")  # the usual places of a checkout are not a node's
_ENDS = 1 << 12  # bytes at each end of a file that tell it from others


def logs_here(arguments: Sequence[str], here: str) -> tuple[list[Listed], str]:
    """The sources on this node, and why there are none."""
    places = [os.path.expandvars(argument) for argument in arguments]
    try:
        found = find(places, Path(here)) if places else find([], _NOWHERE, _session())
    except InputError as error:
        return [], error.what
    return [
        (source.name, [str(p) for p in source.paths], source.size, _identity(source))
        for source in found.sources
        if all(p.is_file() for p in source.paths)  # a pipe would be waited for
    ], ""


def read_here(node: str, sources: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, bytes | None, str]]:
    """Each source by its shown name: its encoded table, or None and why it could not be read. One core: the node trains."""
    found: list[tuple[str, bytes | None, str]] = []
    for name, paths in sources:
        try:
            taken = take(Source(name, tuple(map(Path, paths))), node)
            found.append((name, encode(taken), ""))
        except OSError as error:
            found.append((name, None, error.strerror or str(error)))
    return found


def _session() -> Path:
    """The logs of the Ray session that this task runs in: its own output goes there; else of this machine's latest."""
    with suppress(OSError):
        own = Path("/proc/self/fd/1").readlink()
        if own.name.startswith("worker-"):
            return own.parent
    return latest_ray_session(os.environ)


def _identity(source: Source) -> str:
    """Equal for the same files seen from several nodes, different for others."""
    seen = hashlib.sha256()
    for path in source.paths:
        facts = path.stat()
        seen.update(f"{path.name}|{facts.st_ino}|{facts.st_size}|{facts.st_mtime_ns}|".encode())
        try:
            with path.open("rb") as file:
                seen.update(file.read(_ENDS))
                file.seek(max(0, facts.st_size - _ENDS))
                seen.update(file.read(_ENDS))
        except OSError:
            seen.update(b"unreadable")
    return seen.hexdigest()
