"""Which formats there are, in the order in which they are tried. A new log family is added here and nowhere else."""

import re

from codex_skyrl.logs.event import (
    Body,
    ClusterEvent,
    DepthSample,
    Failure,
    GpuSample,
    Lifecycle,
    LlmSample,
    Progress,
    SandboxServer,
    StepMetrics,
)
from codex_skyrl.logs.formats import (
    LineFormat,
    Parsed,
    containers,
    depth,
    generic,
    gpu,
    kubernetes,
    lifecycle,
    sandbox_server,
    sglang,
    skyrl_agent,
    verl,
    vllm,
)

_LINE_FORMATS: tuple[LineFormat, ...] = (lifecycle, sglang, verl, depth, vllm, sandbox_server, skyrl_agent, containers)
Table = gpu.Table | kubernetes.Table

# one of them stands in every line that is understood
HINTS = tuple(sorted({*generic.HINTS, *(hint for module in _LINE_FORMATS for hint in module.HINTS)}))
HINT = re.compile("|".join(map(re.escape, HINTS)))

_FAMILIES: dict[type, str] = {
    Lifecycle: "lifecycle",
    LlmSample: "llm-server",
    GpuSample: "gpu",
    ClusterEvent: "containers",
    SandboxServer: "sandbox-server",
    StepMetrics: "trainer",
    DepthSample: "depth",
    Progress: "progress",
    Failure: "failure",
}


def family_of(body: Body) -> str:
    """The family name under which an event is counted and shown."""
    return _FAMILIES[type(body)]


def parse_line(text: str) -> Parsed | None:
    """The first line format that understands the line."""
    for module in _LINE_FORMATS:
        parsed = module.parse(text)
        if parsed is not None:
            return parsed
    return None


def parse_record(text: str) -> Parsed | None:
    """A record in another logger's dress: a lifecycle message inside it, or else an error or warning."""
    record = generic.unwrap_record(text)
    if record is None:
        return None
    stamp, level, message = record[0], record[1], record[2]
    body = lifecycle.parse_message(message)
    if body is not None:
        return Parsed(body, stamp)
    if level in ("error", "warning"):
        return Parsed(Failure(level, message[:500]), stamp)
    return None


def table_for(head: str) -> Table | None:
    """A reader for a file that is one table from its first line, or None for a file of log lines."""
    if gpu.sniff(head):
        return gpu.Table()
    return kubernetes.Table() if kubernetes.sniff(head) else None
