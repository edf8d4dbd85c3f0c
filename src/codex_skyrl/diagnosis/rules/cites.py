"""Evidence that many rules cite alike: how workers spent their time, the slowest item, servers, GPUs, settings."""

from codex_skyrl.diagnosis.facts import Case, StepFacts
from codex_skyrl.diagnosis.finding import Cite, in_log
from codex_skyrl.logs.event import Kind
from codex_skyrl.pipeline.server import Server
from codex_skyrl.report.model import STAGES, Stage
from codex_skyrl.text import Text

WORKER_KNOB: dict[Stage, str] = {
    "init": "max_parallel_agents",
    "run": "max_parallel_agents",
    "eval": "max_eval_parallel_agents",
}


def pct(share: float | None) -> str:
    return "?" if share is None else f"{100 * share:.0f}%"


def secs(value: float | None) -> str:
    """Seconds as people read them: one decimal below ten."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def occupancy(step: StepFacts) -> Cite:
    """How each stage's workers spent the step."""
    en, zh = [], []
    for stage in STAGES:
        facts = step.stages[stage]
        count = "?" if facts.workers is None else str(facts.workers)
        shares = pct(facts.busy), pct(facts.blocked), pct(facts.starved)
        en.append(f"{stage} ({count} workers) busy {shares[0]}, blocked {shares[1]}, starved {shares[2]}")
        zh.append(f"{stage}（{count} 个 worker）忙碌 {shares[0]}、阻塞 {shares[1]}、空等 {shares[2]}")
    return Cite(Text(f"step {step.number}: " + "; ".join(en), f"step {step.number}：" + "；".join(zh)))


def slowest(step: StepFacts, stage: Stage) -> list[Cite]:
    """The two lines between which the slowest item of a stage was served."""
    timed = [(s, t) for p in step.pipelines for t in p.trajectories() if (s := t.visit(stage).service_s) is not None]
    if not timed:
        return []
    seconds, item = max(timed, key=lambda pair: pair[0])
    visit = item.visit(stage)
    name = f"{item.instance}, {item.number}"
    cites = []
    if visit.taken_at:
        taken = Text(f"the slowest {stage} item ({name}) was taken here", f"最慢的 {stage} 任务（{name}）从这里开始")
        cites.append(in_log(taken, visit.taken_at))
    if visit.served_at:
        done = Text(
            f"and its {stage} work was over here, {secs(seconds)} s later",
            f"{secs(seconds)} 秒后，它的 {stage} 工作在这里结束",
        )
        cites.append(in_log(done, visit.served_at))
    return cites


def init_split(step: StepFacts) -> list[Cite]:
    """The printed init time includes waiting for a place in run_queue: name the line that ends the real work."""
    blocked = step.stages["init"].blocked or 0.0
    kept = [
        (t.init.blocked_s, t)
        for p in step.pipelines
        for t in p.trajectories()
        if t.init.blocked_s > 0 and t.init.served_at is not None
    ]
    if blocked < 0.1 or not kept:
        return []
    held, item = max(kept, key=lambda pair: pair[0])
    service = item.init.service_s
    says = Text(
        f"init of {item.instance}, {item.number} really ended here after {secs(service)} s; the printed time also holds "
        f"{secs(held)} s of waiting for a place in run_queue",
        f"{item.instance}, {item.number} 的 init 实际在这里结束，用时 {secs(service)} 秒；"
        f"打印的时间还包含等待 run_queue 空位的 {secs(held)} 秒",
    )
    return [in_log(says, item.init.served_at)]


def server(one: Server) -> Cite:
    """Load of one LLM server replica over the step."""
    name = f" {one.replica}" if one.replica else ""
    usage = "" if one.usage_mean is None else f", KV {pct(one.usage_mean)}"
    rate = "" if one.tokens_per_s is None else f", {one.tokens_per_s:,.0f} token/s"
    says = Text(
        f"LLM server{name}: {one.running:.1f} requests running and {one.queued:.1f} queued on average over the step, "
        f"decoding {pct(one.active_share)} of the time{usage}{rate}; this is its first of {one.lines} lines",
        f"LLM 服务{name}：整个 step 平均运行 {one.running:.1f} 个请求、排队 {one.queued:.1f} 个，"
        f"{pct(one.active_share)} 的时间在解码{usage}{rate}；此处是 {one.lines} 行中的第一行",
    )
    return in_log(says, (one.source, one.first_line))


def servers(step: StepFacts) -> list[Cite]:
    return [server(s) for s in sorted(step.servers, key=lambda s: -s.running)[:4]]


def gpu(step: StepFacts, case: Case) -> list[Cite]:
    """Mean GPU utilisation, with one sample from inside the step."""
    if step.gpu_pct is None:
        return []
    for series in case.run.gpu:
        inside = [n for t, n in zip(series.times, series.lines, strict=True) if step.begin_s <= t <= step.end_s]
        if inside:
            says = Text(
                f"GPU utilisation {step.gpu_pct:.0f}% on average over the step (one of its samples)",
                f"整个 step 的平均 GPU 利用率为 {step.gpu_pct:.0f}%（其中一个采样）",
            )
            return [in_log(says, (series.source, inside[len(inside) // 2]))]
    return []


def turns(step: StepFacts) -> list[Cite]:
    """LLM and environment share of a turn, with the line of the first turn."""
    parts = step.parts.turns
    if parts.llm_s is None or parts.rest_s is None:
        return []
    first = next((m.first for p in step.pipelines if (m := p.record.moments(Kind.TURN_STARTED)).first), None)
    says = Text(
        f"{parts.count:,} turns: {secs(parts.llm_s)} s until the model's reply and {secs(parts.rest_s)} s for the rest "
        f"(environment) on average; the first turn starts here",
        f"共 {parts.count:,} 轮：平均每轮等模型回复 {secs(parts.llm_s)} 秒，其余（环境）{secs(parts.rest_s)} 秒；第一轮从这里开始",
    )
    return [in_log(says, first)]


def setting(case: Case, stage: Stage) -> list[Cite]:
    """Where the number of workers is set."""
    knob = case.knobs.rollout(WORKER_KNOB[stage]) or case.knobs.rollout("max_parallel_agents")
    if knob is None:
        return []
    says = Text(
        f"the number of {stage} workers is set here: {knob.value}", f"{stage} 的 worker 数在这里设置：{knob.value}"
    )
    return [Cite(says, (knob.source, knob.line), kind="code")]


def wait(step: StepFacts, stage: Stage) -> Cite | None:
    """Mean wait in a queue over the step's pipelines."""
    waits = [q.mean_wait_s for p in step.pipelines if (q := getattr(p.shown.queues, stage)).mean_wait_s is not None]
    if not waits:
        return None
    mean = sum(waits) / len(waits)
    return Cite(Text(f"mean wait for {stage}: {secs(mean)} s", f"{stage} 的平均等待：{secs(mean)} 秒"))
