"""The trainer's own lines: `step:N - key:value - ...` metrics and tqdm bars."""

import math
import re

from codex_skyrl.logs.event import Progress, StepMetrics
from codex_skyrl.logs.formats import Parsed

HINTS: tuple[str, ...] = ("step:", "it/s]", "s/s]", "s/it]")

_STEP = re.compile(r"step:(\d{1,9}) - (.+)")
_PAIR = re.compile(r"([\w./@-]+):(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$")
_BAR = re.compile(r"(?:(?P<label>[^|]{0,80}?):)?\s*\d+%\|[^|]*\|\s*(?P<done>\d{1,12})/(?P<total>\d{1,12}) \[")


def parse(text: str) -> Parsed | None:
    """Understand a metrics line (source: verl `aggregate_logger.py`) or the last state of a bar."""
    step = _STEP.match(text)
    if step:
        pairs = [_PAIR.match(part) for part in step[2].split(" - ")]
        values = tuple((p[1], float(p[2])) for p in pairs if p and math.isfinite(float(p[2])))
        return Parsed(StepMetrics(int(step[1]), values)) if values else None
    bar = _BAR.match(text)
    if bar:
        return Parsed(Progress((bar["label"] or "").strip(), int(bar["done"]), int(bar["total"])))
    return None
