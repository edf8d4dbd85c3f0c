"""One sentence in the two languages of the product, chosen only when it is shown."""

from dataclasses import dataclass
from typing import Literal

Lang = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Text:
    """The same statement in English and Chinese; figures are already formatted in both."""

    en: str
    zh: str

    def to(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en
