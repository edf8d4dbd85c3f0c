"""Made-up but realistic diagnoses for the renderers' tests, in both languages. None comes from a real run."""

from collections.abc import Callable

from codex_skyrl.report.model import (
    Citation,
    Claim,
    Diagnosis,
    Evidence,
    Experiment,
    Input,
    MatrixRow,
    Missing,
    ModelAnswer,
    ModelExperiment,
    ModelReport,
    OtherFinding,
    PipelineFigures,
    Queue,
    Queues,
    StageFigures,
    Stages,
    Step,
    Tool,
    Verdict,
)
from codex_skyrl.text import Lang

TOOL = Tool(version="0.1.0")
MATRIX_KEYS = ("init", "run", "eval", "saturated", "supply")
INIT_KEYS = ["E1", "E2"]


def matrix(**matched: list[str]) -> list[MatrixRow]:
    return [MatrixRow(row=key, matched=key in matched, evidence=matched.get(key, [])) for key in MATRIX_KEYS]


def init_bound(lang: Lang) -> Diagnosis:
    """Image pulls hold initialisation back from step 12 on."""
    zh = lang == "zh"
    figures = Queues(
        init=Queue(
            source="reconstructed",
            max_depth=56,
            mean_depth=31.4,
            mean_wait_s=412.6,
            mean_wait_bounds_s=(408, 419),
            consumption_per_min=2.38,
        ),
        run=Queue(
            source="reconstructed",
            max_depth=2,
            mean_depth=0.3,
            mean_wait_s=1.2,
            mean_wait_bounds_s=(0, 3.1),
            consumption_per_min=2.31,
        ),
        eval=Queue(source="reconstructed", max_depth=1, mean_depth=0.04, mean_wait_s=0.4, consumption_per_min=2.3),
    )
    stages = Stages(
        init=StageFigures(
            workers=8,
            utilisation=0.94,
            blocked=0.02,
            starved=0.04,
            service_p50_s=118,
            service_p95_s=164.2,
            completed=61,
            failed=3,
        ),
        run=StageFigures(
            workers=8,
            utilisation=0.31,
            blocked=0.0,
            starved=0.69,
            service_p50_s=212,
            service_p95_s=388,
            completed=61,
        ),
        eval=StageFigures(workers=8, utilisation=0.12, starved=0.88, service_p50_s=44, service_p95_s=71, completed=61),
    )
    return Diagnosis(
        tool=TOOL,
        engine="offline",
        lang=lang,
        inputs=[
            Input(path="logs/rollout.log", kind="skyrl, ray", bytes=48_212_004, lines=481_133, events=12_034),
            Input(
                path="logs/k8s_events.json",
                kind="kubernetes",
                bytes=1_204_113,
                lines=1,
                events=811,
                problems=[
                    "27 个事件没有时间（lastTimestamp 为空），未用于排序。"
                    if zh
                    else "27 events carry no time (lastTimestamp is null) and were not used for ordering."
                ],
            ),
        ],
        verdict=Verdict(
            bottleneck="init",
            cause="image_pull",
            confidence=0.91,
            summary=(
                "从 step 12 起，容器启动时间的中位数由 41 s 升到 118 s，"
                "每个 step 的镜像拉取次数由 3 次增加到 29 次；"
                "init worker 有 94% 的时间在忙，run worker 有 69% 的时间在空等。先解决镜像缓存。"
                if zh
                else "From step 12 on the median container start went from 41 s to 118 s while image pulls "
                "rose from 3 to 29 a step. Init workers are busy 94% of the time, run workers starve "
                "69% of it. Fix the image cache first."
            ),
            naive=(
                "init_queue 最深，同样会指向初始化，但理由不成立：v0 在每个 step 开始时就把整个 batch 放进 "
                "init_queue，它的深度说明不了问题。"
                if zh
                else "init_queue is the deepest, so it would name initialisation too, but for the wrong "
                "reason: v0 puts the whole batch into init_queue when a step starts, so its depth alone "
                "means nothing."
            ),
            evidence=["E1", "E2", "E3"],
            also=[
                OtherFinding(
                    bottleneck="eval",
                    cause="eval_poll",
                    summary="评测每 30 s 轮询一次，5 s 的测试也要占用 30 s。"
                    if zh
                    else "Evaluation polls every 30 s, so a test of 5 s holds its worker for 30 s.",
                    evidence=["E4"],
                )
            ],
        ),
        steps=[
            Step(
                step=11,
                makespan_s=702,
                bounds_s=(700, 704),
                trajectories=64,
                failed=0,
                bottleneck="run",
            ),
            Step(
                step=12,
                makespan_s=1318.5,
                bounds_s=(1316, 1321),
                trajectories=64,
                failed=2,
                bottleneck="init",
            ),
            Step(
                step=13,
                makespan_s=1402,
                bounds_s=(1399, 1404),
                trajectories=64,
                failed=1,
                bottleneck="init",
            ),
            Step(step=14, makespan_s=None, trajectories=23, failed=0),
        ],
        queues=figures,
        pipelines=[PipelineFigures(id="pid=4242", step=12, makespan_s=1318.5, queues=figures, stages=stages)],
        stages=stages,
        matrix=matrix(init=INIT_KEYS),
        experiments=[
            Experiment(
                knob="image cache (pre-pull on every node)" if not zh else "镜像缓存（每个节点预拉取）",
                from_="off" if not zh else "关",
                to="on" if not zh else "开",
                step_time_change_pct=-41,
                low_pct=-48,
                high_pct=-33,
                next_bottleneck="run",
                how="kubectl apply -f prepull-daemonset.yaml && kubectl rollout status daemonset/prepull --timeout=30m",
            ),
            Experiment(
                knob="actor_rollout_ref.rollout.max_parallel_agents",
                from_=64,
                to=128,
                step_time_change_pct=-18.4,
                low_pct=-26,
                high_pct=-9,
                next_bottleneck="init",
                how="bash examples/sky/swebench/run_qwen8b_nt.sh "
                "actor_rollout_ref.rollout.max_parallel_agents=128 "
                "trainer.total_training_steps=3 'trainer.logger=[console]'",
            ),
        ],
        evidence=[
            Evidence(
                id="E1",
                kind="metric",
                source="init service time" if not zh else "init 服务时间",
                says="容器启动时间的中位数：step 11 为 41 s，step 12 起为 118 s。"
                if zh
                else "Median container start: 41 s in step 11, 118 s from step 12 on.",
            ),
            Evidence(
                id="E2",
                kind="log",
                source="logs/k8s_events.json",
                line_start=77,
                line_end=77,
                quote="Successfully pulled image "
                '"docker.io/xingyaoww/sweb.eval.x86_64.django_s_django-11099" '
                "in 1m45.2s (2m31.7s including waiting). Image size: 1204113992 bytes.",
                says="一次拉取用了 105 s，另有 46 s 在节点上排队。"
                if zh
                else "One pull took 105 s and queued 46 s more on its node.",
            ),
            Evidence(
                id="E3",
                kind="log",
                source="logs/rollout.log",
                line_start=18233,
                quote="(WorkerDict pid=4242) 12:41:07 - openhands:INFO: remote_runtime.py:140 - [runtime "
                "session_id=0b9c1b44-6f0e-4b12-9a67-3f4d0c1a2b3c runtime_id=unknown] "
                "Waiting for runtime to be alive...",
                says="容器已创建但 118 s 后才就绪，期间 run worker 没有任务。"
                if zh
                else "The container exists but is ready only 118 s later; run workers have nothing to do.",
            ),
            Evidence(
                id="E4",
                kind="code",
                source="verl/workers/agentic/codeact.py",
                line_start=1050,
                line_end=1057,
                quote="time.sleep(30)",
                says="评测结果的轮询间隔写死为 30 s。"
                if zh
                else "The polling interval for test results is fixed at 30 s.",
            ),
        ],
    )


