"""What the checkout's code says, as evidence: where each stage takes its items, how many workers, where it can wait."""

from collections.abc import Iterable

from codex_skyrl.checkout.facts import Checkout, CodeFact, Kind, WorkerCount
from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.diagnosis.finding import Cite, Finding
from codex_skyrl.diagnosis.ledger import Ledger
from codex_skyrl.report.model import STAGES, Cause, CheckoutCode, Stage, StageCode
from codex_skyrl.text import Text

_POOL_EN, _POOL_ZH = "min(32, CPUs + 4) threads", "min(32, CPU 数 + 4) 个线程"

# the code that a cause rests on: kinds, and whether only the stage's own
_RESTS_ON: dict[Cause, tuple[Kind, ...]] = {
    "thread_cap": ("executor",),
    "blocked_loop": ("blocks_loop",),
    "eval_poll": ("poll",),
    "eval_timeout": ("timeout",),
    "llm_wakeup": ("generation",),
    "barrier": ("barrier", "generation"),
    "hang": ("barrier", "queue_joined"),
    "straggler": ("barrier",),
    "slow_rank": ("barrier",),
}


def code_of(checkout: Checkout, knobs: Knobs, ledger: Ledger) -> CheckoutCode:
    """Everything the code says of the three stages, in order of lines."""
    return CheckoutCode(
        layout=checkout.layout,
        stages=[_stage(checkout, knobs, stage, ledger) for stage in STAGES],
        shared=ledger.ids(_cite(f) for f in checkout.facts if f.stage is None),
    )


def behind(finding: Finding, checkout: Checkout) -> list[Cite]:
    """The lines of code that a finding rests on."""
    stage = finding.bottleneck if finding.bottleneck in STAGES else None
    facts = [f for f in checkout.of(*_RESTS_ON.get(finding.cause, ())) if stage is None or f.stage in (stage, None)]
    counts = [w for w in checkout.workers if w.stage == stage] if finding.cause == "few_workers" else []
    return [*(_cite(f) for f in facts), *(worker_cite(w) for w in counts)]


def worker_cite(count: WorkerCount) -> Cite:
    """Where the workers of a stage are started, and what sets their number."""
    en, zh = (
        f"{count.stage} workers are started here: {count.expression}",
        f"{count.stage} worker 在此启动：{count.expression}",
    )
    if count.knobs:
        default, place = count.knobs[0].value, f"{count.knobs[0].source}:{count.knobs[0].line}"
        en += f"; {count.setting} is {default} at {place}"
        zh += f"；{count.setting} 在 {place} 为 {default}"
    if count.divided_at:
        place = f"{count.divided_at[0]}:{count.divided_at[1]}"
        en += f", and is divided over the ranks at {place}"
        zh += f"，并在 {place} 按 rank 均分"
    return Cite(Text(en, zh), (count.source, count.line), kind="code")


def _stage(checkout: Checkout, knobs: Knobs, stage: Stage, ledger: Ledger) -> StageCode:
    counts = [w for w in checkout.workers if w.stage == stage]
    cites = [*(worker_cite(w) for w in counts), *_in_order(checkout.facts, stage)]
    count = counts[0] if counts else None
    return StageCode(
        stage=stage,
        workers=count.expression if count else None,
        setting=count.setting if count else None,
        per_rank=knobs.per_rank(count.setting) if count and count.setting else None,
        evidence=ledger.ids(cites),
    )


def _in_order(facts: Iterable[CodeFact], stage: Stage) -> list[Cite]:
    return [_cite(f) for f in facts if f.stage == stage]


def _cite(fact: CodeFact) -> Cite:
    return Cite(_says(fact), (fact.source, fact.line), kind="code")


def _says(fact: CodeFact) -> Text:
    queue, detail, stage = fact.queue or "", fact.detail, fact.stage or ""
    match fact.kind:
        case "queue_made" if detail:
            return Text(f"{queue} is made here, bounded to {detail}", f"{queue} 在此创建，上限为 {detail}")
        case "queue_made":
            return Text(f"{queue} is made here, without a bound", f"{queue} 在此创建，无上限")
        case "queue_filled" if detail:
            return Text(
                f"items are put into {queue} here; a worker is held while it is full",
                f"任务在此放入 {queue}；队列满时 worker 会停在这里",
            )
        case "queue_filled":
            return Text(f"items are put into {queue} here", f"任务在此放入 {queue}")
        case "queue_drained":
            return Text(f"the {stage} workers take from {queue} here", f"{stage} worker 在此从 {queue} 取任务")
        case "queue_joined":
            return Text(f"waits here until {queue} is drained", f"在此等待 {queue} 清空")
        case "blocks_loop":
            return Text(
                f"{detail} is called without await: on the event loop it stops every other task of the rank meanwhile",
                f"此处同步调用 {detail}：若在事件循环线程上执行，期间该 rank 的其他任务全部停住",
            )
        case "holds_thread":
            return Text(f"a pool thread sleeps here for {detail} s", f"线程池线程在此休眠 {detail} 秒")
        case "executor" if detail == "default" and fact.function:
            return Text(
                f"runs in the loop's default thread pool: {_POOL_EN}, shared by all stages of the rank",
                f"在事件循环的默认线程池里执行：{_POOL_ZH}，该 rank 各阶段共用",
            )
        case "executor" if detail == "shared":
            return Text(
                f"waits for a thread of one pool that all agents of the rank share: {_POOL_EN}",
                f"占用该 rank 所有 agent 共用的线程池：{_POOL_ZH}",
            )
        case "executor":
            size_en, size_zh = (_POOL_EN, _POOL_ZH) if detail == "default" else (detail, detail)
            return Text(
                f"the thread pool that all callers share is made here: {size_en}",
                f"所有调用者共用的线程池在此创建：{size_zh}",
            )
        case "barrier":
            return Text(f"{detail} waits here until all are done", f"{detail} 在此等待全部完成")
        case "poll":
            return Text(f"looks again every {detail} s", f"每 {detail} 秒才再看一次")
        case "timeout":
            return Text(f"time limit, in seconds: {detail}", f"时间上限（秒）：{detail}")
        case "generation" if detail == "awaited":
            return Text(
                "generation is awaited here: other agents go on meanwhile", "在此 await 生成：其他 agent 可继续"
            )
        case "generation" if detail == "blocks its thread":
            return Text("the agent's thread is held here until its reply is there", "agent 的线程在此一直等到回复")
        case _:
            return Text(
                "generation is not awaited here: nothing else runs on this thread meanwhile",
                "此处未 await 生成：该线程期间不能做别的",
            )
