"""From the findings of each step to one verdict for the input: what costs the most time, and since when.

Weighs steps by their observed time; a healthy stretch before or after does not hide a problem.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules import findings_of, without_steps
from codex_skyrl.diagnosis.rules.cites import secs
from codex_skyrl.logs.event import Failure
from codex_skyrl.pipeline.run import Placed
from codex_skyrl.report.model import STAGES, Bottleneck, Cause
from codex_skyrl.text import Text

_RARE = 0.15  # of the time: a problem below this share does not outweigh healthy steps
_URGENT = {"hang"}
_ERRORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A step with everything concluded about it."""

    step: StepFacts
    findings: tuple[Finding, ...]

    @property
    def main(self) -> Finding | None:
        return self.findings[0] if self.findings else None


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict before it is put into the report's words."""

    finding: Finding
    also: tuple[Finding, ...]
    judged: tuple[Judged, ...]


def decide(case: Case) -> Decision:
    """Judge every step, then the input."""
    judged = tuple(Judged(step, findings_of(step, case)) for step in case.steps)
    decided = [j for j in judged if j.main is not None]
    if not decided:
        alone = without_steps.look(case) if not case.steps else None
        return Decision(alone or _unknown(case), (), judged)
    chosen = _heaviest(decided)
    main = max(chosen, key=lambda j: (j.step.observed_s, j.step.number)).main
    assert main is not None
    total = sum(j.step.observed_s for j in decided)
    share = sum(j.step.observed_s for j in chosen) / total
    finding = Finding(
        main.bottleneck,
        main.cause,
        round(min(0.97, main.confidence * (0.85 + 0.15 * share)), 2),
        _summary(main, chosen, judged),
        (*main.cites, *_change(chosen, judged)),
    )
    return Decision(finding, _also(finding, chosen, decided), judged)


def _heaviest(decided: Sequence[Judged]) -> list[Judged]:
    """The steps that share the verdict: those of the problem that costs the most time, healthy only if none does."""
    weights: dict[tuple[Bottleneck, Cause], float] = {}
    for j in decided:
        if j.main is not None:
            key = (j.main.bottleneck, j.main.cause)
            weights[key] = weights.get(key, 0.0) + j.step.observed_s * j.main.confidence
    total = sum(weights.values())
    problems = {k: w for k, w in weights.items() if k[0] != "healthy" and w >= _RARE * total} or weights
    urgent = [k for k in weights if k[1] in _URGENT]
    stages: dict[Bottleneck, float] = {}
    for (name, _), weight in problems.items():
        stages[name] = stages.get(name, 0.0) + weight
    heaviest = max(stages, key=lambda name: stages[name])
    chosen = urgent[0] if urgent else max((k for k in problems if k[0] == heaviest), key=lambda k: problems[k])
    return [j for j in decided if j.main is not None and (j.main.bottleneck, j.main.cause) == chosen]


def _summary(main: Finding, chosen: Sequence[Judged], judged: Sequence[Judged]) -> Text:
    """The finding's sentence, and in how many steps it holds."""
    if len(judged) < 2:
        return main.summary
    numbers = [j.step.number for j in chosen]
    every = len(chosen) == len(judged)
    since = not every and [j.step.number for j in judged[-len(chosen) :]] == numbers
    if every:
        where = Text(
            f"{'Both' if len(judged) == 2 else f'All {len(judged)}'} steps agree. ",
            f"全部 {len(judged)} 个 step 结论一致。",
        )
    elif since:
        where = Text(f"From step {numbers[0]} on. ", f"从 step {numbers[0]} 起。")
    else:
        listed = ", ".join(map(str, numbers))
        where = Text(
            f"In {len(chosen)} of {len(judged)} steps ({listed}). ",
            f"共 {len(judged)} 个 step，其中 {len(chosen)} 个（{listed}）如此。",
        )
    change = _change(chosen, judged)
    if not change:
        return Text(where.en + main.summary.en, where.zh + main.summary.zh)
    says = change[0].says
    return Text(
        f"{where.en}{main.summary.en} {says.en[0].upper()}{says.en[1:]}.", f"{where.zh}{main.summary.zh}{says.zh}。"
    )


def _change(chosen: Sequence[Judged], judged: Sequence[Judged]) -> list[Cite]:
    """What changed between the last other step before the verdict's first step and that step."""
    first = chosen[0].step
    before = [j.step for j in judged if j.step.number < first.number]
    if not before or before[-1].makespan_s is None or first.makespan_s is None:
        return []
    last = before[-1]
    old, new = last.parts.sandboxes.boot_p50_s, first.parts.sandboxes.boot_p50_s
    en = f"between step {last.number} and {first.number} the step grew from {secs(last.makespan_s)} to {secs(first.makespan_s)} s"
    zh = f"从 step {last.number} 到 step {first.number}，step 时长由 {secs(last.makespan_s)} 秒变为 {secs(first.makespan_s)} 秒"
    if chosen[0].main and chosen[0].main.bottleneck == "init" and old and new:
        en += f" and the median sandbox start from {secs(old)} to {secs(new)} s"
        zh += f"，沙箱启动的中位数由 {secs(old)} 秒变为 {secs(new)} 秒"
    if first.pulls.pulled or last.pulls.pulled:
        en += f"; image pulls went from {last.pulls.pulled} to {first.pulls.pulled}"
        zh += f"；镜像拉取由 {last.pulls.pulled} 次变为 {first.pulls.pulled} 次"
    return [Cite(Text(en, zh))]


def _also(finding: Finding, chosen: Sequence[Judged], decided: Sequence[Judged]) -> tuple[Finding, ...]:
    """Other findings, those of the verdict's own steps first; one for each bottleneck and cause.

    A stage that looks busy because of what the verdict names (a barrier, a tail, ...) is a symptom, not a finding.
    """
    others: dict[tuple[str, str], Finding] = {}
    for j in [*chosen, *decided]:
        for other in j.findings:
            key = (other.bottleneck, other.cause)
            symptom = j in chosen and finding.bottleneck not in STAGES and other.bottleneck in STAGES
            if key != (finding.bottleneck, finding.cause) and other.bottleneck != "healthy" and not symptom:
                others.setdefault(key, other)
    return tuple(others.values())[:4]


def _unknown(case: Case) -> Finding:
    if not case.steps:
        reason = Text(
            "The input holds no line of the rollout pipeline, so no stage can be named.",
            "输入中没有 rollout 流水线的日志行，无法指出任何阶段。",
        )
    else:
        reason = Text(
            "The input shows too little of a step, or no stage that is busy for most of it; nothing can be named.",
            "输入只覆盖了 step 的很小一部分，或没有任何阶段大部分时间在忙，无法下结论。",
        )
    return Finding("unknown", "none", 0.3, reason, tuple(_frequent_errors(case)))


def _frequent_errors(case: Case) -> list[Cite]:
    """The errors that come most often: all that can be pointed at when nothing can be concluded."""
    groups: dict[str, list[Placed]] = {}
    for placed in case.run.bodies(Failure):
        if isinstance(placed.body, Failure) and placed.body.level == "error":
            groups.setdefault(re.sub(r"[\da-f]*\d[\da-f]*", "#", placed.body.text[:120]), []).append(placed)
    most = sorted(groups.values(), key=len, reverse=True)[:_ERRORS_SHOWN]
    return [
        in_log(
            Text(f"an error that comes {len(g)} times (first here)", f"出现 {len(g)} 次的错误（首次在此）"), g[0].place
        )
        for g in most
    ]