def healthy(lang: Lang) -> Diagnosis:
    """Nothing to fix; depths are stated by the log."""
    zh = lang == "zh"
    queue = Queue(source="stated", max_depth=6, mean_depth=1.9, mean_wait_s=4.25, consumption_per_min=12.04)
    stage = StageFigures(
        workers=32,
        utilisation=0.78,
        blocked=0.05,
        starved=0.17,
        service_p50_s=9.6,
        service_p95_s=31,
        completed=1280,
        failed=4,
    )
    return Diagnosis(
        tool=TOOL,
        engine="offline",
        lang=lang,
        inputs=[Input(path="train.log", kind="skyrl", bytes=912, lines=18, events=18)],
        verdict=Verdict(
            bottleneck="healthy",
            cause="none",
            confidence=0.93,
            summary="40 个 step 的时间稳定在 300 s 左右，三个阶段都没有持续排队。"
            if zh
            else "Step time is steady near 300 s over 40 steps and no stage queues for long.",
            naive="run_queue 偶尔最深，但每次都在一分钟内排空。"
            if zh
            else "run_queue is at times the deepest, but it always drains within a minute.",
        ),
        steps=[
            Step(
                step=n,
                makespan_s=300 + (n * 37 % 23),
                bounds_s=(299 + (n * 37 % 23), 301 + (n * 37 % 23)),
                trajectories=32,
                failed=0,
            )
            for n in range(1, 41)
        ],
        queues=Queues(init=queue, run=queue, eval=queue),
        pipelines=[],
        stages=Stages(init=stage, run=stage, eval=stage),
        matrix=matrix(),
        evidence=[],
    )


