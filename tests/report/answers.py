"""Answers of a model written by hand for the shipped samples: honest ones, and single claims to plant into them."""

import tempfile
from functools import cache
from pathlib import Path

from codex_skyrl.analyse import read
from codex_skyrl.recheck import known_from
from codex_skyrl.report.known import Known
from codex_skyrl.report.model import Evidence
from codex_skyrl.report.wire import WireAnswer, WireCitation, WireClaim, WireExperiment, WireReport
from codex_skyrl.text import Lang
from mini_checkout import v0

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


@cache
def known(sample: str, lang: Lang = "en") -> Known:
    """What an answer about a shipped sample, in a small checkout, is held against."""
    checkout = v0(Path(tempfile.mkdtemp(prefix="codex-skyrl-answers-")))
    return known_from(read([str(SAMPLES / sample)], SAMPLES.parent, None, checkout_at=checkout), lang, {})


def that(found: Known, *words: str) -> Evidence:
    """The first evidence that holds all these words, in what it says or quotes."""
    return next(e for e in found.diagnosis.evidence if all(w in e.says or w in e.quote for w in words))


def claim(text: str, *cited: tuple[Evidence | str, str], commands: tuple[str, ...] = ()) -> WireClaim:
    """A claim with its citations: (evidence or id, quoted words)."""
    citations = [WireCitation(evidence=e if isinstance(e, str) else e.id, quote=quote) for e, quote in cited]
    return WireClaim(text=text, citations=citations, commands=list(commands))


def answer(found: Known, *six: list[WireClaim], summary: str, experiment: WireExperiment) -> WireReport:
    """A whole answer that agrees with the verdict."""
    verdict = found.diagnosis.verdict
    return WireReport(
        bottleneck=verdict.bottleneck,
        cause=verdict.cause,
        summary=summary,
        answers=[WireAnswer(question=n, claims=claims) for n, claims in enumerate(six, 1)],
        experiment=experiment,
    )


def honest(sample: str, lang: Lang) -> tuple[Known, WireReport]:
    """What a careful model would answer: figures copied, words quoted, nothing computed by itself."""
    found = known(sample, lang)
    return found, (_english if lang == "en" else _chinese)(found)


def _english(found: Known) -> WireReport:
    d = found.diagnosis
    queues = {name: that(found, f"{name}_queue: ") for name in ("init", "run", "eval")}
    stages = {name: that(found, f"{name} stage: ") for name in ("init", "run", "eval")}
    made, takes = that(found, "ready is made here"), that(found, "the eval workers take from done")
    barrier, polls = that(found, "asyncio.wait waits here"), that(found, "looks again every 30 s")
    function = that(found, "function Group.pipeline")
    setting = that(found, "setting: actor_rollout_ref.rollout.max_parallel_agents = ")
    lead = found.evidence[d.verdict.evidence[0]]
    return answer(
        found,
        [
            claim(
                f"run_queue had a maximum depth of {d.queues.run.max_depth} and a mean wait of {d.queues.run.mean_wait_s:g} s.",
                (queues["run"], f"maximum depth {d.queues.run.max_depth}"),
                (queues["run"], f"mean wait {d.queues.run.mean_wait_s:g} s"),
            ),
            claim(
                f"In eval_queue the mean wait was {round(d.queues.eval.mean_wait_s or 0)} s; items left it at {d.queues.eval.consumption_per_min:g} per minute.",
                (queues["eval"], f"consumed {d.queues.eval.consumption_per_min:g} a minute"),
            ),
        ],
        [
            claim(
                f"The eval stage has {d.stages.eval.workers} eval workers, which take from the queue at codeact.py:{takes.line_start}.",
                (stages["eval"], f"workers {d.stages.eval.workers}"),
                (takes, "item = await done.get()"),
            ),
            claim(
                f"The second queue is bounded (verl/workers/agentic/codeact.py:{made.line_start}), so init workers can be held.",
                (made, "maxsize=self.max_parallel_agents"),
            ),
            claim(
                f"All three queues live in one function, {function.source}:{function.line_start}-{function.line_end}.",
                (function, "async def pipeline(self):"),
            ),
        ],
        [
            claim(
                f"A step ends only when every task has: line {barrier.line_start} waits for all of them.",
                (barrier, "await asyncio.wait(tasks)"),
            ),
        ],
        [
            claim(
                "Whether images or the runtime are slow shows in the cluster's events.",
                (stages["init"], "init stage"),
                commands=(
                    "kubectl get events -A --field-selector reason=Pulled --sort-by=.lastTimestamp",
                    "grep -aE 'Failed to initialize|503' rollout.log | sort | uniq -c | sort -rn | head",
                ),
            ),
        ],
        [
            claim(
                "Results are looked at every 30 s, so a short test costs a whole poll.",
                (polls, "looks again every 30 s"),
                commands=("grep -ac 'Successfully completed evaluating' rollout.log",),
            ),
        ],
        [claim("Change one setting and compare the makespan.", (setting, "max_parallel_agents"))],
        summary=f"{d.verdict.summary} ({lead.id})",
        experiment=_experiment(found),
    )


