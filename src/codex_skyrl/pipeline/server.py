"""What the LLM server and the GPUs say during a window of time. Pure functions over their series.

SGLang prints only while it decodes and vLLM only while it has work: no line means idle, not missing data. So means
over time weigh each line by the time until the next one, at most a few typical gaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan

from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.run import GpuSeries, LlmSeries
from codex_skyrl.pipeline.trajectory import Place

_GAPS_COVERED = 2.5  # a line speaks for at most this many typical gaps
_FULL = 0.9
_LEAST_SILENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Server:
    """Load of one replica in a window. Means over time are over the whole window, silence counted as idle.

    `running_busy`: mean over lines. `alone_tok_s` / `shared_tok_s`: decode speed of one request when few and when
    typically many run; their ratio is how much a request slows down for sharing the server.
    """

    replica: str
    source: str
    lines: int
    running: float
    queued: float
    running_busy: float
    running_max: float
    queued_max: float
    active_share: float
    usage_mean: float | None
    usage_max: float | None
    tokens_per_s: float | None
    alone_tok_s: float | None
    shared_tok_s: float | None
    retractions: int
    retraction_at: Place | None
    longest_silence_s: float
    silence_from_s: float | None
    first_line: int
    last_line: int

    @property
    def slowdown(self) -> float | None:
        if not self.alone_tok_s or not self.shared_tok_s:
            return None
        return self.alone_tok_s / self.shared_tok_s


def server_of(log: LlmSeries, begin: float, end: float) -> Server | None:
    """Statistics of one replica between two moments (seconds on the run's axis); None without a line there."""
    picked = [i for i, t in enumerate(log.times) if begin <= t <= end]
    retractions = sum(1 for t in log.retractions if begin <= t <= end)
    if not picked:
        return None
    decode = [i for i in picked if log.decode[i]] or picked
    times = [log.times[i] for i in picked]
    gaps = [b - a for a, b in pairwise(times) if b > a]
    typical = series.quantile(sorted(gaps), 0.25) if gaps else 10.0  # of the times when it works
    most = max(_GAPS_COVERED * typical, 3.0)
    weights = [min(b - a, most) for a, b in zip(times, [*times[1:], end], strict=True)]
    window = max(end - begin, 1e-9)
    running = _weighted(log.running, picked, weights) / window
    queued = _weighted(log.queued, picked, weights) / window
    usage = [log.usage[i] for i in picked if not isnan(log.usage[i])]
    rates = [log.tokens_per_s[i] for i in decode if not isnan(log.tokens_per_s[i])]
    alone, shared = _speeds(log, decode)
    silence, silent_from = _silence(times, begin, end)
    return Server(
        replica=log.replica,
        source=log.source,
        lines=len(picked),
        running=running,
        queued=queued,
        running_busy=_mean_of(log.running, decode),
        running_max=max((log.running[i] for i in picked if not isnan(log.running[i])), default=0.0),
        queued_max=max((log.queued[i] for i in picked if not isnan(log.queued[i])), default=0.0),
        active_share=min(1.0, sum(weights) / window),
        usage_mean=series.mean(usage),
        usage_max=max(usage, default=None),
        tokens_per_s=series.mean(rates),
        alone_tok_s=alone,
        shared_tok_s=shared,
        retractions=retractions,
        retraction_at=log.retraction_at,
        longest_silence_s=silence,
        silence_from_s=silent_from,
        first_line=log.lines[picked[0]],
        last_line=log.lines[picked[-1]],
    )


def gpu_mean(gpus: Sequence[GpuSeries], begin: float, end: float) -> float | None:
    """Mean utilisation in percent over all GPUs between two moments; None without samples."""
    values = [p for g in gpus for t, p in zip(g.times, g.percent, strict=True) if begin <= t <= end]
    return series.mean(values)


def _weighted(values: Sequence[float], picked: list[int], weights: list[float]) -> float:
    return sum(values[i] * w for i, w in zip(picked, weights, strict=True) if not isnan(values[i]))


def _mean_of(values: Sequence[float], picked: list[int]) -> float:
    known = [values[i] for i in picked if not isnan(values[i])]
    return sum(known) / len(known) if known else 0.0


def _speeds(log: LlmSeries, decode: list[int]) -> tuple[float | None, float | None]:
    """Tokens per second of one request: the fastest tenth of lines against the mean weighted by requests."""
    each = [
        (log.tokens_per_s[i] / log.running[i], log.running[i])
        for i in decode
        if log.running[i] >= 1 and not isnan(log.tokens_per_s[i])
    ]
    if len(each) < 10:
        return None, None
    fastest = series.quantile(sorted(speed for speed, _ in each), 0.95)
    requests = sum(n for _, n in each)
    return fastest, sum(speed * n for speed, n in each) / requests


def _silence(times: list[float], begin: float, end: float) -> tuple[float, float | None]:
    longest, since = 0.0, None
    for a, b in zip([begin, *times], [*times, end], strict=True):
        if b - a > longest:
            longest, since = b - a, a
    return (longest, since) if longest >= _LEAST_SILENCE_S else (longest, None)