def unknown(lang: Lang) -> Diagnosis:
    """A log without lifecycle lines: no figures, and what would decide."""
    zh = lang == "zh"
    return Diagnosis(
        tool=TOOL,
        engine="offline",
        lang=lang,
        inputs=[Input(path="nohup.out", kind="-", bytes=2_113_000, lines=20_114, events=0)],
        verdict=Verdict(
            bottleneck="unknown",
            cause="none",
            confidence=0.2,
            summary="这份日志里只有训练指标，没有 init、run、eval 的生命周期行，无法判断是哪个阶段慢。"
            if zh
            else "This log holds training metrics only, no lifecycle lines of init, run or eval, so it "
            "cannot be told which stage is slow.",
            naive="",
        ),
        steps=[],
        queues=Queues(),
        pipelines=[],
        stages=Stages(),
        matrix=matrix(),
        evidence=[],
        missing=[
            Missing(
                what="带 stdout 的完整 rollout 日志，并关闭 Ray 的去重。"
                if zh
                else "The full rollout log with stdout in it, and Ray's de-duplication off.",
                how="RAY_DEDUP_LOGS=0 bash examples/sky/swebench/run_qwen8b_nt.sh "
                "trainer.total_training_steps=3 2>&1 | tee rollout.log",
            ),
            Missing(
                what="沙箱所在命名空间的 Kubernetes 事件（默认只保留 1 小时）。"
                if zh
                else "The Kubernetes events of the sandboxes' namespace (kept for one hour by default).",
                how="# " + ("在能访问集群的机器上执行" if zh else "on a machine that reaches the cluster") + "\n"
                "kubectl get events -n runtime-pods -o json > k8s_events.json",
            ),
            Missing(
                what="GPU 利用率" if zh else "GPU utilisation",
                how="nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used --format=csv -l 5 > gpu.csv",
            ),
        ],
    )


