"""One knob, changed: `eval_workers=x2`, `image_cache=all_hit`, `eval_poll_s=2` ... becomes a changed play.

Each change says what it assumes. What a log does not tell (when between two polls a test really ended) is taken at its
mean and makes the interval wider.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, log

from codex_skyrl.errors import InputError
from codex_skyrl.pipeline import series
from codex_skyrl.text import Text
from codex_skyrl.whatif.job import POOL_THREADS, Job, Play
from codex_skyrl.whatif.replay import polled

_SEEN_LATE = Text(
    "a test ends some way into the poll at whose end it is seen", "测试在被看到的那次轮询之前某个时刻就已结束"
)
_NOT_A_LIMIT = Text("this knob does not limit here", "这里不受它限制")
_NOTHING_ELSE = Text("nothing else changes", "其余不变")
_MOSTLY_FIRST = 0.9


@dataclass(frozen=True, slots=True)
class Change:
    """`before` and `after` of the knob; `assumes` in words; `guess`: points by which what is not logged may be off."""

    play: Play
    before: str | float | None
    after: str | float | None
    assumes: Text
    guess: float = 0.0


@dataclass(frozen=True, slots=True)
class Experiment:
    """`asked` exactly as given."""

    asked: str
    knob: str
    value: str

    def number(self, now: float) -> float:
        """The new value: absolute, xN, half."""
        if self.value == "half":
            return now / 2
        try:
            return now * float(self.value[1:]) if self.value.startswith("x") else float(self.value)
        except ValueError:
            raise InputError("is no value for this knob.", where=self.asked, fix="Use a number, x2 or half.") from None


def parse_experiment(text: str) -> Experiment:
    """`KNOB=VALUE`.

    Raises:
        InputError: when the form or the knob is not known.
    """
    knob, equals, value = text.partition("=")
    if not equals or knob not in KNOBS:
        raise InputError("is no experiment.", where=text, fix=f"KNOB=VALUE with KNOB one of: {', '.join(KNOBS)}")
    return Experiment(text, knob, value.strip())


def change(play: Play, experiment: Experiment) -> Change:
    """The play with this knob changed."""
    return KNOBS[experiment.knob](play, experiment)


def _workers(stage: str) -> Callable[[Play, Experiment], Change]:
    def apply(play: Play, e: Experiment) -> Change:
        now = getattr(play.structure, stage)
        new = max(1, round(e.number(now)))
        if stage == "run" and new > now and play.model is not None and play.model.saturated:
            return Change(
                play,
                now,
                new,
                Text(
                    "the server is at its limit: more agents only wait for it longer",
                    "服务已到上限：更多 agent 只会等得更久",
                ),
                4.0,
            )
        changed = replace(play, structure=replace(play.structure, **{stage: new}))
        guess = 6.0 if stage == "init" and play.pulls and new > now else 0.0  # the nodes may pull at their limit
        if stage == "run" and play.model is not None and new > now:
            if play.model.barrier:
                changed, guess = _longest_of_more(changed, now, new), 10.0
            else:
                guess = 8.0 if play.model.served is None else 2.5  # calls may slow down under more of them
        return Change(
            changed,
            now,
            new,
            Text(f"only the number of {stage} workers changes", f"只改 {stage} 的 worker 数"),
            guess,
        )

    return apply


def _agents(play: Play, e: Experiment) -> Change:
    """`max_parallel_agents` as v0 uses it: init workers, run workers and both bounds together."""
    now = play.structure.run
    new = max(1, round(e.number(now)))
    bound = play.structure.bound if play.structure.bound == inf else new
    wider = replace(play, structure=replace(play.structure, init=new, bound=bound))
    changed = KNOBS["run_workers"](wider, e)
    more_starts = 6.0 if play.pulls and new > now else 0.0
    return replace(
        changed,
        guess=changed.guess + more_starts,
        assumes=Text("init and run workers and both queue bounds change", "init、run 的 worker 数和两个队列上限一起变"),
    )


def _threads(play: Play, e: Experiment) -> Change:
    now = play.structure.threads
    new = max(1, round(e.number(now)))
    if play.pulls and new > now:
        return Change(
            play,
            now,
            new,
            Text(
                "nodes pull images at their limit: more starts at once only last longer",
                "节点拉取镜像已到上限：同时启动更多只会更慢",
            ),
            2.0,
        )
    return Change(replace(play, structure=replace(play.structure, threads=new)), now, new, _NOTHING_ELSE)


def _structure(name: str) -> Callable[[Play, Experiment], Change]:
    def apply(play: Play, e: Experiment) -> Change:
        now = getattr(play.structure, name)
        new = max(1, round(e.number(now)))
        return Change(replace(play, structure=replace(play.structure, **{name: new})), now, new, _NOTHING_ELSE)

    return apply


def _jobs(play: Play, edit: Callable[[Job], Job]) -> Play:
    return replace(play, jobs=tuple(edit(j) for j in play.jobs))


def _longest_of_more(play: Play, now: int, new: int) -> Play:
    """Behind a barrier a turn lasts as long as the slowest agent's: with more agents the longest grows (as harmonic numbers)."""
    factor = sum(1 / n for n in range(1, new + 1)) / sum(1 / n for n in range(1, now + 1))
    return _jobs(play, lambda j: replace(j, model_s=j.model_s * factor, environment_s=j.environment_s * factor))


