"""Which files are the logs of a run: named ones, folders, globs, or the places where such runs leave them.

Rotated files of one log become one source, oldest first. Says what was taken and what was left, and why.
"""

import glob
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.errors import InputError

USUAL_PLACES = ("logs", "outputs", "wandb/*/files/output.log", "ray/session_latest/logs")
_LOG_NAME = re.compile(
    r"\.(?:(?:log|out|err|txt|csv|json|jsonl|ndjson)(?:[.-]\d[\w.-]*)?(?:\.(?:gz|zst))?|tar\.zst)$", re.IGNORECASE
)
_ROTATED = re.compile(r"^(?P<stem>.+?)(?:[.-](?P<n>\d{1,3}|\d{8}(?:[-T]?\d{2,6})?))?(?P<z>\.(?:gz|zst))?$")
_NOT_LOGS = {"package.json", "package-lock.json", "tsconfig.json", "truth.json", "requirements.txt", "expected.json"}
_SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", ".venv", "site-packages", "checkpoints"}


@dataclass(frozen=True, slots=True)
class Source:
    """One log: its files in writing order."""

    name: str
    paths: tuple[Path, ...]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(p.stat().st_size for p in self.paths)


@dataclass(frozen=True, slots=True)
class Found:
    """What will be read, and what was left with the reason."""

    sources: tuple[Source, ...]
    left: tuple[tuple[Path, str], ...] = ()


def find(arguments: Iterable[str], here: Path, ray_root: Path | None = None) -> Found:
    """Resolve path arguments (files, folders, globs) or, without any, the usual places below `here`.

    Raises:
        InputError: when an argument names nothing, or nothing that looks like a log was found.
    """
    arguments = list(arguments)
    left: list[tuple[Path, str]] = []
    files: list[Path] = []
    for argument in arguments:
        files += _resolve(argument, here, left)
    if not arguments:
        files = _usual(here, ray_root, left)
    unique = list(dict.fromkeys(p.resolve() for p in files))
    if not unique:
        where = ", ".join(arguments) or ", ".join(USUAL_PLACES)
        raise InputError(
            "no log files were found.", where=where, fix="Name log files or a folder: codex-skyrl diagnose PATH..."
        )
    return Found(tuple(_grouped(unique, here)), tuple(left))


def _resolve(argument: str, here: Path, left: list[tuple[Path, str]]) -> list[Path]:
    path = here / Path(argument).expanduser()
    if path.is_dir():
        return _in_folder(path, left)
    if path.exists():
        return [path]
    matches = sorted(glob.glob(str(path), recursive=True))
    if not matches:
        raise InputError("no such file or folder.", where=argument, fix="Check the path, or quote the glob.")
    found: list[Path] = []
    for match in matches:
        found += _in_folder(Path(match), left) if Path(match).is_dir() else [Path(match)]
    return found


def _in_folder(folder: Path, left: list[tuple[Path, str]]) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or _SKIPPED_FOLDERS.intersection(inside.parts):
            continue
        if path.name in _NOT_LOGS or not _LOG_NAME.search(path.name):
            left.append((path, "not a log by its name"))
        elif path.stat().st_size == 0:
            left.append((path, "empty"))
        else:
            found.append(path)
    return found


def _usual(here: Path, ray_root: Path | None, left: list[tuple[Path, str]]) -> list[Path]:
    found: list[Path] = []
    for place in USUAL_PLACES[:2]:
        if (here / place).is_dir():
            found += _in_folder(here / place, left)
    found += sorted(here.glob(USUAL_PLACES[2]))
    if not found and ray_root is not None and ray_root.is_dir():
        found += [p for p in _in_folder(ray_root, left) if p.name.startswith("worker-")]
    return found


def _grouped(files: list[Path], here: Path) -> list[Source]:
    """Rotated files share a folder and a stem; `x.log` is newest, `x.log.1` before it, dated ones by date."""
    groups: dict[tuple[Path, str], list[tuple[tuple[int, int], Path]]] = {}
    for path in files:
        match = _ROTATED.match(path.name)
        stem, number = (match["stem"], match["n"]) if match else (path.name, None)
        if number is None or not re.search(r"\.(?:log|out|err|txt)$", stem):
            key, order = (path.parent, path.name if number else stem), (1, 0)
        elif len(number) <= 3:
            key, order = (path.parent, stem), (0, -int(number))
        else:
            key, order = (path.parent, stem), (0, int(re.sub(r"\D", "", number)))
        groups.setdefault(key, []).append((order, path))
    sources = []
    for members in groups.values():
        ordered = [p for _, p in sorted(members)]
        sources.append(Source(shown_path(ordered[-1], here), tuple(ordered)))
    return sources


def latest_ray_session(env: Mapping[str, str]) -> Path:
    """The logs of this machine's current Ray session (RAY_TMPDIR honoured), whether there is one or not."""
    base = env.get("RAY_TMPDIR") or tempfile.gettempdir()
    return Path(base) / "ray" / "session_latest" / "logs"


def shown_path(path: Path, here: Path) -> str:
    """Relative to `here` where it lies below it."""
    try:
        return str(path.relative_to(here.resolve()))
    except ValueError:
        return str(path)
