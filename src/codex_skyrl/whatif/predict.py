"""Predicts one change: replays every step as it was (the self-check) and with the knob changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import stdev

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.errors import InputError
from codex_skyrl.pipeline.figures import Pipeline
from codex_skyrl.pipeline.profile import profile_of
from codex_skyrl.pipeline.server import Server
from codex_skyrl.report.model import STAGES, Stage
from codex_skyrl.text import Text
from codex_skyrl.whatif.calibrate import calibrated
from codex_skyrl.whatif.job import Play, play_of
from codex_skyrl.whatif.knobs import Change, Experiment, change, parse_experiment
from codex_skyrl.whatif.replay import Replayed, replay

SENSIBLE = (
    "eval_workers=x2", "run_workers=x2", "init_workers=x2", "image_cache=all_hit", "llm_capacity=x2", "env_time=half",
    "test_time=half", "eval_poll_s=2", "thread_pool=x4",
)  # fmt: skip
_SELF_CHECK = 0.03
_SAMPLES = 8
_STEPS = 6


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
    assumes: Text


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
    bounded = case.checkout is None or case.checkout.layout != "skyrl-agent"
    whole = [s for s in case.steps if all(p.makespan_s is not None for p in s.pipelines)]
    steps = [plays for s in _spread(whole) if (plays := _plays(s, bounded=bounded)) is not None]
    if not steps:
        raise InputError("no whole step with known workers is in the input, so nothing can be replayed.")
    base = _replayed(steps)
    observed = sum(max(p.observed_s for p in plays) for plays in steps)
    baseline = Baseline(observed, _total(base))
    samples = [_Sample(drawn, _total(_replayed(drawn))) for drawn in (_drawn(steps, seed) for seed in range(_SAMPLES))]
    found = [_predicted(steps, baseline, samples, e) for e in experiments]
    return baseline, found if asked else sorted(found, key=lambda p: p.change_pct)


def foretell(case: Case, asked: Sequence[str]) -> list[Prediction]:
    """`predict`, but nothing where no step can be replayed or the self-check fails."""
    try:
        baseline, found = predict(case, asked)
    except InputError:
        return []
    return found if baseline.trusted else []


@dataclass(frozen=True, slots=True)
class _Sample:
    """The steps with trajectories drawn anew from their own, and how long these steps last in all."""

    steps: "Steps"
    total_s: float


Steps = Sequence[Sequence[Play]]


def _spread(steps: Sequence[StepFacts]) -> Sequence[StepFacts]:
    """At most `_STEPS` of them, spread evenly: a replay of each costs time."""
    if len(steps) <= _STEPS:
        return steps
    return [steps[round(n * (len(steps) - 1) / (_STEPS - 1))] for n in range(_STEPS)]


def _plays(step: StepFacts, *, bounded: bool) -> list[Play] | None:
    servers = step.servers if len(step.pipelines) == 1 else ()
    plays = [_play(p, servers, bounded=bounded) for p in step.pipelines]
    whole = [p for p in plays if p is not None]
    return whole if len(whole) == len(plays) and whole else None


def _play(pipeline: Pipeline, servers: tuple[Server, ...], *, bounded: bool) -> Play | None:
    profile = profile_of(pipeline.record, pipeline.makespan_s)
    printed_s = profile.sandboxes.thread_wait_s or 0.0
    return calibrated(lambda wait_s: play_of(pipeline, profile, servers, wait_s, bounded=bounded), printed_s)


def _drawn(steps: Steps, seed: int) -> Steps:
    """As many trajectories of each rank, drawn with replacement, in their order."""
    source = Random(seed)

    def draw(play: Play) -> Play:
        picks = sorted(source.choices(range(len(play.jobs)), k=len(play.jobs)))
        return replace(play, jobs=tuple(replace(play.jobs[n]) for n in picks))

    return [[draw(play) for play in plays] for plays in steps]


def _replayed(steps: Steps) -> list[list[Replayed]]:
    return [[replay(p.jobs, p.structure) for p in plays] for plays in steps]


def _total(steps: Sequence[Sequence[Replayed]]) -> float:
    """Each step lasts as long as its slowest rank."""
    return sum(max(r.makespan_s for r in ranks) for ranks in steps)


def _predicted(steps: Steps, baseline: Baseline, samples: Sequence[_Sample], experiment: Experiment) -> Prediction:
    """The change with every item's luck in the queues as it was, and with none losing its turn; taken in the middle."""
    changes = [[change(p, experiment) for p in plays] for plays in steps]
    changed = [[c.play for c in ranks] for ranks in changes]
    replays = _replayed(changed)
    as_it_was = _percent(_total(replays), baseline.replayed_s)
    in_turn = _percent(_total(_replayed([[_in_turn(p) for p in plays] for plays in changed])), baseline.replayed_s)
    percent = (as_it_was + in_turn) / 2
    first = changes[0][0]
    half = _half_width(samples, experiment) + abs(as_it_was - in_turn) / 2 + first.guess + 100.0 * baseline.off
    return Prediction(
        experiment.asked,
        experiment.knob,
        first.before,
        first.after,
        round(percent, 1),
        round(percent - half, 1),
        round(percent + half, 1),
        _busiest(changes, replays),
        _assumed(steps, changes).assumes,
    )


def _assumed(steps: Steps, changes: Sequence[Sequence[Change]]) -> Change:
    """The first change that changes something, as that is what the prediction rests on."""
    pairs = [(p, c) for plays, ranks in zip(steps, changes, strict=True) for p, c in zip(plays, ranks, strict=True)]
    return next((c for p, c in pairs if c.play != p), pairs[0][1])


def _half_width(samples: Sequence[_Sample], experiment: Experiment) -> float:
    """Points that hold nine of ten of what other trajectories of the same kind would show (normal, both sides)."""
    seen = [
        _percent(_total(_replayed([[change(p, experiment).play for p in plays] for plays in s.steps])), s.total_s)
        for s in samples
    ]
    return 1.645 * stdev(seen)


def _in_turn(play: Play) -> Play:
    return replace(play, jobs=tuple(replace(j, init_loses_turn=False, run_loses_turn=False) for j in play.jobs))


def _percent(after: float, before: float) -> float:
    return 100.0 * (after - before) / before


def _busiest(changes: Sequence[Sequence[Change]], replays: Sequence[Sequence[Replayed]]) -> Stage:
    """The stage whose workers would be busiest."""
    use = dict.fromkeys(STAGES, 0.0)
    for ranks, played in zip(changes, replays, strict=True):
        for c, r in zip(ranks, played, strict=True):
            for stage in STAGES:
                use[stage] += r.busy[stage] / getattr(c.play.structure, stage)
    return max(STAGES, key=lambda s: use[s])
