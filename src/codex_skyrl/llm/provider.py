"""Where the model is: base URL, model id, wire and the name of the key's variable; from options, environment or Codex.

Reads the user's Codex configuration, never writes it. The key itself lives in the environment only.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from codex_skyrl.errors import ConfigError

Wire = Literal["auto", "responses", "chat"]
PROVIDER_ID = "taotoken"
ENV_KEY = "TAOTOKEN_API_KEY"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What options say; None where they say nothing."""

    base_url: str | None = None
    model: str | None = None
    wire: Wire | None = None
    env_key: str | None = None


@dataclass(frozen=True, slots=True)
class Provider:
    """`base_url` without a trailing slash; `told_by` names where the URL was found."""

    base_url: str
    model: str
    wire: Wire
    env_key: str
    told_by: str


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a provider; never shown."""

    value: str = field(repr=False)


def resolve_provider(wanted: Wanted, env: Mapping[str, str], codex_home: Path) -> Provider | None:
    """Options before environment before the Codex configuration; None when no base URL is named anywhere.

    Raises:
        ConfigError: when a base URL is named but no model is, or the Codex configuration cannot be read.
    """
    codex = _from_codex(codex_home)
    sources = (
        (wanted.base_url, "--base-url"),
        (env.get("CODEX_SKYRL_BASE_URL"), "CODEX_SKYRL_BASE_URL"),
        (codex.base_url, str(codex_home / "config.toml")),
    )
    base_url, told_by = next(((url.strip(), who) for url, who in sources if url and url.strip()), ("", ""))
    if not base_url:
        return None
    model = wanted.model or env.get("CODEX_SKYRL_MODEL") or codex.model
    if not model:
        raise ConfigError(
            "a model API is configured, but no model id.",
            where=told_by,
            fix="Give --model ID (an id from the gateway's own list) or set CODEX_SKYRL_MODEL.",
        )
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError("the base URL must begin with http:// or https://.", where=told_by)
    return Provider(
        base_url.rstrip("/"),
        model,
        wanted.wire or codex.wire or "auto",
        wanted.env_key or codex.env_key or ENV_KEY,
        told_by,
    )


def key_of(provider: Provider, env: Mapping[str, str]) -> Key | None:
    """The key in this process's environment; None when it is not set or empty.

    Raises:
        ConfigError: when it is set but cannot work as it is.
    """
    value = env.get(provider.env_key, "")
    if not value.strip():
        return None
    fix = f"Export it again without {'the prefix' if value.lower().startswith('bearer ') else 'blanks or quotes'}."
    if value != value.strip() or any(c in value for c in "\r\n\"' ") or value.lower().startswith("bearer "):
        raise ConfigError("the key has blanks, quotes or a Bearer prefix around it.", where=provider.env_key, fix=fix)
    if not value.isascii() or not value.isprintable():
        raise ConfigError("the key holds characters that no HTTP header can carry.", where=provider.env_key)
    return Key(value)


def _from_codex(home: Path) -> Wanted:
    """The taotoken provider of the user's Codex configuration, else the active provider when it has a key variable."""
    path = home / "config.toml"
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return Wanted()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}.", where=str(path), fix="Run: codex-skyrl check") from error
    try:
        config = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is not valid TOML: {error}.", where=str(path), fix="Run: codex-skyrl check") from error
    active = config.get("model_provider")
    table = _provider_table(config, active)
    if table is None:
        return Wanted()
    wire = table.get("wire_api")
    return Wanted(
        base_url=_text(table.get("base_url")),
        model=_text(config.get("model")) if active in (None, PROVIDER_ID) or table.get("env_key") else None,
        wire=wire if wire in ("responses", "chat") else None,
        env_key=_text(table.get("env_key")),
    )


def _provider_table(config: Mapping[str, Any], active: object) -> Mapping[str, Any] | None:
    providers = config.get("model_providers")
    if not isinstance(providers, dict):
        return None
    if isinstance(providers.get(PROVIDER_ID), dict):
        return providers[PROVIDER_ID]  # type: ignore[no-any-return]
    table = providers.get(active) if isinstance(active, str) else None
    return table if isinstance(table, dict) and _text(table.get("env_key")) else None


def _text(value: object) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None
