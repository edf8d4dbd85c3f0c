"""What reading the deepest queue, or the longest printed time, would have said, and why that is right or wrong."""

from collections.abc import Sequence

from codex_skyrl.diagnosis.facts import StepFacts
from codex_skyrl.diagnosis.finding import Finding
from codex_skyrl.diagnosis.rules.cites import secs
from codex_skyrl.report.model import STAGES, Queues, Stage
from codex_skyrl.text import Text


def naive_of(queues: Queues, steps: Sequence[StepFacts], verdict: Finding) -> Text:
    """One paragraph; says so when no depth is known."""
    depths = {s: d for s in STAGES if (d := getattr(queues, s).max_depth) is not None}
    if not depths:
        return Text(
            "No queue depth can be read from this input, so a depth-only reading has nothing to say.",
            "这些输入推不出队列深度，只看深度得不出任何结论。",
        )
    deepest = max(depths, key=lambda s: depths[s])
    listed = ", ".join(f"{s}_queue {d}" for s, d in depths.items())
    right = deepest == verdict.bottleneck
    why = _why(deepest, right)
    longest = _longest(_printed(steps), verdict)
    return Text(
        f"Maximum depths are {listed}: the deepest queue would blame {deepest}. {why.en}{longest.en}",
        f"最大深度为 {listed}：只看最深的队列会归咎于 {deepest}。{why.zh}{longest.zh}",
    )


def _longest(printed: dict[Stage, float], verdict: Finding) -> Text:
    """What the longest printed time would have said, when it points elsewhere."""
    if not printed:
        return Text("", "")
    stage = max(printed, key=lambda s: printed[s])
    if stage == verdict.bottleneck:
        return Text("", "")
    hides = _hides(stage)
    return Text(
        f" The longest printed time is {stage}'s ({secs(printed[stage])} s on average); {hides.en}.",
        f"打印时间最长的是 {stage}（平均 {secs(printed[stage])} 秒）；{hides.zh}。",
    )


def _why(deepest: Stage, right: bool) -> Text:
    if deepest == "init":
        tail = (
            (" Here init is the bottleneck, but for other reasons.", "这里瓶颈确实是 init，但理由不同。")
            if right
            else ("", "")
        )
        return Text(
            "That proves nothing: SkyRL-v0 puts the whole batch into init_queue at the start of every step, so it is always "
            "the deepest." + tail[0],
            "这说明不了什么：SkyRL-v0 在每个 step 开始时把整个 batch 放进 init_queue，它总是最深的。" + tail[1],
        )
    if right:
        return Text("Here that happens to be right.", "这里碰巧是对的。")
    return Text(
        "A bounded queue is also full when the stage after it holds its workers: back-pressure, not load.",
        "有界队列在下游占住 worker 时也会满：那是反压，不是负载。",
    )


def _printed(steps: Sequence[StepFacts]) -> dict[Stage, float]:
    """Mean printed seconds per stage: for init they include waiting for a place in run_queue."""
    found: dict[Stage, float] = {}
    for stage in STAGES:
        facts = [step.stages[stage] for step in steps]
        items = sum(len(f.services) for f in facts)
        if items:
            printed = sum(sum(f.services) + (f.held_s if stage == "init" else 0.0) for f in facts)
            found[stage] = printed / items
    return found


def _hides(stage: Stage) -> Text:
    if stage == "init":
        return Text("it includes waiting for a place in run_queue", "其中包含等待 run_queue 空位的时间")
    return Text(
        "a long stage with idle workers does not limit the step", "耗时长但 worker 有空闲的阶段并不限制整个 step"
    )
