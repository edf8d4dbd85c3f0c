"""Where a knob of the replay is turned in reality: a setting with its place, a line of code, or something outside SkyRL."""

from collections.abc import Iterable

from codex_skyrl.checkout.facts import Checkout, CodeFact, Kind
from codex_skyrl.checkout.launch import Knob, Knobs
from codex_skyrl.report.model import Stage
from codex_skyrl.text import Text

_PLACES_SHOWN = 3
_ROLLOUT = "actor_rollout_ref.rollout."
_SETTINGS = {
    "agents": "max_parallel_agents",
    "eval_workers": "max_eval_parallel_agents",
    "max_iterations": "max_iterations",
    "batch": "train_batch_size",
}
_CODE: dict[str, tuple[tuple[Kind, ...], Stage | None, Text]] = {
    "queue_size": (("queue_made",), None, Text("the bound of the queues in the code", "代码里队列的上限")),
    "thread_pool": (("executor",), None, Text("a larger default executor for the event loop", "给事件循环设置更大的默认执行器")),
    "llm_executor_threads": (("executor",), "run", Text("the size of the pool that LLM calls go through", "LLM 调用所用线程池的大小")),
    "eval_poll_s": (("poll", "holds_thread"), "eval", Text("the evaluator's poll", "评测的轮询间隔")),
    "eval_timeout_s": (("timeout",), "eval", Text("the evaluator's time limit", "评测的时间上限")),
    "async_stop": (("blocks_loop",), None, Text("stop sandboxes in a thread instead of on the event loop", "在线程中停止沙箱，不占事件循环")),
    "turn_barrier": (("barrier", "generation"), "run", Text("the point where a turn waits for all agents", "每轮等待所有 agent 的地方")),
    "llm_wakeup_s": (("generation",), None, Text("await the engine from its own event loop", "在引擎自己的事件循环里等待回复")),
}  # fmt: skip
_OUTSIDE = {
    "image_cache": Text("pull the batch's images on every node before the step, or use a mirror", "在 step 前把镜像预拉到各节点，或使用镜像代理"),
    "llm_capacity": Text("another replica of the LLM server, or a quicker one", "增加 LLM 服务副本，或换更快的"),
    "llm_slots": Text("the server's limit of requests at once (SGLang --max-running-requests, vLLM --max-num-seqs)", "服务端同时处理的请求上限（SGLang --max-running-requests，vLLM --max-num-seqs）"),
    "env_time": Text("quicker sandboxes: CPU, disk, fewer of them on a node", "更快的沙箱：CPU、磁盘、单节点更少的沙箱"),
    "test_time": Text("quicker test suites, or only the tests that count", "更快的测试，或只跑需要的测试"),
    "sandbox_errors": Text("mend what makes sandbox starts fail", "修好导致沙箱启动失败的问题"),
}  # fmt: skip


def how_of(knob: str, used: Knobs, checkout: Checkout | None) -> Text:
    """What to change, with file:line where it is known."""
    if knob in _SETTINGS:
        return _setting(_SETTINGS[knob], used, checkout)
    if knob in ("init_workers", "run_workers"):
        return _one_stage("init" if knob == "init_workers" else "run", used, checkout)
    if knob in _OUTSIDE:
        return _OUTSIDE[knob]
    kinds, stage, what = _CODE[knob]
    facts = (
        [f for f in checkout.of(*kinds) if stage is None or f.stage in (stage, None)] if checkout is not None else []
    )
    places = _places((f.source, f.line) for f in _telling(facts, knob))
    return Text(f"code: {what.en}{places}", f"代码：{what.zh}{places}")


def _telling(facts: list[CodeFact], knob: str) -> list[CodeFact]:
    """Of the queues those with a bound."""
    return [f for f in facts if f.detail] if knob == "queue_size" else facts


def _one_stage(stage: Stage, used: Knobs, checkout: Checkout | None) -> Text:
    """v0 has one setting for both stages; one alone takes a change of code."""
    setting = _setting("max_parallel_agents", used, checkout)
    places = _places((w.source, w.line) for w in (checkout.workers if checkout else ()) if w.stage == stage)
    return Text(
        f"code: how many {stage} workers are started{places}; the setting {setting.en} changes init, run and both queues together",
        f"代码：启动的 {stage} worker 数{places}；设置项 {setting.zh} 会同时改变 init、run 和两个队列",
    )


def _setting(name: str, used: Knobs, checkout: Checkout | None) -> Text:
    found = _written(name, used.found) or _written(name, checkout.defaults.found if checkout is not None else ())
    key = found.key if found is not None else (f"data.{name}" if name == "train_batch_size" else _ROLLOUT + name)
    place = f" ({found.source}:{found.line})" if found is not None else ""
    return Text(key + place, key + place)


def _written(name: str, knobs: Iterable[Knob]) -> Knob | None:
    """The setting of that name where it was written last, validation settings aside."""
    own = [k for k in knobs if k.name == name and ".val_kwargs." not in k.key]
    return own[-1] if own else None


def _places(places: Iterable[tuple[str, int]]) -> str:
    named = list(dict.fromkeys(f"{source}:{line}" for source, line in places))
    more = f", +{len(named) - _PLACES_SHOWN}" if len(named) > _PLACES_SHOWN else ""
    return f" ({', '.join(named[:_PLACES_SHOWN])}{more})" if named else ""
