"""Predicts one change: replays every step as it was (the self-check) and with the knob changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.errors import InputError
from codex_skyrl.pipeline.profile import profile_of
from codex_skyrl.report.model import STAGES, Stage
from codex_skyrl.whatif.job import Play, play_of
from codex_skyrl.whatif.knobs import Change, Experiment, change, parse_experiment
from codex_skyrl.whatif.replay import Replayed, replay

SENSIBLE = (
    "eval_workers=x2", "run_workers=x2", "init_workers=x2", "image_cache=all_hit", "llm_capacity=x2", "env_time=half",
    "test_time=half", "eval_poll_s=2", "thread_pool=x4",
)  # fmt: skip
_SELF_CHECK = 0.03


@dataclass(frozen=True, slots=True)
class Prediction:
    """Percent of step time, negative is faster; the interval is meant to hold the truth about nine times in ten."""

    asked: str
    knob: str
    before: str | float | None
    after: str | float | None
    change_pct: float
    low_pct: float
    high_pct: float
    next_bottleneck: Stage
    assumes: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """Seconds observed and replayed, summed over the steps that could be replayed."""

    observed_s: float
    replayed_s: float

    @property
    def off(self) -> float:
        """How far the replay of what happened is off, as a share."""
        return abs(self.replayed_s - self.observed_s) / self.observed_s

    @property
    def trusted(self) -> bool:
        return self.off <= _SELF_CHECK


def predict(case: Case, asked: Sequence[str]) -> tuple[Baseline, list[Prediction]]:
    """The self-check and one prediction for each experiment, in the order asked (without any: the sensible ones, best first).

    Raises:
        InputError: when an experiment is not understood, or no step is whole enough to be replayed.
    """
    experiments = [parse_experiment(text) for text in (asked or SENSIBLE)]
    steps = [plays for s in case.steps if (plays := _plays(s)) is not None]
    if not steps:
        raise InputError("no whole step with known workers is in the input, so nothing can be replayed.")
    base = [[replay(p.jobs, p.structure) for p in plays] for plays in steps]
    observed = sum(max(p.observed_s for p in plays) for plays in steps)
    baseline = Baseline(observed, _total(base))
    found = [_predicted(steps, baseline, e) for e in experiments]
    return baseline, found if asked else sorted(found, key=lambda p: p.change_pct)


def _plays(step: StepFacts) -> list[Play] | None:
    plays = [
        play_of(p, profile_of(p.record, p.makespan_s), step.servers if len(step.pipelines) == 1 else ())
        for p in step.pipelines
    ]
    whole = [p for p in plays if p is not None]
    return whole if len(whole) == len(plays) and whole else None


def _total(steps: Sequence[Sequence[Replayed]]) -> float:
    """Each step lasts as long as its slowest rank."""
    return sum(max(r.makespan_s for r in ranks) for ranks in steps)


def _predicted(steps: Sequence[Sequence[Play]], baseline: Baseline, experiment: Experiment) -> Prediction:
    changes: list[list[Change]] = [[change(p, experiment) for p in plays] for plays in steps]
    replays = [[replay(c.play.jobs, c.play.structure) for c in ranks] for ranks in changes]
    percent = 100.0 * (_total(replays) - baseline.replayed_s) / baseline.replayed_s
    first = changes[0][0]
    slack = 1.5 + first.guess + 0.1 * abs(percent) + 100.0 * baseline.off
    return Prediction(
        experiment.asked,
        experiment.knob,
        first.before,
        first.after,
        round(percent, 1),
        round(percent - slack, 1),
        round(percent + slack, 1),
        _busiest(changes, replays),
        first.assumes,
    )


def _busiest(changes: Sequence[Sequence[Change]], replays: Sequence[Sequence[Replayed]]) -> Stage:
    """The stage whose workers would be busiest."""
    use = dict.fromkeys(STAGES, 0.0)
    for ranks, played in zip(changes, replays, strict=True):
        for c, r in zip(ranks, played, strict=True):
            for stage in STAGES:
                use[stage] += r.busy[stage] / getattr(c.play.structure, stage)
    return max(STAGES, key=lambda s: use[s])