def _llm_capacity(play: Play, e: Experiment) -> Change:
    factor = e.number(1.0)
    model = play.model
    if model is None or not model.saturated:
        return Change(
            play,
            1.0,
            factor,
            Text("the server is not at its limit: calls do not get quicker", "服务未到上限：调用不会更快"),
            3.0,
        )
    calls = model.open_calls
    share = sum(j.model_s for j in play.jobs) / max(1e-9, sum(j.run_s for j in play.jobs))
    speed = 1.0
    for _ in range(20):  # fewer calls are open when they end sooner
        open_now = calls * (share * speed / (share * speed + 1 - share)) / share
        speed = max(1.0, model.slowdown * open_now / calls / factor) / model.slowdown
    return Change(
        _jobs(play, lambda j: replace(j, model_s=j.model_s * speed)),
        1.0,
        factor,
        Text("decode throughput scales", "解码吞吐按比例变化"),
        3.0,
    )


def _environment(play: Play, e: Experiment) -> Change:
    factor, model = e.number(1.0), play.model
    assumes = Text("commands take this part of their time", "命令耗时变为这个比例")
    if model is not None and model.barrier:
        share = model.served_share

        def one(j: Job) -> Job:
            waiting = j.model_s * (1 - share)
            return replace(j, model_s=j.model_s * share + waiting * factor, environment_s=j.environment_s * factor)

        return Change(
            _jobs(play, one),
            1.0,
            factor,
            Text(
                f"{assumes.en}, and so does waiting for others' commands", f"{assumes.zh}，等待他人命令的时间同样变化"
            ),
            4.0,
        )
    if model is not None and model.saturated:
        kept = _jobs(
            play,
            lambda j: replace(j, environment_s=j.environment_s * factor, model_s=j.run_s - j.environment_s * factor),
        )
        return Change(
            kept,
            1.0,
            factor,
            Text("the server is at its limit: agents only wait for it longer", "服务已到上限：agent 只会等它更久"),
            2.0,
        )
    return Change(_jobs(play, lambda j: replace(j, environment_s=j.environment_s * factor)), 1.0, factor, assumes, 1.5)


def _tests(play: Play, e: Experiment) -> Change:
    factor = e.number(1.0)
    changed = _jobs(_true_tests(play), lambda j: replace(j, tests_s=j.tests_s * factor))
    return Change(changed, 1.0, factor, _SEEN_LATE, 3.0)


def _poll(play: Play, e: Experiment) -> Change:
    now = play.structure.poll_s
    new = max(0.1, e.number(now))
    changed = replace(_true_tests(play), structure=replace(play.structure, poll_s=new))
    return Change(changed, now, new, _SEEN_LATE, 4.0)


def _true_tests(play: Play) -> Play:
    """Tests at the time they really took: some way into the poll at whose end they were seen."""
    poll = play.structure.poll_s
    inside = _inside_poll([j.tests_s for j in play.jobs if j.tests_s > 0], poll)
    return _jobs(
        play, lambda j: replace(j, tests_s=max(0.2, polled(j.tests_s, poll) - poll + inside) if j.tests_s else 0.0)
    )


def _inside_poll(seen: list[float], poll_s: float) -> float:
    """Mean seconds into the poll: half of it, but less where nearly all tests are seen at the first look (then they are
    short; an exponential with that share below one poll tells how short)."""
    first = sum(1 for t in seen if t <= 1.2 * poll_s) / len(seen) if seen else 0.0
    if first < _MOSTLY_FIRST:
        return poll_s / 2
    share = min(first, 1 - 0.5 / len(seen))
    return -poll_s / log(1 - share) - poll_s * (1 - share) / share


def _timeout(play: Play, e: Experiment) -> Change:
    longest = max((j.tests_s + j.prepare_s for j in play.jobs), default=0.0)
    limit = e.number(longest)
    return Change(
        _jobs(play, lambda j: replace(j, tests_s=min(j.tests_s, limit))),
        None,
        limit,
        Text("tests stop at the limit", "测试到时限即停止"),
    )


