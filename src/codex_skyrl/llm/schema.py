"""A JSON schema that strict gateways accept: every object closed, every property required, no defaults."""

from typing import Any

from pydantic import BaseModel

_DROPPED = ("default", "title")


def wire_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of an answer as it is sent."""
    closed = _closed(model.model_json_schema(by_alias=True))
    assert isinstance(closed, dict)
    return closed


def _closed(node: Any, *, names: bool = False) -> Any:
    """`names`: the keys of this mapping are property names, not schema keywords."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _closed(value, names=not names and key in ("properties", "$defs"))
        for key, value in node.items()
        if names or key not in _DROPPED
    }
    if not names and isinstance(kept.get("properties"), dict):
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept
