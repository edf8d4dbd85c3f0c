"""The installed Codex: where its home and binary are, and which version it is."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.errors import ConfigError
from codex_skyrl.processes import run

Version = tuple[int, int, int]
FIRST_WITHOUT_CHAT: Version = (0, 95, 0)
LAST_WITH_CHAT = "0.94.0"
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_VERSION_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Codex:
    """A binary and what it says of itself."""

    path: str
    version: Version

    @property
    def shown(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def knows_chat(self) -> bool:
        return self.version < FIRST_WITHOUT_CHAT


def codex_home(env: Mapping[str, str]) -> Path:
    """CODEX_HOME, else `.codex` in the user's home (USERPROFILE on Windows)."""
    named = env.get("CODEX_HOME", "").strip()
    if named:
        return Path(named)
    home = env.get("HOME") or env.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".codex"


def find_codex(env: Mapping[str, str], named: str | None = None) -> Codex | None:
    """The binary named, else the one on PATH; None when there is none.

    Raises:
        ConfigError: when the named one is missing or does not tell a version.
    """
    path = shutil.which(named or "codex", path=env.get("PATH"))
    if path is None:
        if named:
            raise ConfigError("there is no such program.", where=named, fix="Give --codex the path of a Codex binary.")
        return None
    ran = run([path, "--version"], env, None, _VERSION_LIMIT_S)
    found = _VERSION.search(ran.stdout)
    if found is None:
        raise ConfigError("does not tell its version.", where=path, fix="Reinstall it: npm install -g @openai/codex")
    return Codex(path, (int(found[1]), int(found[2]), int(found[3])))