def _cache(play: Play, e: Experiment) -> Change:
    if not play.pulls:
        return Change(
            play,
            "as it is",
            "all_hit",
            Text("all sandboxes start alike: no image is pulled", "沙箱启动时间相近：没有拉取镜像"),
            1.0,
        )
    quick, second = (
        _quick([getattr(j, name) for j in play.jobs if not j.init_failed]) for name in ("init_s", "prepare_s")
    )
    changed = _jobs(play, lambda j: replace(j, init_s=min(j.init_s, quick), prepare_s=min(j.prepare_s, second)))
    return Change(
        changed,
        "as it is",
        "all_hit",
        Text("every start is as quick as the quickest ones now", "每次启动都和现在最快的一样快"),
        2.0,
    )


def _quick(times: list[float]) -> float:
    """Mean of the starts that are not much slower than the quickest."""
    ordered = sorted(times)
    if not ordered:
        return float("inf")
    near = [x for x in ordered if x <= 2.5 * series.quantile(ordered, 0.05)]
    return sum(near) / len(near)


def _iterations(play: Play, e: Experiment) -> Change:
    cap = max(1, round(e.number(max((j.turns for j in play.jobs), default=1))))

    def cut(j: Job) -> Job:
        part = min(1.0, cap / j.turns) if j.turns else 1.0
        return replace(j, model_s=j.model_s * part, environment_s=j.environment_s * part)

    return Change(
        _jobs(play, cut),
        None,
        cap,
        Text("a trajectory that is cut off is evaluated as before", "被截断的轨迹照常评测"),
        1.0,
    )


def _server_time(play: Play, e: Experiment) -> Change:
    """Calls last as long as the server really works on them."""
    model = play.model
    if model is None or model.served is None or model.open_calls <= 0:
        return Change(
            play,
            None,
            e.value,
            Text("no server log: its own time is not known", "没有服务日志，不知道服务自身的耗时"),
            20.0,
        )
    part = model.served_share
    return Change(
        _jobs(play, lambda j: replace(j, model_s=j.model_s * part)),
        None,
        e.value,
        Text("a call ends when the server is done", "服务处理完调用即结束"),
        4.0,
    )


def _barrier(play: Play, e: Experiment) -> Change:
    changed = _server_time(play, e)
    return replace(changed, guess=changed.guess + 6.0)


def _stop(play: Play, e: Experiment) -> Change:
    stop = play.stop_s
    changed = _jobs(
        play, lambda j: replace(j, environment_s=max(0.0, j.environment_s - stop), after_s=max(0.0, j.after_s - stop))
    )
    return Change(changed, "off", "on", Text("a stop no longer holds its worker", "停止沙箱不再占住 worker"), 1.0)


def _errors(play: Play, e: Experiment) -> Change:
    good = [j for j in play.jobs if not j.init_failed]
    if not good:
        return Change(play, None, "off", Text("no trajectory to learn from", "没有可参照的轨迹"), 20.0)
    jobs = tuple(good[n % len(good)] if j.init_failed else j for n, j in enumerate(play.jobs))
    return Change(
        replace(play, jobs=jobs),
        "as they are",
        "off",
        Text("failed items would take as long as others", "失败的任务会和其他任务一样长"),
        5.0,
    )


def _batch(play: Play, e: Experiment) -> Change:
    size = max(1, round(e.number(len(play.jobs))))
    jobs = tuple(play.jobs[n % len(play.jobs)] for n in range(size))
    return Change(
        replace(play, jobs=jobs),
        len(play.jobs),
        size,
        Text("more of the same work; compare seconds per trajectory", "同类任务更多；请比较每条轨迹的秒数"),
        3.0,
    )


def _llm_threads(play: Play, e: Experiment) -> Change:
    """The pool that LLM calls go through limits only when nearly all its threads are in use."""
    near = play.model is not None and play.model.open_calls >= 0.9 * POOL_THREADS
    return Change(play, POOL_THREADS, e.value, _NOT_A_LIMIT, 20.0 if near else 1.0)


def _none(play: Play, e: Experiment) -> Change:
    return Change(play, None, e.value, _NOT_A_LIMIT, 1.0)


KNOBS: dict[str, Callable[[Play, Experiment], Change]] = {
    "init_workers": _workers("init"),
    "run_workers": _workers("run"),
    "eval_workers": _workers("eval"),
    "agents": _agents,
    "queue_size": _structure("bound"),
    "thread_pool": _threads,
    "llm_capacity": _llm_capacity,
    "llm_slots": _none,
    "llm_executor_threads": _llm_threads,
    "llm_wakeup_s": _server_time,
    "turn_barrier": _barrier,
    "env_time": _environment,
    "test_time": _tests,
    "eval_poll_s": _poll,
    "eval_timeout_s": _timeout,
    "image_cache": _cache,
    "max_iterations": _iterations,
    "async_stop": _stop,
    "sandbox_errors": _errors,
    "batch": _batch,
}