def _chinese(found: Known) -> WireReport:
    d = found.diagnosis
    queues = {name: that(found, f"{name}_queue：") for name in ("init", "run", "eval")}
    stages = {name: that(found, f"{name} 阶段：") for name in ("init", "run", "eval")}
    takes, polls = that(found, "eval worker 在此从 done"), that(found, "每 30 秒才再看一次")
    return answer(
        found,
        [
            claim(
                f"init_queue 的最大深度为 {d.queues.init.max_depth}，平均等待 {d.queues.init.mean_wait_s:g} 秒。",
                (queues["init"], f"最大深度 {d.queues.init.max_depth}"),
            ),
            claim(
                f"eval_queue：每分钟消费 {d.queues.eval.consumption_per_min:g} 个。",
                (queues["eval"], f"消费 {d.queues.eval.consumption_per_min:g} 个/分钟"),
            ),
        ],
        [
            claim(
                f"eval 阶段有 {d.stages.eval.workers} 个 worker，在 codeact.py:{takes.line_start} 取任务。",
                (stages["eval"], f"worker 数 {d.stages.eval.workers}"),
                (takes, "item = await done.get()"),
            ),
        ],
        [claim("生成是 await 的，其他 agent 可以继续。", (that(found, "在此 await 生成"), "await self.infer_engine"))],
        [
            claim(
                "是否在拉镜像，要看集群事件。",
                (stages["init"], "init 阶段"),
                commands=("kubectl get events -A -o json | jq '.items[].reason' | sort | uniq -c",),
            )
        ],
        [claim(f"评测每 30 秒轮询一次（第 {polls.line_start} 行）。", (polls, "time.sleep(30)"))],
        [claim("只改一个设置，比较 step 总时长。", (queues["run"], "run_queue"))],
        summary=d.verdict.summary,
        experiment=_experiment(found),
    )


def _experiment(found: Known) -> WireExperiment:
    """The computed one where there is one, else a setting of the launch script."""
    ours = found.diagnosis.experiments
    if ours:
        best = ours[0]
        change = best.step_time_change_pct
        predicted = "a shorter step" if change is None else f"step time {change:+.1f} %"
        before = "as it is" if best.from_ is None else _plain(best.from_)
        after = "another" if best.to is None else _plain(best.to)
        return WireExperiment(
            knob=best.knob, from_value=before, to_value=after, steps=3, compare=["makespan_s"], predicted=predicted
        )
    agents = next(iter(found.values_of("actor_rollout_ref.rollout.max_parallel_agents")))
    return WireExperiment(
        knob="actor_rollout_ref.rollout.max_parallel_agents", from_value=agents, to_value=str(2 * int(agents)), steps=3,
        compare=["makespan_s"], predicted="no change",
    )  # fmt: skip


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
