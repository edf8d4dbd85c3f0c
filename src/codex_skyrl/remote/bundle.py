"""A bundle: what one node's logs say, small enough to carry, as `*.tar.zst`.

manifest.json    {"format": 1, "tool": version, "node": name, "settings": [[key, value, source, line, text], ...]}
0001.events      one source (see `taken`), and so on
"""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl import __version__
from codex_skyrl.checkout.launch import Knob
from codex_skyrl.errors import InputError
from codex_skyrl.remote.columns import Broken
from codex_skyrl.remote.taken import Taken, decode, encode

SUFFIX = ".tar.zst"
_FORMAT = 1
_MOST_MEMBERS = 100_000
_LARGEST_MEMBER = 1 << 30
_MADE_BY_US = "Make it with: codex-skyrl collect -o NODE.tar.zst"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one node took along: its sources and the settings of launch scripts."""

    node: str
    sources: tuple[Taken, ...]
    settings: tuple[Knob, ...] = ()


def write_bundle(path: Path, node: str, sources: Iterable[Taken], settings: Sequence[Knob]) -> int:
    """Write it whole or not at all, source by source; the bytes it takes.

    Raises:
        InputError: when it cannot be written there.
    """
    import zstandard

    manifest = {
        "format": _FORMAT, "tool": __version__, "node": node,
        "settings": [[k.key, k.value, k.source, k.line, k.text] for k in settings],
    }  # fmt: skip
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent or Path(), prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}.", where=str(path), fix="Name another place.") from error
    try:
        with (
            os.fdopen(handle, "wb") as file,
            zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as packer,
            tarfile.open(fileobj=packer, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            _add(tar, "manifest.json", json.dumps(manifest, ensure_ascii=False).encode())
            for number, taken in enumerate(sources, 1):
                _add(tar, f"{number:04}.events", encode(taken))
        Path(scratch).replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}.", where=str(path)) from error
    finally:
        Path(scratch).unlink(missing_ok=True)
    return path.stat().st_size


def read_bundle(path: Path, shown: str) -> Bundle:
    """A bundle's content; nothing is written to disk.

    Raises:
        InputError: when it is none, damaged, or of a later format.
    """
    import zstandard

    sources: list[Taken] = []
    manifest: dict[str, object] | None = None
    try:
        with (
            path.open("rb") as file,
            zstandard.ZstdDecompressor().stream_reader(file) as packed,
            tarfile.open(fileobj=io.BufferedReader(packed), mode="r|") as tar,
        ):
            for number, member in enumerate(tar):
                content = tar.extractfile(member)
                if content is None or member.size > _LARGEST_MEMBER or number > _MOST_MEMBERS:
                    raise Broken("a member that no bundle has")
                if member.name == "manifest.json":
                    manifest = json.loads(content.read())
                else:
                    sources.append(decode(content.read()))
        if manifest is None:
            raise Broken("it has no manifest")
        if manifest["format"] != _FORMAT:
            raise Broken(f"its format is {manifest['format']}, this version knows {_FORMAT}")
        settings = tuple(_knob(row) for row in manifest["settings"])  # type: ignore[attr-defined]
        return Bundle(str(manifest["node"]), tuple(sources), settings)
    except FileNotFoundError as error:
        raise InputError("no such file.", where=shown) from error
    except (OSError, EOFError, tarfile.TarError, zstandard.ZstdError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"is no bundle that can be read: {error}.", where=shown, fix=_MADE_BY_US) from error


def _knob(row: Sequence[object]) -> Knob:
    key, value, source, line, text = row
    return Knob(str(key), str(value), str(source), int(str(line)), str(text))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))