def hang(lang: Lang) -> Diagnosis:
    """A step that never ends, with hostile text in its log and a model that disagrees."""
    zh = lang == "zh"
    hostile = (
        "12:58:40 - openhands:ERROR: codeact.py:1214 - Error initializing runtime for sympy__sympy-20590, "
        "trajectory 7: \x1b[31m[bold]RetryError[/bold] :boom: \u202egnp.exe\x07 | ``` ~~~"
    )
    report = ModelReport(
        bottleneck="run",
        cause="llm_stall",
        summary="LLM 服务停顿导致 step 无法结束。" if zh else "A stalled LLM server keeps the step from ending.",
        answers=[
            ModelAnswer(
                question=3,
                claims=[
                    Claim(
                        text="step 7 没有结束行，日志在 12:58:40 之后静默。"
                        if zh
                        else "Step 7 has no end line and the log is silent after 12:58:40.",
                        citations=[Citation(evidence="E1", quote="codeact.py:1214")],
                        verified=True,
                    ),
                    Claim(
                        text="LLM 服务有 48 个请求在排队。" if zh else "48 requests are queued at the LLM server.",
                        citations=[Citation(evidence="E9", quote="#queue-req: 48")],
                        problems=[
                            "引用的依据 E9 不存在。" if zh else "The cited evidence E9 does not exist.",
                        ],
                    ),
                ],
            )
        ],
        experiment=ModelExperiment(
            knob="max_parallel_agents",
            from_value="64",
            to_value="32",
            steps=3,
            compare=["makespan_s", "failed"],
            predicted="step 能正常结束" if zh else "the step ends",
        ),
        agrees=False,
        model="glm-9",
        notes=["第 2、4、5、6 问没有回答。" if zh else "Questions 2, 4, 5 and 6 were not answered."],
        input_tokens=18_204,
        output_tokens=911,
    )
    return Diagnosis(
        tool=TOOL,
        engine="api",
        lang=lang,
        inputs=[Input(path="rollout.log.1.gz", kind="skyrl", bytes=9_310_221, lines=88_120, events=3_410)],
        verdict=Verdict(
            bottleneck="sync",
            cause="hang",
            confidence=0.78,
            summary="step 7 卡死：一次初始化失败后，还有一个 run worker 和一个 eval worker 在等永远不会来的任务。"
            if zh
            else "Step 7 hangs: after one failed initialisation a run worker and an eval worker wait for "
            "items that will never come.",
            naive="三个队列都是 0，看起来像是任务供给不足。"
            if zh
            else "All three queues are at 0, which looks like too little work.",
            evidence=["E1", "E7"],
        ),
        steps=[Step(step=7, makespan_s=None, bounds_s=(2410, 9120), trajectories=64, failed=1, bottleneck="sync")],
        queues=Queues(init=Queue(source="reconstructed", max_depth=56, mean_depth=12.0, consumption_per_min=3.1)),
        pipelines=[],
        stages=Stages(run=StageFigures(workers=8, completed=63)),
        matrix=matrix(supply=["E1"]),
        evidence=[
            Evidence(
                id="E1",
                kind="log",
                source="rollout.log.1.gz",
                line_start=88101,
                line_end=88103,
                quote=hostile + "\nsecond line",
                says="step 的最后几项中有一次缓慢的失败，此后日志再没有生命周期行。"
                if zh
                else "A slow failure among the last items of the step; no lifecycle line follows it.",
            )
        ],
        missing=[
            Missing(
                what="卡住的进程的 Python 栈。" if zh else "The Python stacks of the processes that hang.",
                how="for p in $(pgrep -f 'ray::WorkerDict'); do py-spy dump --pid $p; done > stacks.txt",
            )
        ],
        report=report,
    )


SAMPLES: dict[str, Callable[[Lang], Diagnosis]] = {
    "init_bound": init_bound,
    "healthy": healthy,
    "unknown": unknown,
    "hang": hang,
}


_KEYS_WITH_A_FIXED_MEANING = {
    "bottleneck",
    "next_bottleneck",
    "cause",
    "lang",
    "engine",
    "source",
    "kind",
    "id",
}


def poisoned(diagnosis: Diagnosis, poison: str) -> Diagnosis:
    """The same diagnosis with `poison` inside every free text in it, evidence sources included."""

    def walk(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        free = isinstance(value, str) and key not in _KEYS_WITH_A_FIXED_MEANING
        return f"{poison}{value}{poison}" if free else value

    loaded = Diagnosis.model_validate(walk(diagnosis.model_dump(mode="json", by_alias=True)))
    evidence = [e.model_copy(update={"source": poison + e.source}) for e in loaded.evidence]
    return loaded.model_copy(update={"evidence": evidence})
