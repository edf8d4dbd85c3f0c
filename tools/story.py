"""A small rollout with known answers: three stages with bounded queues, played out and written as a SkyRL-v0 log.

`play` moves items through init, run and eval exactly as the pipeline does (pre-filled init_queue, run_queue and
eval_queue bounded by the number of agents, a worker held while the next queue is full) and records every moment;
`write_log` renders the lines a run would print. Times are seconds after `START`.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

START = 12 * 3600
GAP_S = 100.0  # between two steps


@dataclass(slots=True)
class Item:
    """One trajectory: how long each part takes, and (filled in by `play`) when things happened."""

    instance: str
    number: int
    init_s: float = 20.0
    turns: tuple[tuple[float, float], ...] = ((3.0, 2.0),) * 8  # (model, environment) seconds of each turn
    sandbox_s: float = 10.0
    tests_s: float = 30.0
    init_error: str | None = None
    eval_error: str | None = None
    moments: dict[str, float] = field(default_factory=dict)

    def requests(self) -> Iterator[tuple[float, float]]:
        """(begin, end) of each call of the model, once the item was played."""
        now = self.moments.get("run_taken")
        for model, environment in self.turns:
            if now is None:
                return
            yield now, now + model
            now += model + environment

    @property
    def run_s(self) -> float:
        return sum(a + b for a, b in self.turns) + 2.0

    @property
    def eval_s(self) -> float:
        return self.sandbox_s + self.tests_s


@dataclass(frozen=True, slots=True)
class Story:
    """A played step."""

    items: tuple[Item, ...]
    agents: int
    evaluators: int
    end_s: float

    def mean_wait(self, stage: str) -> float:
        """Mean seconds from ready to taken, the true value."""
        taken = [i for i in self.items if f"{stage}_taken" in i.moments]
        return sum(i.moments[f"{stage}_taken"] - i.moments.get(f"{stage}_ready", 0.0) for i in taken) / len(taken)


def batch(
    instances: int, trajectories: int, make: Callable[[int], dict[str, object]] | None = None, *, jitter: float = 0.4
) -> list[Item]:
    """Items in the pipeline's order: all instances of trajectory 0 first. `jitter`: spread of turns, so that agents differ."""
    chance = Random(7)
    items = []
    for number in range(trajectories):
        for index in range(instances):
            more = make(len(items)) if make else {}
            item = Item(f"repo__project-{100 + index}", number, **more)  # type: ignore[arg-type]
            factors = [
                (chance.uniform(1 - jitter, 1 + jitter), chance.uniform(1 - jitter, 1 + jitter)) for _ in item.turns
            ]
            item.turns = tuple((a * f, b * g) for (a, b), (f, g) in zip(item.turns, factors, strict=True))
            items.append(item)
    return items


def play(items: Iterable[Item], agents: int, evaluators: int) -> Story:
    """Run the step to its end."""
    items = tuple(items)
    waiting = deque(items)
    queues: dict[str, deque[Item]] = {"run": deque(), "eval": deque()}
    blocked: dict[str, deque[Item]] = {"run": deque(), "eval": deque()}
    idle = {"init": agents, "run": agents, "eval": evaluators}
    heap: list[tuple[float, int, str, Item]] = []
    order = count()

    def take(stage: str, item: Item, now: float, seconds: float) -> None:
        idle[stage] -= 1
        item.moments[f"{stage}_taken"] = now
        heapq.heappush(heap, (now + seconds, next(order), stage, item))

    def put(before: str, stage: str, item: Item, now: float) -> None:
        if len(queues[stage]) < agents:
            queues[stage].append(item)
            item.moments[f"{before}_released"] = now
            idle[before] += 1
        else:
            blocked[stage].append(item)

    def settle(now: float) -> None:
        moved = True
        while moved:
            moved = False
            while idle["init"] and waiting:
                item = waiting.popleft()
                take("init", item, now, item.init_s)
            for before, stage in (("init", "run"), ("run", "eval")):
                while idle[stage] and queues[stage]:
                    item = queues[stage].popleft()
                    take(stage, item, now, item.run_s if stage == "run" else item.eval_s)
                    moved = True
                if blocked[stage] and len(queues[stage]) < agents:
                    put(before, stage, blocked[stage].popleft(), now)
                    moved = True

    now = 0.0
    settle(now)
    while heap:
        now, _, stage, item = heapq.heappop(heap)
        item.moments[f"{stage}_served"] = now
        if stage == "eval" or (stage == "init" and item.init_error is not None):
            idle[stage] += 1
            item.moments[f"{stage}_released"] = now
        else:
            following = "run" if stage == "init" else "eval"
            item.moments[f"{following}_ready"] = now
            put(stage, following, item, now)
        settle(now)
    return Story(items, agents, evaluators, now)


def write_log(path: Path, *stories: Story, prefix: str = "", end_line: bool = True, extra: Iterable[str] = ()) -> Path:
    """Write the steps one after the other, see `log_lines`."""
    path.write_text(
        "\n".join([*log_lines(*stories, prefix=prefix, end_line=end_line), *extra]) + "\n", encoding="utf-8"
    )
    return path


def log_lines(*stories: Story, prefix: str = "", end_line: bool = True) -> Iterator[str]:
    """The steps' lines, `GAP_S` apart. `prefix` stands before every line (say, Ray's)."""
    for _, line in timed_lines(*stories, end_line=end_line):
        yield f"{prefix}{line}"


def timed_lines(*stories: Story, end_line: bool = True, later: int = 0) -> Iterator[tuple[float, str]]:
    """(seconds since midnight at which it is written, line); `later`: seconds after START of the first step."""
    for number, (offset, story) in enumerate(zip(offsets(*stories), stories, strict=True), 1):
        yield from _step(story, offset + later, end_line or number < len(stories))


