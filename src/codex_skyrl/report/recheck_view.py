"""The terminal and JSON forms of an answer that was checked again."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType

from codex_skyrl.report.model import Claim, Diagnosis, ModelReport
from codex_skyrl.report.model_view import claim_view, model_section
from codex_skyrl.report.prose import paragraph
from codex_skyrl.text import Text


def view(diagnosis: Diagnosis, report: ModelReport | None, claims: Sequence[Claim]) -> RenderableType:
    """A whole report as the model's section of a diagnosis, free text as its claims."""
    return Group(*_blocks(diagnosis, report, claims))


def as_json(report: ModelReport | None, claims: Sequence[Claim]) -> dict[str, Any]:
    """`{schema_version, verified, unverified, claims, report}`."""
    good = sum(claim.verified for claim in claims)
    return {
        "schema_version": 1,
        "verified": good,
        "unverified": len(claims) - good,
        "claims": [claim.model_dump(mode="json") for claim in claims],
        "report": report.model_dump(mode="json") if report is not None else None,
    }


def _blocks(diagnosis: Diagnosis, report: ModelReport | None, claims: Sequence[Claim]) -> Iterator[RenderableType]:
    if report is not None:
        yield from model_section(diagnosis.model_copy(update={"report": report}))
        return
    good = sum(claim.verified for claim in claims)
    said = Text(
        f"{good} of {len(claims)} statements verified against the evidence.",
        f"{len(claims)} 条说法中有 {good} 条与依据核对一致。",
    )
    yield paragraph(said.to(diagnosis.lang), "bold", indent=0)
    for claim in claims:
        yield from claim_view(claim, diagnosis.lang)
