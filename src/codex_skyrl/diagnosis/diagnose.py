"""Puts a diagnosis together: decision, matrix, naive reading, figures, experiments, what is missing.

Pure: takes facts, gives the report's data. Quotes of cited lines are filled in by whoever can read files.
"""

from collections.abc import Callable, Sequence

from codex_skyrl import __version__
from codex_skyrl.diagnosis.experiments import trials_of
from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Finding
from codex_skyrl.diagnosis.ledger import Ledger
from codex_skyrl.diagnosis.matrix import rows_of
from codex_skyrl.diagnosis.missing import needs_of
from codex_skyrl.diagnosis.naive import naive_of
from codex_skyrl.diagnosis.structure import behind, code_of
from codex_skyrl.diagnosis.totals import queues_of, stages_of
from codex_skyrl.diagnosis.verdict import Decision, Judged, decide
from codex_skyrl.pipeline.timeline import timeline_of
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.report.model import (
    Diagnosis,
    Experiment,
    Input,
    MatrixRow,
    Missing,
    OtherFinding,
    Queues,
    Step,
    Timeline,
    Tool,
    Verdict,
)
from codex_skyrl.text import Lang

_TIMELINES = 12
Quoter = Callable[[set[Place]], dict[Place, str]]


def diagnose(case: Case, inputs: Sequence[Input], lang: Lang, quote: Quoter) -> Diagnosis:
    """The whole offline diagnosis. `quote` returns the text of the cited lines."""
    decision, ledger = decide(case), Ledger(lang)
    pipelines = [p for s in case.steps for p in s.pipelines]
    queues = queues_of(pipelines)
    verdict = _verdict(decision, case, queues, ledger, lang)
    code = code_of(case.checkout, case.knobs, ledger) if case.checkout is not None else None
    matrix = [MatrixRow(row=r.name, matched=r.matched, evidence=ledger.ids(r.cites)) for r in rows_of(case.steps)]
    return Diagnosis(
        tool=Tool(version=__version__),
        engine="offline",
        lang=lang,
        inputs=list(inputs),
        verdict=verdict,
        steps=[_step(j, case.last_s) for j in decision.judged],
        queues=queues,
        pipelines=[p.shown for p in pipelines],
        stages=stages_of(case.steps),
        timelines=_timelines(decision.judged),
        matrix=matrix,
        experiments=_experiments(case, decision.finding, lang),
        evidence=ledger.evidence(quote(ledger.places)),
        missing=[Missing(what=what.to(lang), how=how) for what, how in needs_of(case, decision.finding)],
        checkout=code,
    )


def _timelines(judged: Sequence[Judged]) -> list[Timeline]:
    """Of at most `_TIMELINES` steps: spread evenly, the longest among them."""
    steps = [j.step for j in judged]
    if len(steps) > _TIMELINES:
        longest = max(steps, key=lambda s: s.observed_s)
        spread = [steps[round(n * (len(steps) - 1) / (_TIMELINES - 1))] for n in range(_TIMELINES)]
        steps = sorted({s.number: s for s in [*spread[:-1], longest, spread[-1]]}.values(), key=lambda s: s.number)
    return [t for s in steps if (t := timeline_of(s.number, s.pipelines)) is not None]


def _verdict(decision: Decision, case: Case, queues: Queues, ledger: Ledger, lang: Lang) -> Verdict:
    finding = decision.finding
    code = behind(finding, case.checkout) if case.checkout is not None else []
    own = ledger.ids([*finding.cites, *code])
    return Verdict(
        bottleneck=finding.bottleneck,
        cause=finding.cause,
        confidence=finding.confidence,
        summary=finding.summary.to(lang),
        naive=naive_of(queues, case.steps, finding).to(lang),
        evidence=own,
        also=[_other(other, ledger, lang) for other in decision.also],
    )


def _other(finding: Finding, ledger: Ledger, lang: Lang) -> OtherFinding:
    return OtherFinding(
        bottleneck=finding.bottleneck,
        cause=finding.cause,
        summary=finding.summary.to(lang),
        evidence=ledger.ids(finding.cites),
    )


def _step(judged: Judged, last_s: float | None) -> Step:
    step = judged.step
    hangs = judged.main is not None and judged.main.cause == "hang" and not all(p.end_stated for p in step.pipelines)
    return Step(
        step=step.number,
        makespan_s=None if step.makespan_s is None else round(step.makespan_s, 2),
        bounds_s=_bounds(step, last_s if hangs else None),
        trajectories=step.size,
        failed=step.failed,
        bottleneck=judged.main.bottleneck if judged.main else "unknown",
    )


def _bounds(step: StepFacts, silent_until_s: float | None) -> tuple[float, float] | None:
    """Stamps are whole seconds. A step that begins before the input is at least what was seen, at most `gen`.

    A step that hangs has done its work in `makespan_s` and has not returned by the end of the input.
    """
    if step.makespan_s is not None and silent_until_s is not None:
        return round(max(0.0, step.makespan_s - 1.0), 2), round(silent_until_s - step.begin_s, 2)
    if step.makespan_bounds_s is not None:
        return round(step.makespan_bounds_s[0], 2), round(step.makespan_bounds_s[1], 2)
    gen = step.metrics.get("timing_s/gen") if step.metrics else None
    if gen is not None and gen >= step.observed_s:
        return round(step.observed_s, 2), round(gen, 2)
    return None


def _experiments(case: Case, finding: Finding, lang: Lang) -> list[Experiment]:
    """All that are worth trying, without predictions; the one that tests the verdict first."""
    return [
        Experiment.model_validate({"knob": t.knob, "from": t.before, "to": t.after, "how": t.how.to(lang)})
        for t in trials_of(case, finding.bottleneck, finding.cause)
    ]