def offsets(*stories: Story) -> list[float]:
    """When each step begins, seconds since midnight."""
    return [START + n * GAP_S + sum(s.end_s for s in stories[:n]) for n in range(len(stories))]


def clock(seconds: float) -> str:
    whole = int(seconds) % 86400
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _step(story: Story, offset: float, end_line: bool) -> Iterator[tuple[float, str]]:
    instances = len({i.instance for i in story.items})
    yield offset, f"max eval parallel agents:  {story.evaluators}"
    yield offset, f"Total instances: {instances}"
    lines = [line for number, item in enumerate(story.items) for line in _item(item, f"s{offset:.0f}-{number}")]
    for moment, _, stamped, text in sorted(lines, key=lambda x: (x[0], x[1])):
        yield offset + moment, f"{clock(offset + moment)} - openhands:INFO: {text}" if stamped else text
    if end_line:
        end = offset + story.end_s
        trimmed = f"Trimmed 0.0% of samples in the batch of size {len(story.items)}"
        yield end, f"{clock(end)} - openhands:INFO: codeact.py:200 - {trimmed}"


def _item(item: Item, session: str) -> Iterator[tuple[float, int, bool, str]]:
    """(moment, rank among equals, has a stamp, text) of every line of one trajectory."""
    at, name = item.moments, f"{item.instance}, trajectory {item.number}"
    image = f"docker.io/example/sweb.eval.x86_64.{item.instance}"
    yield at["init_taken"], 5, True, f"codeact.py:1203 - Initializing runtime for instance {name}"
    yield from _sandbox(at["init_taken"], item.init_s - 2.0, 835, f"{session}-i", image, item.init_error is None)
    if item.init_error is not None:
        yield at["init_served"], 3, True, f"codeact.py:886 - Failed to initialize runtime for instance {item.instance}: {item.init_error}"  # fmt: skip
        yield at["init_served"], 4, True, f"codeact.py:1214 - Error initializing runtime for {name}: {item.init_error}"
        return
    yield at["init_served"], 1, True, f"codeact.py:884 - Successfully initialized runtime for instance {item.instance}"
    took = at["init_released"] - at["init_taken"]
    yield at["init_released"], 2, False, f"Successfully initialized runtime for instance {name} in {took:.2f} seconds"
    yield from _run(item)
    yield from _eval(item, session, image)


def _sandbox(begin: float, seconds: float, line: int, session: str, image: str, ready: bool) -> Iterator[tuple[float, int, bool, str]]:  # fmt: skip
    head = f"[runtime session_id={session} runtime_id=unknown]"
    yield (
        begin,
        6,
        True,
        f"codeact.py:{line} - Using instance container image: {image}. Please make sure this image exists.",
    )
    yield begin, 7, True, f"remote_runtime.py:120 - {head} Building remote runtime with base image: {image}"
    if ready:
        yield begin + 1, 7, True, f"remote_runtime.py:257 - {head} Runtime started. URL: http://sandbox"
        yield begin + 1, 8, True, f"remote_runtime.py:140 - {head} Waiting for runtime to be alive..."
        yield begin + max(1.0, seconds), 8, True, f"remote_runtime.py:143 - {head} Runtime is ready."


def _run(item: Item) -> Iterator[tuple[float, int, bool, str]]:
    at, name = item.moments, f"{item.instance}, trajectory {item.number}"
    yield at["run_taken"], 5, True, f"codeact.py:1245 - Running agent for instance {name}"
    now = at["run_taken"]
    for turn, (model, environment) in enumerate(item.turns, 1):
        state = "[Agent Controller default] Setting agent(OnlineCodeActAgent) state from AgentState.{} to AgentState.{}"
        yield now, 6, False, f"instance id {name}, step {turn}"
        yield now, 7, True, f"agent_controller.py:466 - {state.format('LOADING', 'RUNNING')}"
        yield now + model, 6, False, "Take action: <class 'list'>"
        yield now + model, 7, True, "agent_controller.py:209 - action is run in the sandbox"
        now += model + environment
    yield now, 8, True, "utils.py:277 - BEGIN Runtime Completion Fn"
    yield at["run_served"], 1, True, "utils.py:355 - END Runtime Completion Fn"
    took = at["run_served"] - at["run_taken"]
    yield at["run_released"], 2, False, f"Successfully completed instance {name} in {took:.2f}s"


def _eval(item: Item, session: str, image: str) -> Iterator[tuple[float, int, bool, str]]:
    at, name = item.moments, f"{item.instance}, trajectory {item.number}"
    begin = at["eval_taken"]
    mark = f"[{item.instance}, {item.number}]"
    yield begin, 5, True, f"codeact.py:1291 - Evaluating agent for instance {name}"
    yield from _sandbox(begin, item.sandbox_s, 1121, f"{session}-e", image, True)
    yield begin + item.sandbox_s, 9, True, f"codeact.py:1029 - {mark} Evaluation process started with PID: 7"
    if item.eval_error is not None:
        yield at["eval_served"], 1, True, f"codeact.py:1155 - Failed to evaluate traj {item.number} for instance {item.instance}: {item.eval_error}"  # fmt: skip
    else:
        yield at["eval_served"], 1, True, f"codeact.py:1051 - {mark} Evaluation process completed after {item.tests_s} seconds"  # fmt: skip
        yield at["eval_served"], 2, True, f"codeact.py:1071 - {mark} Grading answer..."
    took = at["eval_served"] - begin
    yield at["eval_served"], 3, False, f"Successfully completed evaluating instance {name} in {took:.2f}s"
