"""Keeps what was asked and answered, so that a report can be read again and checked offline, and never asked for twice.

One JSON file an exchange in a folder of the user's own (mode 700, files 600), the newest `_MOST` of them. What comes in
has been redacted already; keys are never part of it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_MOST = 200


@dataclass(frozen=True, slots=True)
class Exchange:
    """`asked` names engine, model and address; `answer` is the validated object, `about` whatever it is checked against."""

    at: str
    key: str
    asked: str
    prompt: str
    answer: dict[str, Any]
    model: str
    input_tokens: int | None
    output_tokens: int | None
    notes: list[str]
    about: dict[str, Any]
    schema_version: int = 1


def key_of_exchange(asked: str, prompt: str, schema: Mapping[str, Any]) -> str:
    """The same for the very same question: engine, model, address, prompt and form of the answer."""
    whole = json.dumps([asked, prompt, schema], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode()).hexdigest()


class Exchanges:
    """The exchanges in one folder, made when the first one is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Exchange | None:
        """The newest exchange with this key; None also where a file is not whole."""
        for path in sorted(self.folder.glob(f"*-{key[:16]}.json"), reverse=True):
            found = read_exchange(path)
            if found is not None and found.key == key:
                return found
        return None

    def keep(self, exchange: Exchange) -> Path:
        """Write it, and take away the oldest beyond the limit.

        Raises:
            OSError: when the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stamp = exchange.at.replace(":", "").replace("-", "")
        path = self.folder / f"{stamp}-{exchange.key[:16]}.json"
        scratch = path.with_suffix(".new")
        scratch.touch(mode=0o600)
        scratch.write_text(json.dumps(asdict(exchange), ensure_ascii=False, indent=1), encoding="utf-8")
        scratch.replace(path)
        for old in sorted(self.folder.glob("*-*.json"))[:-_MOST]:
            old.unlink(missing_ok=True)
        return path


def read_exchange(path: Path) -> Exchange | None:
    """One kept exchange; None when the file is none."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return Exchange(**fields)
    except (OSError, ValueError, TypeError):
        return None
