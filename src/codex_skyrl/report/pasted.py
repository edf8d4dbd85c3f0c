"""An answer that somebody pasted into a file: JSON as the prompt asks for it, or Markdown that cites evidence ids.

Gives claims to check; understands no more of the prose than where a statement begins and what it cites.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from codex_skyrl.report.claims import quoted_in, stands_at
from codex_skyrl.report.commands import commands_in
from codex_skyrl.report.mentions import places_in
from codex_skyrl.report.model import Evidence
from codex_skyrl.report.wire import WireCitation, WireClaim

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_RULE = re.compile(r"^\s*(?:#|>|\||-{3,}|={3,}|```|~~~)")
_ID = re.compile(r"(?<![A-Za-z0-9])([EC]\d{1,4})(?![A-Za-z0-9])")
_QUOTE = re.compile(r"`([^`\n]{4,})`|\"([^\"\n]{4,})\"|“([^”\n]{4,})”|「([^」\n]{4,})」")
_NAME = re.compile(r"[\w./:=-]+")  # a file, a key, a value: named, not quoted
_MOST_CITED = 8


def claims_in_markdown(text: str, evidence: Sequence[Evidence]) -> list[WireClaim]:
    """One claim for each list item or paragraph that says something; commands of a fenced block go to the one before.

    A claim cites by id or by file:line. Where it quotes nothing of an evidence, the whole of it stands as the quotation.
    """
    claims: list[WireClaim] = []
    for block, fenced in _blocks(text):
        if not fenced:
            claims.append(_claim(block, evidence))
        elif claims:
            commands = [
                line.strip().removeprefix("$ ") for line in block.splitlines() if line.strip()[:1] not in ("", "#")
            ]
            last = claims.pop()
            claims.append(last.model_copy(update={"commands": [*last.commands, *commands]}))
    return claims


def json_in(text: str) -> dict[str, Any] | None:
    """The text as one JSON object, or None."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _claim(block: str, evidence: Sequence[Evidence]) -> WireClaim:
    named = {e.id for e in evidence}
    ids = [name for name in _ID.findall(block) if name in named or name[0] == "E"]
    ids += [e.id for place in places_in(block) if place.file for e in evidence if stands_at(place, e)][:_MOST_CITED]
    quotes = [next(g for g in m.groups() if g) for m in _QUOTE.finditer(block)]
    homes = {e.id: e for e in evidence if e.id in ids}
    citations = []
    for name in dict.fromkeys(ids):
        home = homes.get(name)
        own = [q for q in quotes if home is not None and quoted_in(q, home)]
        citations += [WireCitation(evidence=name, quote=q) for q in own or [_words_of(home)]]
    strays = [
        q
        for q in quotes
        if not _NAME.fullmatch(q) and not any(quoted_in(q, e) for e in homes.values()) and not commands_in(f"`{q}`")
    ]
    citations += [WireCitation(evidence=name, quote=q) for q in strays for name in ids[:1]]
    return WireClaim(text=block, citations=citations)


def _words_of(evidence: Evidence | None) -> str:
    return "" if evidence is None else evidence.quote or evidence.says


def _blocks(text: str) -> list[tuple[str, bool]]:
    """(text, fenced) of each list item, paragraph and fenced block, in order; headings, quotes and tables are skipped."""
    found: list[tuple[str, bool]] = []
    open_block: list[str] = []
    fence: list[str] | None = None
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith(("```", "~~~")):
            if fence is None:
                _close(open_block, found)
                fence = []
            else:
                found.append(("\n".join(fence), True))
                fence = None
        elif fence is not None:
            fence.append(line)
        elif not line.strip() or _RULE.match(line):
            _close(open_block, found)
        else:
            if _ITEM.match(line):
                _close(open_block, found)
            open_block.append(_ITEM.sub("", line).strip())
    return found


def _close(block: list[str], found: list[tuple[str, bool]]) -> None:
    if block:
        found.append((" ".join(block), False))
    block.clear()
