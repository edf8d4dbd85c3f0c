"""Steps in which training, not the rollout, takes the time."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding, in_log
from codex_skyrl.diagnosis.rules.cites import pct, secs
from codex_skyrl.text import Text

_ROLLOUT_SHARE = 0.45
_NAMES = ("timing_s/gen", "timing_s/step")
_NOT_PARTS = (*_NAMES, "timing_s/gen_max")


class TrainingSide:
    """The metrics line says that `gen` is less than half of `step`."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        if step.metrics is None:
            return None
        gen, whole = (step.metrics.get(name) for name in _NAMES)
        if not gen or not whole or gen / whole >= _ROLLOUT_SHARE:
            return None
        parts = [(v, k) for k, v in step.metrics.values if k.startswith("timing_s/") and k not in _NOT_PARTS]
        seconds, name = max(parts, default=(0.0, "timing_s/step"))
        name = name.removeprefix("timing_s/")
        summary = Text(
            f"Step {step.number} spends {pct(gen / whole)} of its {secs(whole)} s in the rollout; the longest other part is "
            f"{name} ({secs(seconds)} s).",
            f"step {step.number} 共 {secs(whole)} 秒，rollout 只占 {pct(gen / whole)}；其余部分中最长的是 {name}（{secs(seconds)} 秒）。",
        )
        says = Text(
            f"timing_s/gen {secs(gen)} s of timing_s/step {secs(whole)} s",
            f"timing_s/gen 为 {secs(gen)} 秒，timing_s/step 为 {secs(whole)} 秒",
        )
        cite = in_log(says, step.metrics_at) if step.metrics_at else Cite(says)
        return Finding("trainer", "training_side", 0.9, summary, (cite,))
