"""Judges two runs: better, worse or can't tell; whether the bottleneck moved; the figures side by side."""

from collections.abc import Sequence
from statistics import fmean

from codex_skyrl import __version__
from codex_skyrl.compare.settings import changes
from codex_skyrl.compare.statistics import FEWEST, Ratio, ratio
from codex_skyrl.report import words
from codex_skyrl.report.comparison import (
    BottleneckChange,
    Comparison,
    FigureChange,
    Judgement,
    Moved,
    SettingChange,
    StepTime,
)
from codex_skyrl.report.model import STAGES, Diagnosis, Tool
from codex_skyrl.text import Lang, Text

_EVEN_PCT = 5.0  # an interval that lies within this on both sides is no change
_SURE = 0.5  # confidence below which a verdict decides nothing
_SIZE_DIFFERS = 0.02  # of the trajectories of a step


def compare(before: Diagnosis, after: Diagnosis, names: tuple[str, str], lang: Lang) -> Comparison:
    """Everything but predictions. `names`: how the two runs are called."""
    settings = changes(before, after)
    return Comparison(
        tool=Tool(version=__version__),
        lang=lang,
        before=names[0],
        after=names[1],
        settings=settings,
        warnings=[w.to(lang) for w in _warnings(settings, before, after)],
        step_time=_step_time(before, after, lang),
        bottleneck=_bottleneck(before, after, lang),
        figures=_figures(before, after),
    )


def _warnings(settings: Sequence[SettingChange], before: Diagnosis, after: Diagnosis) -> list[Text]:
    found = []
    if len(settings) > 1:
        keys = ", ".join(s.key for s in settings)
        found.append(
            Text(
                f"{len(settings)} settings differ ({keys}): which of them made the difference cannot be told",
                f"有 {len(settings)} 个设置不同（{keys}）：无法判断是哪一个起的作用",
            )
        )
    if not settings:
        found.append(
            Text(
                "no setting that bears on rollouts differs, or no launch script was read on one side",
                "没有发现影响 rollout 的设置差异，或有一侧没有读到启动脚本",
            )
        )
    if _code(before) != _code(after) and before.checkout is not None and after.checkout is not None:
        found.append(Text("the code of the two checkouts differs in layout", "两侧代码的结构不同"))
    return found


def _code(diagnosis: Diagnosis) -> str | None:
    return diagnosis.checkout.layout if diagnosis.checkout is not None else None


