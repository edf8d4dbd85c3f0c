"""One trajectory of one step as the log shows it: when each stage took it, served it and let it go.

Times are seconds on the source's axis (`logs.clock`); None where no line says so. Owns the record and how the
ends of stages follow from stated durations; knows nothing about queues or other trajectories.
"""

from dataclasses import dataclass, field

from codex_skyrl.logs.event import When
from codex_skyrl.report.model import Stage

Place = tuple[str, int]  # source, line


@dataclass(slots=True)
class Visit:
    """A trajectory's passage through one stage.

    `ready_s`: may enter the stage's queue (it may still be blocked before a full one). `entered`: when it stood
    inside the queue object (an interval: the line is a print). `taken_s`: a worker took it. `served_s`: the work
    was done; the worker may still hold it while the next queue is full, until `released`.
    """

    ready_s: float | None = None
    entered: When | None = None
    taken_s: float | None = None
    served_s: float | None = None
    released: When | None = None
    failed: bool = False
    error: str = ""
    taken_at: Place | None = None
    served_at: Place | None = None

    @property
    def wait_s(self) -> float | None:
        if self.ready_s is None or self.taken_s is None:
            return None
        return max(0.0, self.taken_s - self.ready_s)

    @property
    def service_s(self) -> float | None:
        if self.taken_s is None or self.served_s is None:
            return None
        return max(0.0, self.served_s - self.taken_s)

    @property
    def blocked_s(self) -> float:
        """How long the worker was held by a full next queue after its work; 0 when unknown."""
        if self.served_s is None or self.released is None:
            return 0.0
        held = min(max(self.released.middle, self.released.earliest), self.released.latest)
        slack = (self.released.latest - self.released.earliest) / 2
        return max(0.0, held - self.served_s) if held - self.served_s > slack else 0.0


@dataclass(slots=True)
class Trajectory:
    """Identity within one pipeline and step: instance id + trajectory number."""

    instance: str
    number: int
    init: Visit = field(default_factory=Visit)
    run: Visit = field(default_factory=Visit)
    eval: Visit = field(default_factory=Visit)
    turns: int = 0
    last_turn_s: float | None = None
    tests_started_s: float | None = None
    tests_s: float | None = None  # seconds until the poll that saw the end
    tests_done_s: float | None = None
    patch: bool = False

    def visit(self, stage: Stage) -> Visit:
        return self.init if stage == "init" else self.run if stage == "run" else self.eval

    @property
    def finished(self) -> bool:
        """Nothing more will happen to it: evaluated, or failed on the way."""
        return self.init.failed or self.run.failed or self.eval.served_s is not None

    @property
    def state(self) -> str:
        """Where the log leaves it: waiting, or in a stage, or done, or failed."""
        if self.init.failed or self.run.failed:
            return "failed"
        if self.eval.served_s is not None:
            return "done"
        for stage in ("eval", "run", "init"):
            if self.visit(stage).taken_s is not None:
                served = self.visit(stage).served_s is not None
                return f"after-{stage}" if served else f"in-{stage}"
        return "waiting"
