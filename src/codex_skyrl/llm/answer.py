"""What either engine gives back: a validated value, and what it cost."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Model]):
    """A validated answer. Tokens are None when the gateway does not tell."""

    value: Model
    model: str
    input_tokens: int | None
    output_tokens: int | None
    notes: tuple[str, ...]
