"""Lines of SkyRL-v0's successor (skyrl-agent): loguru records and prints of its dispatcher and runners.

Its queues are unbounded and its lines state no elapsed times; what a line means is mapped to the same lifecycle kinds.
"""

import re

from codex_skyrl.logs.event import Kind, Lifecycle
from codex_skyrl.logs.formats import Parsed
from codex_skyrl.logs.formats.generic import stamp_of_text

HINTS: tuple[str, ...] = ("Using max_parallel_agents of ", "tasks to complete", "Running cleanup for ", "Successfully ")

_LOGURU = re.compile(r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) \| [A-Z]+ *\| [^|]{0,200}? - (?P<message>.*)")
_ID = r"instance (?P<i>\S+), trajectory (?P<t>\d+)"
_RULES = (
    (Kind.POOL_ANNOUNCED, re.compile(r"Using max_parallel_agents of (?P<v>\d+) for (?P<x>\d+ instances with \d+ trajectories)")),
    (Kind.PHASE_DRAINED, re.compile(r"(?P<x>Initialization|Run) tasks completed\. Waiting for \w+ tasks to complete")),
    (Kind.INIT_FAILED, re.compile(rf"Init failed\. Running cleanup for init agent task for {_ID}")),
    (Kind.RUN_DONE, re.compile(rf"Running cleanup for run agent task for {_ID}")),
    (Kind.EVAL_DONE, re.compile(r"Successfully evaluated instance (?P<i>[^\s,]+)(?:, trajectory (?P<t>\d+))?(?: with reward (?P<x>\S+))?")),
)  # fmt: skip
_PHASES = {"Initialization": "init", "Run": "run"}


def parse(text: str) -> Parsed | None:
    """Understand a dispatcher or runner line, with or without its loguru head."""
    record = _LOGURU.match(text)
    message = record["message"] if record else text
    for kind, pattern in _RULES:
        found = pattern.match(message)
        if found:
            return Parsed(_lifecycle(kind, found.groupdict()), stamp_of_text(record["time"]) if record else None)
    return None


def _lifecycle(kind: Kind, parts: dict[str, str | None]) -> Lifecycle:
    value, trajectory, said = parts.get("v"), parts.get("t"), parts.get("x") or ""
    return Lifecycle(
        kind,
        instance=parts.get("i"),
        trajectory=int(trajectory) if trajectory is not None else None,
        value=float(value) if value is not None else None,
        text=_PHASES.get(said, said),
    )
