"""Which provider Codex really uses with this configuration, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codex_skyrl.text import Text

BUILT_IN = "openai"


@dataclass(frozen=True, slots=True)
class Effective:
    """`decided_by` says which place won. Fields are None where nothing states them."""

    provider: str
    base_url: str | None
    model: str | None
    wire_api: str | None
    env_key: str | None
    decided_by: Text


@dataclass(frozen=True, slots=True)
class Layers:
    """What may stand over the user's file: `-c` overrides, and a profile file with its name."""

    overrides: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    profile_values: Mapping[str, Any] = field(default_factory=dict)


def effective_of(values: Mapping[str, Any], layers: Layers | None = None) -> Effective:
    """From the parsed user configuration and what stands over it: -c before the profile file before the root keys."""
    layers = layers or Layers()
    merged = {**values, **layers.profile_values, **layers.overrides}
    merged["model_providers"] = {**provider_tables(values), **provider_tables(layers.profile_values)}
    named = _text(merged.get("model_provider"))
    provider = named or BUILT_IN
    table = provider_table(merged, provider) or {}
    return Effective(
        provider,
        _text(table.get("base_url")),
        _text(merged.get("model")),
        _text(table.get("wire_api")) or ("responses" if table else None),
        _text(table.get("env_key")),
        _why(layers, named),
    )


def _why(layers: Layers, named: str | None) -> Text:
    if "model_provider" in layers.overrides:
        return Text("the -c override on the command line", "命令行的 -c 覆盖")
    if "model_provider" in layers.profile_values:
        return Text(f"the profile file {layers.profile}.config.toml", f"profile 文件 {layers.profile}.config.toml")
    if named:
        return Text("the root key model_provider", "根键 model_provider")
    return Text("Codex's built-in default: no root key model_provider", "Codex 的内置默认值：没有根键 model_provider")


def provider_table(values: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The table of a provider, None when there is none."""
    providers = values.get("model_providers")
    table = providers.get(name) if isinstance(providers, dict) else None
    return table if isinstance(table, dict) else None


def provider_tables(values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """All provider tables by id."""
    providers = values.get("model_providers")
    if not isinstance(providers, dict):
        return {}
    return {name: table for name, table in providers.items() if isinstance(table, dict)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
