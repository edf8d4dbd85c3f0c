"""Checks a model's answer: every claim, its summary and its experiment. Marks what is wrong; changes no verdict.

See `report.claims` for what a claim must hold. A model that names another bottleneck is shown beside our verdict.
"""

from collections.abc import Iterator

from codex_skyrl.report.claims import figures_not_in, problems_of_claim, problems_of_words
from codex_skyrl.report.known import Known
from codex_skyrl.report.model import (
    COMPUTED,
    Citation,
    Claim,
    Diagnosis,
    Evidence,
    ModelAnswer,
    ModelExperiment,
    ModelReport,
)
from codex_skyrl.report.wire import WireClaim, WireExperiment, WireReport
from codex_skyrl.text import Text


def verify(answer: WireReport, known: Known) -> ModelReport:
    """The answer as it is shown: each part marked, with what is wrong with it in the diagnosis's language."""
    diagnosis = known.diagnosis
    return ModelReport(
        bottleneck=answer.bottleneck,
        cause=answer.cause,
        summary=answer.summary,
        summary_problems=_said(_of_summary(answer.summary, known), known),
        answers=[
            ModelAnswer(question=a.question, claims=[verify_claim(c, known) for c in a.claims]) for a in answer.answers
        ],
        experiment=_experiment(answer.experiment, known),
        agrees=answer.bottleneck == diagnosis.verdict.bottleneck,
    )


def verify_claim(claim: WireClaim, known: Known) -> Claim:
    """One claim against the evidence it cites."""
    problems = _said(problems_of_claim(claim, known), known)
    return Claim(
        text=claim.text,
        citations=[Citation(evidence=c.evidence, quote=c.quote) for c in claim.citations],
        commands=list(claim.commands),
        verified=not problems,
        problems=problems,
    )


def _said(problems: Iterator[Text], known: Known) -> list[str]:
    return list(dict.fromkeys(p.to(known.diagnosis.lang) for p in problems))


def _of_summary(summary: str, known: Known) -> Iterator[Text]:
    """A summary cites nothing, so its figures may stand in any evidence."""
    every = [*known.diagnosis.evidence, *_our_own_words(known.diagnosis)]
    yield from problems_of_words(summary, known, every)
    for figure in figures_not_in(summary, every):
        yield Text(f"{figure} is in no evidence", f"依据中没有数字 {figure}")


def _our_own_words(diagnosis: Diagnosis) -> list[Evidence]:
    """The verdict and the predictions, so that an answer may repeat them."""
    said = [diagnosis.verdict.summary, str(diagnosis.verdict.confidence)]
    for e in diagnosis.experiments:
        figures = (e.from_, e.to, *(abs(v) for v in (e.step_time_change_pct, e.low_pct, e.high_pct) if v is not None))
        said.append(" ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in figures))
    return [Evidence(id="", kind="metric", source=COMPUTED, says=text) for text in said]


def _experiment(experiment: WireExperiment, known: Known) -> ModelExperiment:
    problems = _said(_of_experiment(experiment, known), known)
    return ModelExperiment(**experiment.model_dump(), verified=not problems, problems=problems)


def _of_experiment(experiment: WireExperiment, known: Known) -> Iterator[Text]:
    """One setting that exists, from the value it has to another one; predicted figures must be ours."""
    knob = experiment.knob.strip()
    if len(knob.replace(",", " ").split()) != 1:
        yield Text(f"is not one variable: {knob}", f"不是单一变量：{knob}")
    elif not known.is_setting(knob):
        yield Text(f"{knob} is no setting of this checkout", f"本 checkout 中没有设置项 {knob}")
    values = known.values_of(knob)
    if values and experiment.from_value.strip() not in values:
        listed = ", ".join(sorted(values))
        yield Text(
            f"{knob} is {listed}, not {experiment.from_value}", f"{knob} 现为 {listed}，不是 {experiment.from_value}"
        )
    if experiment.from_value.strip() == experiment.to_value.strip():
        yield Text("changes nothing", "没有改变任何值")
    words = " ".join([experiment.from_value, experiment.to_value, *experiment.compare, experiment.predicted])
    every = [*known.diagnosis.evidence, *_our_own_words(known.diagnosis)]
    yield from problems_of_words(words, known, every)
    own = Evidence(
        id="", kind="metric", source=COMPUTED, says=f"{experiment.from_value} {experiment.to_value} {experiment.steps}"
    )
    for figure in figures_not_in(experiment.predicted, [*every, own]):
        yield Text(f"predicts {figure}, which no computed figure bears out", f"预测的 {figure} 没有任何计算结果支持")
