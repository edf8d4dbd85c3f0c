"""Checks a model's answer against our evidence: every quotation verbatim, every figure ours. Changes no verdict.

A claim is verified only when it cites something, each citation names an evidence id whose text holds the quoted words,
and each number in the claim stands in the cited evidence. Whitespace is the only thing that may differ in a quote;
numbers may be rounded, never changed.
"""

import re

from codex_skyrl.report.model import (
    Citation,
    Claim,
    Diagnosis,
    Evidence,
    ModelAnswer,
    ModelExperiment,
    ModelReport,
)
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.wire import WireClaim, WireReport
from codex_skyrl.text import Lang, Text

_NUMBER = re.compile(r"(?<![\w.:/-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w:/-]|\.\d)")
_SHORTEST_QUOTE = 4


def verify(answer: WireReport, diagnosis: Diagnosis) -> ModelReport:
    """The answer as it is shown: each claim marked, with what is wrong with it in the diagnosis's language."""
    known = {e.id: e for e in diagnosis.evidence}
    lang = diagnosis.lang
    return ModelReport(
        bottleneck=answer.bottleneck,
        cause=answer.cause,
        summary=answer.summary,
        answers=[
            ModelAnswer(question=a.question, claims=[verify_claim(c, known, lang) for c in a.claims])
            for a in answer.answers
        ],
        experiment=ModelExperiment(**answer.experiment.model_dump()),
        agrees=answer.bottleneck == diagnosis.verdict.bottleneck,
    )


def verify_claim(claim: WireClaim, known: dict[str, Evidence], lang: Lang) -> Claim:
    """One claim against the evidence it cites."""
    problems = [p.to(lang) for p in _problems(claim, known)]
    return Claim(
        text=claim.text,
        citations=[Citation(evidence=c.evidence, quote=c.quote) for c in claim.citations],
        verified=not problems,
        problems=problems,
    )


def _problems(claim: WireClaim, known: dict[str, Evidence]) -> list[Text]:
    if not claim.citations:
        return [Text("cites nothing", "没有引用任何依据")]
    found: list[Text] = []
    for citation in claim.citations:
        evidence = known.get(citation.evidence)
        if evidence is None:
            found.append(Text(f"{citation.evidence} is not in the evidence", f"依据中没有 {citation.evidence}"))
        elif not quoted_in(citation.quote, evidence):
            found.append(
                Text(f"the quoted words are not in {citation.evidence}", f"{citation.evidence} 中没有所引的原文")
            )
    cited = [known[c.evidence] for c in claim.citations if c.evidence in known]
    for figure in _unknown_figures(claim.text, cited):
        found.append(Text(f"{figure} is in none of the cited evidence", f"所引依据中没有数字 {figure}"))
    return found


def quoted_in(quote: str, evidence: Evidence) -> bool:
    """Whether the words stand in the evidence verbatim, whitespace aside."""
    wanted = _flat(quote)
    return len(wanted) >= _SHORTEST_QUOTE and any(wanted in _flat(t) for t in (evidence.quote, evidence.says))


def _flat(text: str) -> str:
    return " ".join(neutral(text).split())


def _unknown_figures(text: str, cited: list[Evidence]) -> list[str]:
    """Numbers of the claim that no cited evidence holds, allowing for rounding of ours to theirs."""
    ours = [float(n.replace(",", "")) for e in cited for t in (e.quote, e.says) for n in _NUMBER.findall(t)]
    lines = [float(n) for e in cited for n in (e.line_start, e.line_end) if n is not None]
    unknown = []
    for number in _NUMBER.findall(text):
        value = float(number.replace(",", ""))
        decimals = len(number.partition(".")[2])
        if not any(round(our, decimals) == value for our in [*ours, *lines]):
            unknown.append(number)
    return unknown
