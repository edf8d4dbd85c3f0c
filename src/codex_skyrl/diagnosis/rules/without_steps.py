"""Inputs that hold no lifecycle line: what servers or the cluster say alone."""

from codex_skyrl.diagnosis.cluster import pulls_between
from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.diagnosis.finding import Finding, in_log
from codex_skyrl.diagnosis.rules.servers import Reason, kv_cache_full, saturated, uneven_routing
from codex_skyrl.pipeline.server import gpu_mean, server_of
from codex_skyrl.text import Text

_ALONE = 0.85  # a server's word without the pipeline's


def look(case: Case) -> Finding | None:
    """What limits, as far as the other logs tell without a step."""
    times = [t for log in case.run.llm for t in log.times] + [t for g in case.run.gpu for t in g.times]
    begin, end = (min(times), max(times)) if times else (float("-inf"), float("inf"))
    servers = tuple(s for log in case.run.llm if (s := server_of(log, begin, end)) is not None)
    reason = kv_cache_full(servers, case.run.llm) if servers else None
    routing = uneven_routing(servers)
    if routing is not None and (reason is None or not sum(s.retractions for s in servers)):
        reason = routing
    reason = reason or saturated(servers, gpu_mean(case.run.gpu, begin, end), None)
    return _from_servers(reason) if reason is not None else _from_cluster(case)


def _from_servers(reason: Reason) -> Finding:
    summary = Text(
        f"No rollout lines in the input; the server logs show a run-side limit: {reason.clause.en}.",
        f"输入中没有 rollout 日志行；服务端日志显示瓶颈在 run 一侧：{reason.clause.zh}。",
    )
    return Finding("run", reason.cause, _ALONE * reason.sure, summary, reason.cites)


def _from_cluster(case: Case) -> Finding | None:
    pulls = pulls_between(case.run.placed, float("-inf"), float("inf"))
    if not pulls.rate_limited and not pulls.failed:
        return None
    clause = (
        Text(
            f"{pulls.rate_limited} image pulls are refused by the registry's rate limit",
            f"{pulls.rate_limited} 次镜像拉取被仓库限流拒绝",
        )
        if pulls.rate_limited
        else Text(f"{pulls.failed} image pulls fail", f"{pulls.failed} 次镜像拉取失败")
    )
    summary = Text(
        f"No rollout lines in the input; the cluster shows an init-side limit: {clause.en}.",
        f"输入中没有 rollout 日志行；集群事件显示瓶颈在 init 一侧：{clause.zh}。",
    )
    return Finding("init", "image_pull", 0.6, summary, (in_log(clause, pulls.rate_limited_at or pulls.failed_at),))
