"""What LLM server lines show by themselves: a full KV cache, uneven routing, stalls, a server at its limit.

Serves both a step in which run limits and an input that holds nothing but server logs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan

from codex_skyrl.diagnosis.finding import Cite, in_log
from codex_skyrl.diagnosis.rules.cites import pct, secs, server
from codex_skyrl.pipeline.change import change_of
from codex_skyrl.pipeline.run import LlmSeries
from codex_skyrl.pipeline.server import Server
from codex_skyrl.report.model import Cause
from codex_skyrl.text import Text

_FULL_KV = 0.95
_UNEVEN = 3.0
_SLOW_TOKENS = 15.0  # per second and request: slower than people read
_QUEUE_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the servers are slow, with a clause and evidence."""

    cause: Cause
    clause: Text
    cites: tuple[Cite, ...]
    sure: float


def kv_cache_full(servers: Sequence[Server], logs: Sequence[LlmSeries] = ()) -> Reason | None:
    """Requests are pushed out of the KV cache, or it stands full while others queue."""
    retractions = sum(s.retractions for s in servers)
    full = [s for s in servers if (s.usage_max or 0.0) >= _FULL_KV and s.queued >= 0.5]
    if not retractions and not full:
        return None
    if retractions and not full and retractions < 3:
        return None
    worst = max(servers, key=lambda s: (s.retractions, s.usage_mean or 0.0))
    clause = Text(
        f"the LLM server's KV cache is full (up to {pct(worst.usage_max)} used, {retractions} requests pushed out)",
        f"LLM 服务的 KV cache 已满（最高占用 {pct(worst.usage_max)}，{retractions} 个请求被撤回）",
    )
    cites = [
        server(worst),
        in_log(Text("requests are pushed out of the cache here", "请求在这里被撤出缓存"), worst.retraction_at),
    ]
    cites += [c for log in logs if (c := _collapse(log)) is not None]
    return Reason("kv_cache_full", clause, tuple(c for c in cites if c.place), 0.92 if full else 0.75)


def _collapse(log: LlmSeries) -> Cite | None:
    """The moment from which throughput stays down."""
    known = [i for i, rate in enumerate(log.tokens_per_s) if not isnan(rate)]
    change = change_of([log.tokens_per_s[i] for i in known])
    if change is None or change.ratio > 0.5 or change.explained < 0.5:
        return None
    at = known[change.at]
    queues = [log.queued[i] for i in known if not isnan(log.queued[i])]
    moment = datetime.fromtimestamp(log.times[at], UTC).strftime("%H:%M:%S")
    queue = ""
    if len(queues) == len(known):
        before, after = sorted(queues[: change.at]), sorted(queues[change.at :])
        queue = f"{before[len(before) // 2]:.0f} → {after[len(after) // 2]:.0f}"
    says = Text(
        f"from {moment} on throughput stays down: {change.before:,.0f} → {change.after:,.0f} token/s"
        + (f", queue {queue}" if queue else ""),
        f"从 {moment} 起吞吐一直没有恢复：{change.before:,.0f} → {change.after:,.0f} token/s"
        + (f"，排队 {queue}" if queue else ""),
    )
    return in_log(says, (log.source, log.lines[at]))


def uneven_routing(servers: Sequence[Server]) -> Reason | None:
    """One replica works and queues while others idle."""
    if len(servers) < 2:
        return None
    ranked = sorted(servers, key=lambda s: -(s.running + s.queued))
    busiest, rest = ranked[0], ranked[1:]
    others = sum(s.running for s in rest) / len(rest)
    if busiest.running < 4 or busiest.running < _UNEVEN * max(1.0, others):
        return None
    if busiest.queued < 1 and (busiest.usage_max or 0.0) < 0.9:
        return None
    loads = " / ".join(f"{s.running:.0f}" for s in ranked)
    clause = Text(
        f"LLM requests go to one replica: {loads} running, {busiest.queued:.0f} queued on the first, the others idle",
        f"LLM 请求集中在一个副本：各副本运行 {loads}，第一个还排队 {busiest.queued:.0f} 个，其余空闲",
    )
    return Reason("llm_routing", clause, tuple(server(s) for s in ranked[:4]), 0.9)


def saturated(servers: Sequence[Server], gpu_pct: float | None, llm_s: float | None) -> Reason | None:
    """The server decodes all the time and each request crawls, or requests queue for a slot."""
    if not servers:
        return None
    running, queued = sum(s.running for s in servers), sum(s.queued for s in servers)
    speeds = [s.shared_tok_s for s in servers if s.shared_tok_s is not None]
    slow = bool(speeds) and max(speeds) < _SLOW_TOKENS and running >= 2
    queueing = queued >= max(1.0, _QUEUE_SHARE * running)
    if not slow and not queueing:
        return None
    if gpu_pct is not None and gpu_pct < 50:
        return None
    speed = f"{max(speeds):.0f}" if speeds else "?"
    clause = Text(
        f"the LLM server is at its limit: {running:.0f} requests share it at {speed} token/s each, {queued:.1f} queue"
        + (f", a reply takes {secs(llm_s)} s" if llm_s is not None else ""),
        f"LLM 服务已到上限：{running:.0f} 个请求分享，每个 {speed} token/s，排队 {queued:.1f} 个"
        + (f"，一次回复要 {secs(llm_s)} 秒" if llm_s is not None else ""),
    )
    return Reason("llm_saturated", clause, tuple(server(s) for s in servers[:3]), 0.95)
