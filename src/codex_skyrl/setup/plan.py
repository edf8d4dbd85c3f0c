"""What setup will write: the provider's own keys and, when it becomes the active one, the two root keys. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codex_skyrl.setup.codex import Codex
from codex_skyrl.setup.effective import provider_table
from codex_skyrl.setup.toml_scan import Path

_OWN_TO_MEND = ("name", "wire_api")  # changing these in an existing provider is what the user came for


@dataclass(frozen=True, slots=True)
class Settled:
    """Address, model and wire, once they are known."""

    base_url: str
    model: str
    wire: str


def changes_of(settled: Settled, provider: str, env_key: str, *, activate: bool) -> dict[Path, str]:
    """Absolute keys and their text values."""
    changes: dict[Path, str] = {}
    if activate:
        changes[("model",)] = settled.model
        changes[("model_provider",)] = provider
    own = {
        "name": "TaoToken" if provider == "taotoken" else provider,
        "base_url": settled.base_url,
        "env_key": env_key,
        "wire_api": settled.wire,
    }
    changes |= {("model_providers", provider, key): value for key, value in own.items()}
    return changes


def conflicts(values: Mapping[str, Any], provider: str, changes: Mapping[Path, str]) -> list[str]:
    """Keys of an existing provider of that id that would get another value; they need the user's consent."""
    table = provider_table(values, provider) or {}
    own = {path[-1]: value for path, value in changes.items() if len(path) == 3}
    return [k for k, v in own.items() if k in table and table[k] != v and k not in _OWN_TO_MEND]


def can_speak(wire: str, codex: Codex | None) -> bool:
    """Whether the installed Codex starts with this wire; an unknown one counts as current."""
    return wire != "chat" or (codex is not None and codex.knows_chat)
