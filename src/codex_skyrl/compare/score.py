"""Finds the prediction that belongs to what was changed, and scores it by what was observed."""

from collections.abc import Callable, Sequence
from statistics import median

from codex_skyrl.report.comparison import Comparison, RunningScore, Scored, SettingChange
from codex_skyrl.whatif.kept import Foretold, Outcome

# settings -> knobs of the replay that mean the same
_REPLAYED = {
    "max_parallel_agents": ("agents",),
    "max_eval_parallel_agents": ("eval_workers",),
    "max_iterations": ("max_iterations",),
    "train_batch_size": ("batch",),
    "init_workers": ("init_workers",),
    "run_workers": ("run_workers",),
    "eval_workers": ("eval_workers",),
}


def experiments_of(settings: Sequence[SettingChange]) -> list[str]:
    """The names under which a prediction of this one change may have been made; none when not just one setting differs."""
    if len(settings) != 1:
        return []
    [change] = settings
    names = [f"{change.key}={change.after}"]
    old, new = _number(change.before), _number(change.after)
    for knob in _REPLAYED.get(change.key.rpartition(".")[2], ()):
        if new is not None:
            names.append(f"{knob}={new:g}")
        if old and new is not None:
            names += [f"{knob}=x{new / old:g}", *([f"{knob}=half"] if new / old == 0.5 else [])]
    return names


def scored(
    comparison: Comparison,
    names: Sequence[str],
    kept: Sequence[Foretold],
    predict_now: Callable[[str], Foretold | None],
) -> Scored | None:
    """The kept prediction of the same experiment, the newest first; else one made now; None where there is none.

    `predict_now` gives None for what no replay knows.
    """
    observed = comparison.step_time.change_pct
    if observed is None:
        return None
    found = next((f for f in reversed(kept) if f.experiment in names), None)
    made = found or next((f for name in names if (f := predict_now(name)) is not None), None)
    if made is None:
        return None
    return Scored(
        experiment=made.experiment,
        predicted_pct=made.change_pct,
        low_pct=made.low_pct,
        high_pct=made.high_pct,
        observed_pct=observed,
        inside=made.low_pct <= observed <= made.high_pct,
        kept_at=(found.at or None) if found is not None else None,
    )


def running(outcomes: Sequence[Outcome]) -> RunningScore | None:
    """Of all outcomes; None when there are none."""
    if not outcomes:
        return None
    errors = [abs(o.observed_pct - o.change_pct) for o in outcomes]
    return RunningScore(
        count=len(outcomes), inside=sum(o.inside for o in outcomes), median_error_points=round(median(errors), 1)
    )


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
