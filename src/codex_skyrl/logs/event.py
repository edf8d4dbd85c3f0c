"""What the log room hands on: typed events, each with its place (source:line) and a time interval.

Nothing here knows how a line looks or what an event means for the pipeline.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

_FIRST_YEAR_S = 366 * 86400.0  # an axis without a date counts from 1970-01-01


class Kind(StrEnum):
    """A lifecycle line of the rollout pipeline, named for what it marks (see docs of SkyRL-v0 `codeact.py`)."""

    GENERATE_STARTED = "generate_started"  # a rank enters generate_sequences; value: rank
    GENERATE_FINISHED = "generate_finished"  # value: rank
    BATCH_ANNOUNCED = "batch_announced"  # "Total instances: n"; value: instances of this rank
    BATCH_TRIMMED = "batch_trimmed"  # "batch of size n"; value: trajectories of this rank
    EVAL_WORKERS = "eval_workers"  # value: eval workers of this rank
    REMAINING_TASKS = "remaining_tasks"  # "Waiting for n (init: a, run: b, eval: c)"; value: n
    STEP_TIMED_OUT = "step_timed_out"  # "Timeout reached: n tasks did not finish": the call gives up; value: n
    WEIGHTS_RESUMED = "weights_resumed"  # weight synchronisation before generate
    INIT_STARTED = "init_started"  # an init worker took the item
    INIT_WORK_DONE = "init_work_done"  # the true end of init work (no trajectory number)
    INIT_DONE = "init_done"  # item is inside run_queue; value: printed seconds (includes back-pressure)
    INIT_WORK_FAILED = "init_work_failed"  # the first of the two failure lines (no trajectory number)
    INIT_FAILED = "init_failed"
    RUN_STARTED = "run_started"
    TURN_STARTED = "turn_started"  # value: turn number, from 1
    REPLY_PARSED = "reply_parsed"  # "Take action": the LLM answer of some turn is there (no id)
    TURN_ERROR = "turn_error"
    MAX_ITERATIONS = "max_iterations"  # value: the cap
    STUCK_IN_LOOP = "stuck_in_loop"
    COMPLETION_STARTED = "completion_started"  # git diff in the container begins (no id)
    COMPLETION_DONE = "completion_done"
    PATCH_PRINTED = "patch_printed"
    RUN_DONE = "run_done"  # item is inside eval_queue; value: seconds of run work (excludes back-pressure)
    RUN_FAILED = "run_failed"  # item skips eval
    RUN_ERROR = "run_error"  # still goes to eval
    EVAL_STARTED = "eval_started"
    EVAL_PATCH_APPLIED = "eval_patch_applied"
    EVAL_TESTS_STARTED = "eval_tests_started"
    EVAL_POLLED = "eval_polled"  # value: seconds since tests began
    EVAL_TESTS_DONE = "eval_tests_done"  # value: seconds until the poll that saw the end
    EVAL_GRADED = "eval_graded"
    EVAL_FAILED = "eval_failed"
    EVAL_DONE = "eval_done"  # value: printed seconds
    SANDBOX_REQUESTED = "sandbox_requested"  # "Using instance container image"; text: image; value: code line
    SANDBOX_CONNECTING = "sandbox_connecting"  # a pool thread began: "Building remote runtime"
    SANDBOX_BUILD = "sandbox_build"  # a true image build began
    SANDBOX_STARTED = "sandbox_started"  # /start answered
    SANDBOX_WAITING = "sandbox_waiting"  # polling /alive
    SANDBOX_READY = "sandbox_ready"
    SANDBOX_RETRY = "sandbox_retry"  # /alive failed, retried
    SANDBOX_ERROR = "sandbox_error"
    INIT_SCRIPT_STARTED = "init_script_started"
    INIT_SCRIPT_DONE = "init_script_done"
    PHASE_DRAINED = "phase_drained"  # skyrl-agent: a queue was joined; text: init | run | eval
    POOL_ANNOUNCED = "pool_announced"  # skyrl-agent: "Using max_parallel_agents of M for N instances"


class When(NamedTuple):
    """A closed interval of local wall-clock seconds since 1970-01-01 (naive: no time zone applied).

    `earliest == -inf` or `latest == inf` where a neighbour that would bound it is missing. A source that never
    states a date counts its days from 1970-01-01 until another source dates it (`logs.clock`).
    """

    earliest: float
    latest: float

    @property
    def middle(self) -> float:
        """The midpoint; the finite end when the other is infinite."""
        lo, hi = self
        if lo == float("-inf"):
            return hi
        return lo if hi == float("inf") else (lo + hi) / 2


def moment_text(moment: float) -> str | None:
    """A moment for people: with its date when the axis is the calendar, else the time of day; None when it is open."""
    if abs(moment) == float("inf"):
        return None
    stamp = datetime.fromtimestamp(moment, UTC)
    return stamp.strftime("%Y-%m-%dT%H:%M:%S" if moment > _FIRST_YEAR_S else "%H:%M:%S")


class Lifecycle(NamedTuple):
    """A line of the three-stage pipeline. Fields that the line does not carry are None."""

    kind: Kind
    instance: str | None = None
    trajectory: int | None = None
    value: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class LlmSample:
    """One line of the LLM server about its own load. Rates in tokens per second, usage as a share 0..1."""

    server: str  # "sglang" | "vllm"
    phase: str  # "decode" | "prefill" | "stats" | "retract" | "request_error"
    running: int | None = None
    queued: int | None = None
    kv_usage: float | None = None
    tokens_per_s: float | None = None
    retracted: int | None = None
    replica: str = ""  # e.g. "TP0", "DP1 TP0", "Engine 000"


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One row of nvidia-smi: utilisation in percent (share of time with any kernel running), memory in MiB."""

    index: int
    utilisation_pct: float | None
    memory_mib: float | None


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A Kubernetes event or container-runtime line.

    `seconds` is what a pull took by itself, `waiting_seconds` the same including the node's own queue.
    `count` is how often Kubernetes says it happened (aggregated events are not new errors each time).
    """

    reason: str  # Kubernetes reason: Pulling, Pulled, BackOff, Failed, FailedScheduling, ...
    object: str = ""
    node: str = ""
    image: str = ""
    cached: bool | None = None  # for Pulled: True when already present on the machine
    seconds: float | None = None
    waiting_seconds: float | None = None
    count: int = 1
    warning: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class SandboxServer:
    """A request line of the sandbox (runtime) server."""

    request: str  # e.g. "POST /start"
    status: int | None = None
    seconds: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """The trainer's `step:N - key:value - ...` line; `timing_s/*` values are seconds."""

    step: int
    values: tuple[tuple[str, float], ...]

    def get(self, key: str) -> float | None:
        return next((v for k, v in self.values if k == key), None)


@dataclass(frozen=True, slots=True)
class DepthSample:
    """Queue depths that users print themselves; None for a queue the line does not name."""

    init: int | None = None
    run: int | None = None
    eval: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The last state of a tqdm bar on its line."""

    label: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a traceback, or an error or warning record of any log style.

    `level` is "error" or "warning"; `caused_by` is the earlier exception of a chained traceback.
    """

    level: str
    text: str
    caused_by: str = ""
    traceback: bool = False


Body = Lifecycle | LlmSample | GpuSample | ClusterEvent | SandboxServer | StepMetrics | DepthSample | Progress | Failure


class Event(NamedTuple):
    """One understood line (or record).

    `line` is 1-based in the source as stored on disk (after decompression), `process` tells interleaved writers
    apart (`pid=7@10.0.0.8`, or "" when the source has one writer). `times` is how many identical happenings the
    line stands for (Ray's `[repeated Nx across cluster]`, the shown one included); ids of the others are lost.
    """

    source: str
    line: int
    process: str
    when: When
    body: Body
    times: int = 1
