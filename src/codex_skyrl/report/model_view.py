"""The model's part of the terminal report: its claims, each marked as verified against the evidence or not.

Never mixes with the verdict, and shows nothing of the model's without saying whose words they are.
"""

from collections.abc import Iterator

from rich.console import RenderableType

from codex_skyrl.report import phrases, words
from codex_skyrl.report.blocks import Command, Paragraph
from codex_skyrl.report.model import Claim, Diagnosis, ModelExperiment, ModelReport
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.prose import heading, item, paragraph
from codex_skyrl.text import Lang


def cited_ids(report: ModelReport | None) -> set[str]:
    """Every evidence id that some claim of the model cites."""
    if report is None:
        return set()
    claims = (claim for answer in report.answers for claim in answer.claims)
    return {citation.evidence for claim in claims for citation in claim.citations}


def model_section(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """Nothing when no model was asked."""
    report, lang = diagnosis.report, diagnosis.lang
    if report is None:
        return
    yield heading(words.MODEL, lang)
    yield paragraph(phrases.model_line(report, diagnosis.verdict, lang), "bold red" if report.agrees is False else "")
    yield paragraph(phrases.tally(report, lang))
    yield paragraph(phrases.summary_line(report, lang))
    yield from (item("!", problem, indent=4) for problem in report.summary_problems)
    for answer in report.answers:
        yield paragraph(f"\n  {answer.question}. {words.QUESTIONS[answer.question].to(lang)}", "bold", indent=0)
        for claim in answer.claims:
            yield from claim_view(claim, lang)
    if report.experiment is not None:
        yield from _experiment(report.experiment, lang)
    for note in report.notes:
        yield item("!", phrases.labelled(words.NOTE, note, lang))


def claim_view(claim: Claim, lang: Lang) -> Iterator[RenderableType]:
    """One claim with its mark, what is wrong with it, and its commands when nothing is."""
    mark = words.VERIFIED if claim.verified else words.UNVERIFIED
    style = "bold" if claim.verified else "bold red"
    said = " " + claim.text + phrases.claim_sources(claim)
    yield Paragraph([(f"[{mark.to(lang)}]", style), (said, "")], "  - ")
    for problem in claim.problems:
        yield item("!", problem, indent=4)
    for command in claim.commands if claim.verified else ():
        yield Command(neutral(command), 6)


def _experiment(experiment: ModelExperiment, lang: Lang) -> Iterator[RenderableType]:
    yield paragraph("")
    yield paragraph(phrases.model_experiment(experiment, lang), "bold")
    for line in phrases.model_experiment_details(experiment, lang):
        yield item("-", line)
    for problem in experiment.problems:
        yield item("!", problem, indent=4)
