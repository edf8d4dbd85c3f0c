"""One minimal experiment for each cause: one knob, from -> to, and where it is set. Predictions are made elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass

from codex_skyrl.checkout.launch import Knob
from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.report.model import Bottleneck, Cause
from codex_skyrl.text import Text

_ROLLOUT = "actor_rollout_ref.rollout."


@dataclass(frozen=True, slots=True)
class Trial:
    """What to change; `knob` is a configuration key or names what no key of SkyRL-v0 sets. `replay`: the same for the replay."""

    knob: str
    before: str | float | None
    after: str | float | None
    how: Text
    replay: str | None = None


def trials_of(case: Case, bottleneck: Bottleneck, cause: Cause) -> list[Trial]:
    """The experiment that tests the verdict, then settings worth a replay; nothing where there is nothing to fix.

    A setting is proposed only where it exists: in the launch script, in the checkout, or in the release.
    """
    if bottleneck == "run" and cause == "few_workers":
        own: Trial | None = _MORE_AGENTS(case)
    else:
        make = _TRIALS.get(cause)
        own = make(case) if make is not None else None
    if own is None or cause == "hang":
        return [own] if own is not None else []
    others = [t for make in _SETTINGS if (t := make(case)).knob != own.knob and t.before is not None]
    return [own, *others]


def _setting(name: str, change: Callable[[int], int], advice: Text) -> Callable[[Case], Trial]:
    def make(case: Case) -> Trial:
        key, knob = _written(case, name)
        now = _now(case, name, knob)
        most = case.steps[-1].parts.turns.per_trajectory_max if case.steps and name == "max_iterations" else 0
        base = now or most or None
        after = change(base) if base is not None else None
        return Trial(key, now, after, _with_place(advice, knob), _replay_of(name, base, after))

    return make


def _written(case: Case, name: str) -> tuple[str, Knob | None]:
    """The setting's key in this checkout (as released, where none is at hand), and where the run sets it."""
    known = sorted((k for k in (case.checkout.settings if case.checkout else ()) if _short(k) == name), key=len)
    key = known[0] if known else _ROLLOUT + name
    return key, case.knobs.get(key)


def _now(case: Case, name: str, knob: Knob | None) -> int | None:
    """The value of a setting: as written, else as the run shows it."""
    if knob is not None and knob.number and knob.number > 0:
        return knob.number
    if not case.steps:
        return None
    last = case.steps[-1]
    seen = {
        "max_parallel_agents": last.stages["run"].workers if last.workers_known else None,
        "max_eval_parallel_agents": last.stages["eval"].workers,
        "max_iterations": last.parts.turns.cap,
    }
    return seen.get(name)


def _short(key: str) -> str:
    return key.rpartition(".")[2]


def _with_place(advice: Text, knob: Knob | None) -> Text:
    place = f" ({knob.source}:{knob.line})" if knob is not None else ""
    return Text(advice.en + place, advice.zh + place)


def _replay_of(name: str, now: int | None, after: int | None) -> str | None:
    """A setting counts all ranks, the replay one: so workers change by a factor. How starts or a cache react to fewer
    agents no replay knows."""
    if now is None or after is None:
        return None
    if name == "max_iterations":
        return f"max_iterations={after}"
    return f"agents=x{after / now:g}" if after > now else None


def _fixed(knob: str, before: str, after: str, how: Text, replay: str | None = None) -> Callable[[Case], Trial]:
    """What no setting of SkyRL-v0 does: a change of code, of the cluster or of the server."""
    said = Text(f"no setting does this: {how.en}", f"没有对应的设置项：{how.zh}")
    return lambda case: Trial(knob, before, after, said, replay)


def _eval_workers(case: Case) -> Trial:
    key, knob = _written(case, "max_eval_parallel_agents")
    now = _now(case, "max_eval_parallel_agents", knob)
    advice = Text("double the eval workers, nothing else", "只把 eval worker 加倍，其余不动")
    return Trial(key, now, 2 * now if now else None, _with_place(advice, knob), "eval_workers=x2")


_PREPULL = _fixed(
    "image_cache",
    "as it is",
    "all_hit",
    Text(
        "pull this batch's images on every node before the step (or through a pull-through mirror), change nothing else",
        "在 step 之前把本 batch 的镜像预拉到每个节点（或走镜像代理），其余不动",
    ),
    "image_cache=all_hit",
)

_MORE_AGENTS = _setting(
    "max_parallel_agents",
    lambda n: 2 * n,
    Text(
        "double the agents: the model is mostly idle while environments work (watch the sandboxes' nodes)",
        "把 agent 数加倍：环境在忙时模型大多空闲（注意沙箱节点的负载）",
    ),
)

