"""From an answer's text to a validated object: the last candidate that fits the schema, strictly, or why none does.

No coercion ("0.8" is not 0.8), no NaN, no duplicate keys, no extra keys; brackets are never closed for the model.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)

_FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_PROBLEMS_SHOWN = 8


class NoAnswerError(Exception):
    """No candidate fits; `problems` are the exact paths of the best one."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def validated(text: str, schema: type[Model]) -> tuple[Model, list[str]]:
    """The last candidate in `text` that is valid, with notes on what had to be unwrapped.

    Raises:
        NoAnswerError: when none is.
    """
    spoken = text.rpartition("</think>")[2]
    problems: list[str] = ["the answer holds no JSON object"]
    for candidate in _candidates(spoken):
        try:
            return _fits(candidate, schema)
        except NoAnswerError as misfit:
            if problems == ["the answer holds no JSON object"]:
                problems = misfit.problems
    raise NoAnswerError(problems)


def _fits(candidate: str, schema: type[Model]) -> tuple[Model, list[str]]:
    value = _load(candidate)
    notes: list[str] = []
    if isinstance(value, str):
        value, notes = _load(value), ["the answer was JSON inside a JSON string"]
    try:
        return _strict(value, schema), notes
    except NoAnswerError as misfit:
        inner = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
        if not isinstance(inner, dict):
            raise
        try:
            return _strict(inner, schema), [*notes, "the answer was wrapped in one more object"]
        except NoAnswerError:
            raise misfit from None


def _strict(value: object, schema: type[Model]) -> Model:
    try:
        return schema.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        paths = [f"{'.'.join(map(str, e['loc'])) or '(top)'}: {e['msg']}" for e in error.errors()]
        raise NoAnswerError(paths[:_PROBLEMS_SHOWN]) from None


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise NoAnswerError([f"not valid JSON: {error}"]) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _candidates(text: str) -> Iterator[str]:
    """Fenced blocks, the whole text, and bare objects; the last one first."""
    fenced = [m[1].strip() for m in _FENCE.finditer(text)]
    yield from reversed(fenced)
    bare = text.strip()
    if bare[:1] in ("{", '"', "["):
        yield bare
    yield from reversed(_objects(_FENCE.sub("", text)))


def _objects(text: str) -> list[str]:
    """Top-level `{...}` pieces of running text, by matching braces outside strings."""
    decoder = json.JSONDecoder()
    found, at = [], text.find("{")
    while at >= 0:
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        found.append(text[at:end])
        at = text.find("{", end)
    return found
