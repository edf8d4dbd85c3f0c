"""Too little work: the batch ends before the workers are used."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, Finding
from codex_skyrl.diagnosis.rules.cites import occupancy, setting
from codex_skyrl.report.model import STAGES
from codex_skyrl.text import Text

_ROUNDS = 1.3  # trajectories per worker below which most workers serve one item each
_BUSY = 0.6


class SmallBatch:
    """Hardly more trajectories than workers, and no stage is busy for most of the step."""

    def look(self, step: StepFacts, case: Case) -> Finding | None:
        workers = step.stages["run"].workers
        if not workers or step.truncated or not step.finished or step.size > _ROUNDS * workers:
            return None
        if max(step.busy(s) for s in STAGES) >= _BUSY:
            return None
        summary = Text(
            f"Step {step.number} has {step.size} trajectories for {workers} run workers: each worker serves about one, so "
            "every stage in turn is idle while the others work.",
            f"step {step.number} 只有 {step.size} 条轨迹，却有 {workers} 个 run worker：每个 worker 大约只处理一条，"
            "各阶段轮流空闲，无法重叠。",
        )
        count = Cite(
            Text(
                f"step {step.number}: {step.size} trajectories, {workers} run workers",
                f"step {step.number}：{step.size} 条轨迹，{workers} 个 run worker",
            )
        )
        return Finding("supply", "small_batch", 0.8, summary, (count, occupancy(step), *setting(case, "run")))
