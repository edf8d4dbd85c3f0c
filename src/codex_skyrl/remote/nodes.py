"""The sources of several nodes as parts of one run: their clocks laid over each other, and what is to be said of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codex_skyrl.pipeline.run import Gathered
from codex_skyrl.pipeline.skew import Skew, skews_of
from codex_skyrl.remote.taken import Taken, gathered_of
from codex_skyrl.text import Text


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that was to be read and was not: a node or a file, and why."""

    name: str
    why: Text


def gathered_from(sources: Sequence[Taken]) -> tuple[list[Gathered], dict[str, Skew | None]]:
    """What each source gives, its times on the reference node's clock where the difference can be told; and the differences."""
    gathered = [gathered_of(taken) for taken in sources]
    by_node: dict[str, list[Gathered]] = {}
    for taken, one in zip(sources, gathered, strict=True):
        by_node.setdefault(taken.node, []).append(one)
    skews = skews_of(by_node)
    for node, skew in skews.items():
        if skew is not None and skew.noticeable:
            for one in by_node[node]:
                one.skew_s = skew.seconds
    return gathered, skews


def skew_notes(taken: Taken, skews: dict[str, Skew | None]) -> Iterable[Text]:
    """What a source's reader must know about its clock."""
    if taken.node not in skews or not taken.groups:
        return
    skew = skews[taken.node]
    if skew is None:
        yield Text(
            f"the clock of {taken.node} could not be compared with the other nodes' (too few steps begin on both); "
            "its times are taken as they are",
            f"{taken.node} 的时钟无法与其他节点比较（两边共有的 step 开始太少）；时间按原样使用",
        )
    elif skew.noticeable:
        way, zh = ("ahead of", "快") if skew.seconds > 0 else ("behind", "慢")
        seconds = f"{abs(skew.seconds):.1f}"
        yield Text(
            f"the clock of {taken.node} runs {seconds} s {way} {skew.reference}'s (±{skew.spread_s + 1:.1f} s, from "
            f"{skew.pairs} steps that begin on both); its times were moved by that",
            f"{taken.node} 的时钟比 {skew.reference} {zh} {seconds} 秒（±{skew.spread_s + 1:.1f} 秒，依据两边共有的 "
            f"{skew.pairs} 个 step 开始）；已按此平移",
        )
