"""Puts the prompt pack where Codex finds it as a skill: `$CODEX_HOME/skills/codex-skyrl/`. Overwrites only its own files.

What it wrote is remembered by digest beside the files; a file with other content is the user's and is never touched.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.files import write_whole

NAME = "codex-skyrl"
_RECORD = ".installed.json"  # {file name: sha256 of what was written}


def skill_folder(home: Path) -> Path:
    """Where Codex looks for a skill of the user."""
    return home / "skills" / NAME


def install_skill(home: Path, files: Mapping[str, str]) -> list[Path]:
    """Write these files (name -> text) into the skill's folder; returns those that changed.

    Raises:
        ConfigError: when one of them exists with content that is not ours (nothing is written then), or the disk refuses.
    """
    folder = skill_folder(home)
    written = _record(folder)
    theirs = [name for name in files if _is_theirs(folder / name, files[name], written.get(name))]
    if theirs:
        raise ConfigError(
            f"holds files that were not written by this command: {', '.join(theirs)}. Nothing was changed.",
            where=str(folder), fix="Move them away, then install again.",
        )  # fmt: skip
    changed = [name for name in files if _bytes_of(folder / name) != files[name].encode()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in changed:
            write_whole(folder / name, files[name].encode())
        digests = {name: _digest(text.encode()) for name, text in files.items()}
        write_whole(folder / _RECORD, json.dumps({**written, **digests}, indent=1, sort_keys=True).encode())
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror or error}.", where=str(folder)) from error
    return [folder / name for name in changed]


def _is_theirs(path: Path, new: str, digest: str | None) -> bool:
    if path.is_symlink():
        return True
    old = _bytes_of(path)
    return old is not None and old != new.encode() and _digest(old) != digest


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}.", where=str(path)) from error


def _record(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
