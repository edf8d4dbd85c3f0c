"""Numbers the evidence: the same place and statement gets one id, in the order of first use.

What logs and figures show is E1, E2, ...; what stands in code and settings is C1, C2, ...
"""

from collections.abc import Iterable

from codex_skyrl.diagnosis.finding import Cite
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.report.model import COMPUTED, Evidence
from codex_skyrl.text import Lang


class Ledger:
    """Grows while a report is put together."""

    def __init__(self, lang: Lang) -> None:
        self._lang = lang
        self._ids: dict[tuple[Place | None, str], str] = {}
        self._cites: dict[str, Cite] = {}

    def ids(self, cites: Iterable[Cite]) -> list[str]:
        """The ids of these cites, new ones where needed, each once."""
        return list(dict.fromkeys(self._id(cite) for cite in cites))

    def _id(self, cite: Cite) -> str:
        key = (cite.place, cite.says.en)
        found = self._ids.get(key)
        if found is None:
            letter = "C" if cite.kind == "code" else "E"
            found = self._ids[key] = f"{letter}{1 + sum(1 for i in self._cites if i[0] == letter)}"
            self._cites[found] = cite
        return found

    @property
    def places(self) -> set[Place]:
        """Every place whose text is wanted."""
        return {c.place for c in self._cites.values() if c.place is not None}

    def evidence(self, quotes: dict[Place, str]) -> list[Evidence]:
        """All evidence with the quoted text of its place ("" where it could not be read again)."""
        ordered = sorted(self._cites.items(), key=lambda pair: pair[0][0] == "C")
        return [self._evidence(name, cite, quotes) for name, cite in ordered]

    def _evidence(self, name: str, cite: Cite, quotes: dict[Place, str]) -> Evidence:
        source, line = cite.place if cite.place is not None else (COMPUTED, None)
        return Evidence(
            id=name,
            kind=cite.kind,
            source=source,
            line_start=line,
            line_end=(cite.line_end or line) if line is not None else None,
            quote=quotes.get(cite.place, "") if cite.place is not None else "",
            says=cite.says.to(self._lang),
        )
