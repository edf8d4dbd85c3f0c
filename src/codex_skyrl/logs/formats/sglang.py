"""SGLang scheduler lines: decode and prefill load, retractions, failed requests.

Source of every form: `managers/scheduler.py` and the log prefix of SGLang 0.4.6.post1; later versions put a comma
after "Decode batch", add `cuda graph: ...` and split token counts. Fields are read by name, so additions do not hurt.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache

from codex_skyrl.logs.event import LlmSample
from codex_skyrl.logs.formats import Parsed, Stamp

HINTS: tuple[str, ...] = ("Decode batch", "Prefill batch", "Retract requests", "Out of memory happened")

_LINE = re.compile(
    r"\[(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d:\d\d)(?:\.\d+)?(?P<replica>(?: [A-Z]{2}\d+)*)\] (?P<message>.*)"
)
_BARE = re.compile(r"(?P<message>(?:Decode batch|Prefill batch|KV cache pool is full)[.,].*)")
_FIELD = re.compile(r"(#[\w-]+|[a-z][a-z ]*(?: \([a-z/]+\))?): (-?\d+(?:\.\d+)?)")
_PHASES = (("Decode batch", "decode"), ("Prefill batch", "prefill"))


def parse(text: str) -> Parsed | None:
    """Understand a load or retraction line; bare messages (no prefix) are taken without a time."""
    line = _LINE.match(text) or _BARE.match(text)
    if line is None:
        return None
    named = line.groupdict()
    body = _body(line["message"], (named.get("replica") or "").strip())
    if body is None:
        return None
    return Parsed(body, _stamp(named["day"], named["time"]) if named.get("day") else None)


def _body(message: str, replica: str) -> LlmSample | None:
    for start, phase in _PHASES:
        if message.startswith(start):
            return _sample(phase, dict(_FIELD.findall(message)), replica)
    if "Retract requests" in message[:80]:
        fields = dict(_FIELD.findall(message))
        return LlmSample("sglang", "retract", retracted=_whole(fields.get("#retracted_reqs")) or 1, replica=replica)
    return None


def _sample(phase: str, fields: dict[str, str], replica: str) -> LlmSample | None:
    running, usage = _whole(fields.get("#running-req")), fields.get("token usage", fields.get("full token usage"))
    rate = fields.get("gen throughput (token/s)")
    if running is None:
        return None
    return LlmSample(
        "sglang",
        phase,
        running=running,
        queued=_whole(fields.get("#queue-req")),
        kv_usage=float(usage) if usage is not None else None,
        tokens_per_s=float(rate) if rate is not None else None,
        replica=replica,
    )


def _whole(number: str | None) -> int | None:
    return None if number is None else int(float(number))


@lru_cache(maxsize=256)  # many lines a second
def _stamp(day: str, time: str) -> Stamp | None:
    try:
        moment = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Stamp(moment.timestamp(), dated=True, resolution=1.0)