_TRIALS: dict[Cause, Callable[[Case], Trial]] = {
    "image_pull": _PREPULL,
    "cache_miss": _PREPULL,
    "container_start": _setting(
        "max_parallel_agents",
        lambda n: max(1, n // 2),
        Text(
            "halve the parallel starts to see whether each start gets quicker (the container runtime is overloaded)",
            "把并行启动数减半，看单次启动是否变快（容器运行时过载）",
        ),
    ),
    "sandbox_errors": _setting(
        "max_parallel_agents",
        lambda n: max(1, n // 2),
        Text(
            "halve the parallel starts and compare the error rate; mend the server's error before anything else",
            "把并行启动数减半并比较错误率；先修好服务端的报错",
        ),
    ),
    "llm_saturated": _fixed(
        "llm_capacity",
        "as it is",
        "x2",
        Text(
            "give the LLM server twice the throughput (another replica, or fewer tokens per turn); more agents will not help",
            "把 LLM 服务吞吐加倍（加副本，或减少每轮 token）；增加 agent 没有用",
        ),
        "llm_capacity=x2",
    ),
    "kv_cache_full": _setting(
        "max_parallel_agents",
        lambda n: max(1, n * 3 // 4),
        Text("run fewer agents at once so that the cache holds them all", "减少同时运行的 agent，使 KV cache 装得下"),
    ),
    "llm_routing": _fixed(
        "llm_routing",
        "as it is",
        "least loaded",
        Text(
            "spread requests over the replicas (random among the least loaded)",
            "把请求分散到各副本（在最空闲者中随机）",
        ),
    ),
    "env_slow": _MORE_AGENTS,
    "max_iterations": _setting(
        "max_iterations",
        lambda n: max(1, n * 3 // 4),
        Text(
            "lower the cap on turns by a quarter and compare rewards as well as time",
            "把轮数上限降低四分之一，同时比较奖励和时间",
        ),
    ),
    "few_workers": _eval_workers,
    "test_time": _eval_workers,
    "eval_timeout": _fixed(
        "eval_timeout_s",
        "as it is",
        "half",
        Text(
            "halve the evaluation's time limit; failing cases then end sooner", "把评测超时减半，失败的用例会更早结束"
        ),
    ),
    "eval_poll": _fixed(
        "eval_poll_s",
        "30",
        "2",
        Text("look for the end of the tests every 2 s instead of 30 s", "把测试结果轮询间隔从 30 秒改为 2 秒"),
        "eval_poll_s=2",
    ),
    "thread_cap": _fixed(
        "thread_pool",
        "32",
        "128",
        Text("give the event loop a default executor of 128 threads", "给事件循环设置 128 线程的默认执行器"),
        "thread_pool=x4",
    ),
    "blocked_loop": _fixed(
        "async_stop",
        "off",
        "on",
        Text("stop sandboxes in a thread instead of on the event loop", "在线程中停止沙箱，不在事件循环上阻塞"),
        "async_stop=on",
    ),
    "barrier": _fixed(
        "turn_barrier",
        "on",
        "off",
        Text(
            "let each agent start its next turn when its own environment is done", "每个 agent 的环境一完成就开始下一轮"
        ),
        "turn_barrier=off",
    ),
    "llm_wakeup": _fixed(
        "llm_wakeup_s",
        "4",
        "0",
        Text(
            "wake the waiter when the reply is there (call the engine from its own event loop)",
            "回复到达时立即唤醒等待方（在引擎自己的事件循环里调用）",
        ),
        "llm_wakeup_s=0",
    ),
    "hang": _fixed(
        "sandbox_errors",
        "as they are",
        "off",
        Text("mend the failing starts; the hang goes with them", "修复启动失败，卡死随之消失"),
    ),
    "small_batch": _setting(
        "max_parallel_agents",
        lambda n: max(1, n // 2),
        Text("halve the agents, or double data.train_batch_size", "把 agent 数减半，或把 data.train_batch_size 加倍"),
    ),
    "straggler": _setting(
        "max_iterations",
        lambda n: max(1, n * 3 // 4),
        Text("lower the cap on turns by a quarter: only the tail gets shorter", "把轮数上限降低四分之一：只有长尾变短"),
    ),
}

# settings of the launch script that a replay can judge, whatever the cause
_SETTINGS = (
    _setting(
        "max_parallel_agents",
        lambda n: 2 * n,
        Text(
            "double the agents, nothing else: init and run workers and both queue bounds follow this setting",
            "只把 agent 数加倍：init、run 的 worker 数和两个队列的上限都由它决定",
        ),
    ),
    _eval_workers,
)
