"""vLLM engine load lines of V1 (`loggers.py`) and V0 (`metrics.py`), and preemption warnings.

Fields are read by name, so parts that come and go between versions (prefix cache, preemptions) do not hurt. Stamps
name month and day but no year: only their time of day is used.
"""

import re

from codex_skyrl.logs.event import LlmSample
from codex_skyrl.logs.formats import Parsed, Stamp

HINTS: tuple[str, ...] = (" throughput: ", "preempted by ")

_HEAD = re.compile(
    r"(?:[A-Z]+ \d\d-\d\d (\d\d):(\d\d):(\d\d) )?(?:\[[\w./]+\.py:\d+\] )?(?:\[[\w./]+:\d+\] )?(?:(Engine \d+): )?"
)
_FIELD = re.compile(r"([A-Z][A-Za-z ]+?): (\d+(?:\.\d+)?)( tokens/s| reqs|%)?")


def parse(text: str) -> Parsed | None:
    """Understand one line of engine statistics, or a preemption."""
    head = _HEAD.match(text)
    assert head is not None  # every part of the head is optional
    message = text[head.end() :]
    if message.startswith(("Avg prompt throughput: ", "Avg generation throughput: ")):
        body = _stats({name: value for name, value, _ in _FIELD.findall(message)}, head[4] or "")
    elif message.startswith("Sequence group ") and "preempted by " in message:
        body = LlmSample("vllm", "retract", retracted=1, replica=head[4] or "")
    else:
        return None
    return Parsed(body, _stamp(head)) if body is not None else None


def _stats(fields: dict[str, str], replica: str) -> LlmSample | None:
    if "Running" not in fields:
        return None
    waiting = [int(float(fields[name])) for name in ("Waiting", "Pending", "Swapped") if name in fields]
    usage, preempted = fields.get("GPU KV cache usage"), fields.get("Preemptions")
    return LlmSample(
        "vllm",
        "stats",
        running=int(float(fields["Running"])),
        queued=sum(waiting) if waiting else None,
        kv_usage=float(usage) / 100 if usage is not None else None,
        tokens_per_s=float(fields["Avg generation throughput"]) if "Avg generation throughput" in fields else None,
        retracted=int(float(preempted)) if preempted is not None else None,
        replica=replica,
    )


def _stamp(head: re.Match[str]) -> Stamp | None:
    if head[1] is None or int(head[1]) > 23:
        return None
    return Stamp(int(head[1]) * 3600.0 + int(head[2]) * 60 + int(head[3]), dated=False, resolution=1.0)
