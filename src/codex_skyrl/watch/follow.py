"""Follows growing logs into a folder of our own: rotation, truncation and new files lose nothing that was once written.

A log is copied as it grows, so that what is read later is everything it ever held. Files that are rewritten as a whole
(one JSON document, launch scripts) are copied whole each time they change.
"""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from codex_skyrl.errors import InputError
from codex_skyrl.logs.discover import Source, find, shown_path
from codex_skyrl.logs.lines import is_packed, open_log

_CHUNK = 1 << 20
_WHOLE = (".json", ".sh")


@dataclass(slots=True)
class _Followed:
    """One log: the file that is open now, and where its copy lies."""

    path: Path
    copy: Path
    stream: BinaryIO
    inode: int


@dataclass(slots=True)
class Follower:
    """`spool`: where the copies lie, below the names they are shown by. `growth`: bytes that came with the last `pull`."""

    arguments: tuple[str, ...]
    here: Path
    ray_root: Path | None
    spool: Path
    growth: int = 0
    rotations: int = 0
    truncations: int = 0
    _logs: dict[str, _Followed] = field(default_factory=dict)
    _whole: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def pull(self) -> bool:
        """Take over what was written since the last time; whether there was anything.

        Raises:
            InputError: when no log is found and none is followed yet, or a copy cannot be written.
        """
        self.growth = 0
        try:
            found = find(self.arguments, self.here, self.ray_root)
        except InputError:
            if not self._logs:
                raise
            found = None  # between two files of a rotation there may be none
        try:
            if found is not None:
                for source in found.sources:
                    self._take(source)
                self._copy_whole(path for path, _ in found.left if path.suffix == ".sh")
            for followed in self._logs.values():
                self._follow(followed)
        except OSError as error:
            raise InputError(
                f"cannot be followed: {error.strerror or error}.", where=str(error.filename or self.spool)
            ) from error
        return self.growth > 0

    def close(self) -> None:
        """Let go of the open files; the copies stay."""
        for followed in self._logs.values():
            followed.stream.close()

    def _take(self, source: Source) -> None:
        """Begin to follow a log that is new: what was rotated before comes first."""
        newest = source.paths[-1]
        if newest.suffix in _WHOLE:
            self._copy_whole([newest])
        elif source.name not in self._logs and not self._is_rotated_away(newest):
            copy, packed = self._copy_of(source.name), is_packed(newest)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("wb") as out:
                for whole in source.paths if packed else source.paths[:-1]:
                    with open_log(whole) as stream:
                        shutil.copyfileobj(stream, out, _CHUNK)
            stream = newest.open("rb")
            if packed:
                stream.seek(0, 2)
            self._logs[source.name] = _Followed(newest, copy, stream, newest.stat().st_ino)
            self.growth += copy.stat().st_size

    def _is_rotated_away(self, path: Path) -> bool:
        """Whether this is a file of a log that we follow, under the name that a rotation gave it.

        While the new file is still empty, the one that was rotated away is the newest with content.
        """
        beside = [f.path.name for f in self._logs.values() if f.path.parent == path.parent]
        return any(path.name.startswith((f"{name}.", f"{name}-")) for name in beside)

    def _follow(self, log: _Followed) -> None:
        """What the open file has more; then, if the name means another file by now, that one from its beginning."""
        self._drain(log)
        try:
            status = log.path.stat()
        except FileNotFoundError:
            return  # renamed, and the new one is not there yet
        if status.st_ino != log.inode:
            self._drain(log)
            log.stream.close()
            log.stream, log.inode = log.path.open("rb"), status.st_ino
            self.rotations += 1
            self._drain(log)
        elif status.st_size < log.stream.tell():
            log.stream.seek(0)
            self.truncations += 1
            self._drain(log)

    def _drain(self, log: _Followed) -> None:
        with log.copy.open("ab") as out:
            while chunk := log.stream.read(_CHUNK):
                out.write(chunk)
                self.growth += len(chunk)

    def _copy_whole(self, paths: Iterable[Path]) -> None:
        for path in paths:
            status = path.stat()
            if self._whole.get(path) != (status.st_mtime_ns, status.st_size):
                self._whole[path] = (status.st_mtime_ns, status.st_size)
                copy = self._copy_of(shown_path(path, self.here))
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
                self.growth += status.st_size

    def _copy_of(self, name: str) -> Path:
        """Below the spool, whatever the name: an absolute path is hung beneath it, a packed one is unpacked."""
        plain = Path(name.removesuffix(".gz").removesuffix(".zst"))
        parts = [part for part in plain.parts if part not in ("..", plain.anchor)]
        return self.spool.joinpath(*parts)
