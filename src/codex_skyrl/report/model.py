"""The report as data: what `diagnose --format json` prints, and the plain types every room may use.

Field meanings are those of the published schema (`codex-skyrl schema`). Times are seconds, rates per minute,
shares 0..1; `None` means the figure cannot be known from the input, never zero.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Stage = Literal["init", "run", "eval"]
STAGES: tuple[Stage, ...] = ("init", "run", "eval")
COMPUTED = "computed"  # source of a figure that stands in no single line

Bottleneck = Literal["init", "run", "eval", "saturated", "sync", "supply", "straggler", "trainer", "healthy", "unknown"]
Cause = Literal[
    "image_pull", "cache_miss", "container_start", "sandbox_errors",
    "llm_saturated", "kv_cache_full", "llm_routing", "llm_stall", "env_slow", "max_iterations",
    "test_time", "eval_timeout", "eval_poll", "patch_apply",
    "few_workers",
    "thread_cap", "blocked_loop", "llm_wakeup", "barrier", "hang",
    "small_batch", "straggler", "slow_rank", "training_side", "mixed", "none",
]  # fmt: skip

Share = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    """Base of every report type: immutable, no unknown keys, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Tool(Strict):
    name: str = "codex-skyrl"
    version: str


class Input(Strict):
    """One file that was read: `kind` names the log families found, `events` counts understood records."""

    path: str
    kind: str
    bytes: int
    lines: int
    events: int
    problems: list[str] = []


class OtherFinding(Strict):
    bottleneck: Bottleneck
    cause: Cause
    summary: str
    evidence: list[str] = []


class Verdict(Strict):
    """`naive` says what reading the deepest queue would have claimed and why that is right or wrong."""

    bottleneck: Bottleneck
    cause: Cause
    confidence: Share
    summary: str
    naive: str
    evidence: list[str] = []
    also: list[OtherFinding] = []


class Step(Strict):
    """`makespan_s`: from the generate call's start to its last rank's end; `bounds_s` what the log leaves open.

    For a step that hangs: until its last work, and in `bounds_s` how long it had not returned by then.
    """

    step: int
    makespan_s: float | None
    bounds_s: tuple[float, float] | None = None
    trajectories: int
    failed: int
    bottleneck: Bottleneck | None = None


class Queue(Strict):
    """One queue. `stated` when the log prints depths, `reconstructed` when they follow from lifecycle lines.

    `mean_wait_s`: from ready for this queue to taken by a worker. `consumption_per_min`: 0.8 N / (t90 - t10) * 60.
    """

    source: Literal["stated", "reconstructed"] | None = None
    max_depth: int | None = None
    mean_depth: float | None = None
    mean_wait_s: float | None = None
    mean_wait_bounds_s: tuple[float, float] | None = None
    consumption_per_min: float | None = None


class StageFigures(Strict):
    """One stage. `utilisation` = service time / (workers x makespan); blocked and starved on the same base."""

    workers: int | None = None
    utilisation: float | None = None
    blocked: float | None = None
    starved: float | None = None
    service_p50_s: float | None = None
    service_p95_s: float | None = None
    completed: int = 0
    failed: int = 0


class Queues(Strict):
    init: Queue = Queue()
    run: Queue = Queue()
    eval: Queue = Queue()


class Stages(Strict):
    init: StageFigures = StageFigures()
    run: StageFigures = StageFigures()
    eval: StageFigures = StageFigures()


class PipelineFigures(Strict):
    """One rank's three queues within one step."""

    id: str
    step: int
    makespan_s: float | None = None
    queues: Queues
    stages: Stages


class StageSeries(Strict):
    """One whole number a sample for each stage; None where it cannot be known."""

    init: list[int] | None = None
    run: list[int] | None = None
    eval: list[int] | None = None


class Timeline(Strict):
    """One step in samples of `sample_s` seconds: items inside each queue, workers serving, workers held by a full queue."""

    step: int
    sample_s: float
    depth: StageSeries
    serving: StageSeries
    blocked: StageSeries


class MatrixRow(Strict):
    row: str
    matched: bool
    evidence: list[str] = []


class Experiment(Strict):
    """One knob, from -> to; changes in percent of step time, negative is faster."""

    knob: str
    from_: str | float | None = Field(default=None, alias="from")
    to: str | float | None = None
    step_time_change_pct: float | None = None
    low_pct: float | None = None
    high_pct: float | None = None
    next_bottleneck: Bottleneck | None = None
    how: str = ""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


class Evidence(Strict):
    """`quote` is the text at source:line_start..line_end with colours and control bytes removed ("" for metrics)."""

    id: str
    kind: Literal["log", "code", "metric"]
    source: str
    line_start: int | None = None
    line_end: int | None = None
    quote: str = ""
    says: str


class StageCode(Strict):
    """What the checkout's code says of one stage; `evidence` are ids of kind code, in order of lines.

    `workers`: the expression that counts them; `setting`: the key behind it; `per_rank`: its value after division.
    """

    stage: Stage
    workers: str | None = None
    setting: str | None = None
    per_rank: int | None = None
    evidence: list[str] = []


class CheckoutCode(Strict):
    """The rollout pipeline as the checkout's code builds it; `shared` is what all stages of a rank wait for."""

    layout: Literal["skyrl-v0", "skyrl-agent"]
    stages: list[StageCode]
    shared: list[str] = []


class Setting(Strict):
    """One setting of the run where it is written; secrets are taken out of the value."""

    key: str
    value: str
    source: str
    line: int


class Missing(Strict):
    what: str
    how: str


class Citation(Strict):
    """Where the model says its claim stands: an evidence id and the words it quotes from it."""

    evidence: str
    quote: str


class Claim(Strict):
    """One statement of the model. `verified` is ours, never the model's: see `report.verify`."""

    text: str
    citations: list[Citation] = []
    commands: list[str] = []
    verified: bool = False
    problems: list[str] = []


class ModelAnswer(Strict):
    """One of the six answers, as claims."""

    question: int = Field(ge=1, le=6)
    claims: list[Claim]


class ModelExperiment(Strict):
    """The model's experiment; marked as its claims are."""

    knob: str
    from_value: str
    to_value: str
    steps: int = Field(ge=1)
    compare: list[str]
    predicted: str
    verified: bool = False
    problems: list[str] = []


class ModelReport(Strict):
    """What a model answers to `prompts/<lang>/diagnose.md.j2`, after verification.

    `agrees` tells whether the model's verdict is ours; a model never changes the verdict.
    """

    bottleneck: Bottleneck
    cause: Cause
    summary: str
    summary_problems: list[str] = []
    answers: list[ModelAnswer]
    experiment: ModelExperiment | None = None
    agrees: bool | None = None
    model: str = ""
    notes: list[str] = []
    input_tokens: int | None = None
    output_tokens: int | None = None


class Diagnosis(Strict):
    """The whole result; `schema_version` changes when a field changes its meaning or goes away."""

    schema_version: Literal[1] = 1
    tool: Tool
    engine: Literal["offline", "api", "codex"]
    lang: Literal["en", "zh"]
    inputs: list[Input]
    verdict: Verdict
    steps: list[Step]
    queues: Queues
    pipelines: list[PipelineFigures]
    stages: Stages
    timelines: list[Timeline] = []
    matrix: list[MatrixRow]
    experiments: list[Experiment] = []
    evidence: list[Evidence]
    missing: list[Missing] = []
    checkout: CheckoutCode | None = None
    settings: list[Setting] = []
    report: ModelReport | None = None
