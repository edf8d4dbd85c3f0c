"""Replaces a user's file as a whole or not at all: lock, backup, temporary file beside the real target, rename; and undo.

Symlinks stay: their final target is replaced. Mode and owner are kept. Knows nothing of TOML.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from codex_skyrl.errors import ConfigError

_BACKUP = ".codex-skyrl-backup-"
_ABSENT = ".absent"  # end of a backup's name that records that there was no file


def real_target(path: Path) -> Path:
    """Where the bytes lie, at the end of all links.

    Raises:
        ConfigError: for a loop of links or a link that leads nowhere.
    """
    try:
        target = path.resolve(strict=False)
        looped = path.is_symlink() and not os.path.lexists(target)
    except (OSError, RuntimeError) as error:
        raise ConfigError("is part of a loop of links.", where=str(path), fix="Mend the link.") from error
    if looped or (path.is_symlink() and target.is_symlink()):
        raise ConfigError("is a link that leads nowhere.", where=str(path), fix="Mend the link.")
    if target.is_dir():
        raise ConfigError("is a folder, not a file.", where=str(path))
    return target


def replace_file(path: Path, old: bytes | None, new: bytes) -> Path:
    """Put `new` in place of `old` (None: there was no file) and return the backup's path.

    Raises:
        ConfigError: when the file changed meanwhile, another run holds the lock, or the disk refuses; then it is whole.
    """
    target = real_target(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(target):
            if (target.read_bytes() if target.exists() else None) != old:
                raise ConfigError("was changed by another program meanwhile.", where=str(path), fix="Run setup again.")
            backup = _back_up(target, old)
            write_whole(target, new)
    except OSError as error:
        raise ConfigError(
            f"cannot be written: {error.strerror or error}. It is unchanged.", where=str(path), fix="Check its folder."
        ) from error
    return backup


def undo(path: Path) -> Path:
    """Put the newest backup back, byte for byte, and return its path (it is gone then).

    Raises:
        ConfigError: when there is none, or it cannot be put back.
    """
    target = real_target(path)
    backups = sorted(target.parent.glob(f"{target.name}{_BACKUP}*"))
    if not backups:
        raise ConfigError("there is no backup to go back to.", where=str(path))
    newest = backups[-1]
    try:
        with _locked(target):
            if newest.name.endswith(_ABSENT):
                target.unlink(missing_ok=True)
            else:
                write_whole(target, newest.read_bytes())
            newest.unlink()
    except OSError as error:
        raise ConfigError(f"cannot be put back: {error.strerror or error}.", where=str(path)) from error
    return newest


def write_whole(target: Path, content: bytes) -> None:
    """Write beside the target, then rename over it; the temporary file never stays behind an error.

    Raises:
        OSError: when the disk refuses; the target is as it was.
    """
    status = target.stat() if target.exists() else None
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(status.st_mode & 0o7777 if status else 0o600)
        if status is not None and hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _back_up(target: Path, old: bytes | None) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    backup = target.with_name(f"{target.name}{_BACKUP}{stamp}{'' if old is not None else _ABSENT}")
    mode = target.stat().st_mode & 0o7777 if old is not None else 0o600
    descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(old or b"")
            file.flush()
            os.fsync(file.fileno())
        backup.chmod(mode)
    except OSError:
        backup.unlink(missing_ok=True)
        raise
    return backup


def _sync_folder(folder: Path) -> None:
    """Make the rename durable where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One writer at a time; the lock goes with its process, however that ends."""
    path = target.with_name(f".{target.name}.codex-skyrl-lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(descriptor):
            raise ConfigError("another codex-skyrl is writing it.", where=str(target), fix="Wait for it to end.")
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True  # Windows: an open file there cannot be replaced by another writer anyway
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