# -- step time ------------------------------------------------------------------------------------------------------
def _step_time(before: Diagnosis, after: Diagnosis, lang: Lang) -> StepTime:
    per_trajectory = _sizes_differ(before, after)
    old, new = (_values(d, per_trajectory=per_trajectory) for d in (before, after))
    found = ratio(old, new)
    judgement, why = _judged(before, after, len(old), len(new), found)
    return StepTime(
        before_s=round(fmean(old), 2) if old else None,
        after_s=round(fmean(new), 2) if new else None,
        steps_before=len(old),
        steps_after=len(new),
        per_trajectory=per_trajectory,
        change_pct=_rounded(found.change_pct) if found else None,
        low_pct=_rounded(found.low_pct) if found else None,
        high_pct=_rounded(found.high_pct) if found else None,
        judgement=judgement,
        why=why.to(lang),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _sizes_differ(before: Diagnosis, after: Diagnosis) -> bool:
    """A step of more trajectories lasts longer: then seconds a trajectory are compared."""
    old, new = ([s.trajectories for s in d.steps if s.makespan_s] for d in (before, after))
    return bool(old and new) and abs(fmean(new) / max(1e-9, fmean(old)) - 1) > _SIZE_DIFFERS


def _values(diagnosis: Diagnosis, *, per_trajectory: bool) -> list[float]:
    """Whole steps only; the last one of a run that hangs has no end."""
    hangs = diagnosis.verdict.cause == "hang"
    whole = [s for s in diagnosis.steps if s.makespan_s and not (hangs and s is diagnosis.steps[-1])]
    return [(s.makespan_s or 0.0) / (max(1, s.trajectories) if per_trajectory else 1) for s in whole]


def _judged(
    before: Diagnosis, after: Diagnosis, steps_before: int, steps_after: int, found: Ratio | None
) -> tuple[Judgement, Text]:  # fmt: skip
    hung = [d.verdict.cause == "hang" for d in (before, after)]
    if hung == [False, True]:
        return "worse", Text("a step of the second run never ended", "第二次运行有一个 step 一直没有结束")
    if hung == [True, False]:
        return "better", Text("the first run hangs, the second does not", "第一次运行卡死，第二次没有")
    low, high = (found.low_pct, found.high_pct) if found is not None else (None, None)
    if low is None or high is None:
        fewest = min(steps_before, steps_after)
        return "cannot_tell", Text(
            f"one side has {fewest} whole step{'' if fewest == 1 else 's'}; run at least {FEWEST} on each, 3 or more are better",
            f"有一侧只有 {fewest} 个完整的 step；每侧至少跑 {FEWEST} 个，3 个以上更好",
        )
    between = f"{low:+.0f} to {high:+.0f} %", f"{low:+.0f} 到 {high:+.0f} %"
    if high < 0:
        return "better", Text(f"the change lies between {between[0]}", f"变化在 {between[1]} 之间")
    if low > 0:
        return "worse", Text(f"the change lies between {between[0]}", f"变化在 {between[1]} 之间")
    if low >= -_EVEN_PCT and high <= _EVEN_PCT:
        return "no_change", Text(f"the change lies between {between[0]}", f"变化在 {between[1]} 之间")
    return "cannot_tell", Text(
        f"the change lies between {between[0]}: steps differ too much among themselves, run more of them",
        f"变化在 {between[1]} 之间：step 之间差异太大，请多跑几个",
    )


# -- the bottleneck -------------------------------------------------------------------------------------------------
def _bottleneck(before: Diagnosis, after: Diagnosis, lang: Lang) -> BottleneckChange:
    moved, why = _moved(before, after)
    old, new = before.verdict, after.verdict
    return BottleneckChange(
        before=old.bottleneck, before_cause=old.cause, after=new.bottleneck, after_cause=new.cause, moved=moved, why=why.to(lang)
    )  # fmt: skip


def _moved(before: Diagnosis, after: Diagnosis) -> tuple[Moved, Text]:
    for d, which in ((before, Text("first", "第一次")), (after, Text("second", "第二次"))):
        if d.verdict.bottleneck == "unknown" or d.verdict.confidence < _SURE:
            return "cannot_tell", Text(
                f"the {which.en} run does not show what limits it", f"{which.zh}运行看不出瓶颈"
            )  # fmt: skip
        judged = [s for s in d.steps if s.makespan_s is not None]
        if len(judged) < FEWEST and d.verdict.cause != "hang":
            return "cannot_tell", Text(
                f"the {which.en} run has {len(judged)} whole step{'' if len(judged) == 1 else 's'}; run at least {FEWEST}",
                f"{which.zh}运行只有 {len(judged)} 个完整的 step；至少跑 {FEWEST} 个",
            )
    old, new = words.BOTTLENECKS[before.verdict.bottleneck], words.BOTTLENECKS[after.verdict.bottleneck]
    if before.verdict.bottleneck != after.verdict.bottleneck:
        return "moved", Text(f"from {old.en} to {new.en}", f"从{old.zh}到{new.zh}")
    causes = [words.CAUSES[d.verdict.cause] for d in (before, after)]
    if causes[0] == causes[1]:
        return "not_moved", Text(f"it is still {old.en}", f"仍是{old.zh}")
    return "not_moved", Text(
        f"it is still {old.en}, but the cause was {causes[0].en} and is {causes[1].en} now",
        f"仍是{old.zh}，但原因由“{causes[0].zh}”变为“{causes[1].zh}”",
    )


# -- figures --------------------------------------------------------------------------------------------------------
def _figures(before: Diagnosis, after: Diagnosis) -> list[FigureChange]:
    found = []
    for stage in STAGES:
        old, new = (getattr(d.queues, stage) for d in (before, after))
        found.append(_figure(f"{stage}_queue mean_wait_s", "s", old.mean_wait_s, new.mean_wait_s))
        found.append(_figure(f"{stage} consumption_per_min", "/min", old.consumption_per_min, new.consumption_per_min))
        shares = [getattr(d.stages, stage) for d in (before, after)]
        found.append(_figure(f"{stage} utilisation", "share", shares[0].utilisation, shares[1].utilisation))
        found.append(_figure(f"{stage} service_p50_s", "s", shares[0].service_p50_s, shares[1].service_p50_s))
    return [f for f in found if f.before is not None or f.after is not None]


def _figure(name: str, unit: str, before: float | None, after: float | None) -> FigureChange:
    change = 100.0 * (after - before) / before if before and after is not None else None
    fields = {"name": name, "unit": unit, "before": before, "after": after, "change_pct": _rounded(change)}
    return FigureChange.model_validate(fields)
