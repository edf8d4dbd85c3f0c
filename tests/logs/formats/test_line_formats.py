"""Every line format: what it understands, to the field, and that it never raises."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.event import (
    Body,
    ClusterEvent,
    DepthSample,
    Kind,
    Lifecycle,
    LlmSample,
    Progress,
    SandboxServer,
    StepMetrics,
)
from codex_skyrl.logs.formats import (
    containers,
    depth,
    lifecycle,
    registry,
    sandbox_server,
    sglang,
    skyrl_agent,
    verl,
    vllm,
)

MODULES = (containers, depth, lifecycle, sandbox_server, sglang, skyrl_agent, verl, vllm)
L = "12:00:05 - openhands:INFO: codeact.py:1203 - "

LINES: list[tuple[ModuleType, str, Body]] = [
    (lifecycle, L + "Initializing runtime for instance a__b-1, trajectory 3", Lifecycle(Kind.INIT_STARTED, "a__b-1", 3)),
    (lifecycle, L + "Successfully initialized runtime for instance a__b-1", Lifecycle(Kind.INIT_WORK_DONE, "a__b-1")),
    (lifecycle, "Successfully initialized runtime for instance a__b-1, trajectory 3 in 12.5 seconds", Lifecycle(Kind.INIT_DONE, "a__b-1", 3, 12.5)),
    (lifecycle, L + "Failed to initialize runtime for instance a__b-1: ", Lifecycle(Kind.INIT_WORK_FAILED, "a__b-1")),
    (lifecycle, L + "Error initializing runtime for a__b-1, trajectory 3: 503", Lifecycle(Kind.INIT_FAILED, "a__b-1", 3, text="503")),
    (lifecycle, L + "Running agent for instance a__b-1, trajectory 3", Lifecycle(Kind.RUN_STARTED, "a__b-1", 3)),
    (lifecycle, "instance id a__b-1, trajectory 3, step 7", Lifecycle(Kind.TURN_STARTED, "a__b-1", 3, 7.0)),
    (lifecycle, "Take action: [<class 'CmdRunAction'>]", Lifecycle(Kind.REPLY_PARSED)),
    (lifecycle, "Git patch for instance a__b-1, traj 3:", Lifecycle(Kind.PATCH_PRINTED, "a__b-1", 3)),
    (lifecycle, "Successfully completed instance a__b-1, trajectory 3 in 99.1s", Lifecycle(Kind.RUN_DONE, "a__b-1", 3, 99.1)),
    (lifecycle, L + "Evaluating agent for instance a__b-1, trajectory 3", Lifecycle(Kind.EVAL_STARTED, "a__b-1", 3)),
    (lifecycle, L + "[a__b-1, 3] Evaluation process started with PID: 12", Lifecycle(Kind.EVAL_TESTS_STARTED, "a__b-1", 3)),
    (lifecycle, L + "[a__b-1, 3] [30s] Evaluation still running, waiting...", Lifecycle(Kind.EVAL_POLLED, "a__b-1", 3, 30.0)),
    (lifecycle, L + "[a__b-1, 3] Evaluation process completed after 30.15 seconds", Lifecycle(Kind.EVAL_TESTS_DONE, "a__b-1", 3, 30.15)),
    (lifecycle, L + "Failed to evaluate traj 3 for instance a__b-1: Evaluation timed out after 1200 seconds", Lifecycle(Kind.EVAL_FAILED, "a__b-1", 3, text="Evaluation timed out after 1200 seconds")),
    (lifecycle, "Successfully completed evaluating instance a__b-1, trajectory 3 in 45.0s", Lifecycle(Kind.EVAL_DONE, "a__b-1", 3, 45.0)),
    (lifecycle, L + "Waiting for 9 (init: 1, run: 4, eval: 4) remaining tasks to complete", Lifecycle(Kind.REMAINING_TASKS, value=9.0, text="(init: 1, run: 4, eval: 4)")),
    (lifecycle, "12:00:05 - openhands:ERROR: codeact.py:1359 - Timeout reached: 8 tasks did not finish within 900s . Cancelling", Lifecycle(Kind.STEP_TIMED_OUT, value=8.0, text="900s")),
    (lifecycle, L + "Trimmed 0.0% of samples in the batch of size 256", Lifecycle(Kind.BATCH_TRIMMED, value=256.0)),
    (lifecycle, "max eval parallel agents:  20", Lifecycle(Kind.EVAL_WORKERS, value=20.0)),
    (lifecycle, "INFO:/opt/x/async_rollout.py:nodedup finish generate seq torch.distributed.get_rank()=1", Lifecycle(Kind.GENERATE_FINISHED, value=1.0)),
    (lifecycle, "12:00:05 - openhands:INFO: codeact.py:835 - Using instance container image: docker.io/x/y. Please make sure", Lifecycle(Kind.SANDBOX_REQUESTED, value=835.0, text="docker.io/x/y")),
    (lifecycle, L + "[runtime session_id=s1 runtime_id=unknown] Runtime is ready.", Lifecycle(Kind.SANDBOX_READY, "s1", text="unknown")),
    (sglang, "[2025-05-20 12:00:05 TP0] Decode batch. #running-req: 13, #token: 81234, token usage: 0.04, gen throughput (token/s): 612.33, #queue-req: 2", LlmSample("sglang", "decode", 13, 2, 0.04, 612.33, replica="TP0")),
    (sglang, "[2025-05-20 12:00:05 DP1 TP0] Decode batch, #running-req: 13, #token: 81, token usage: 0.97, cuda graph: True, gen throughput (token/s): 6.00, #queue-req: 0, ", LlmSample("sglang", "decode", 13, 0, 0.97, 6.0, replica="DP1 TP0")),
    (sglang, "[2025-05-20 12:00:05] Prefill batch. #new-seq: 1, #new-token: 512, #cached-token: 8000, token usage: 0.04, #running-req: 12, #queue-req: 1", LlmSample("sglang", "prefill", 12, 1, 0.04)),
    (sglang, "[2025-05-20 12:00:05 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 9, #new_tokens_gained: 651", LlmSample("sglang", "retract", retracted=9, replica="TP0")),
    (vllm, "INFO 05-20 12:00:05 [loggers.py:87] Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 500.0 tokens/s, Running: 12 reqs, Waiting: 3 reqs, GPU KV cache usage: 3.2%, Prefix cache hit rate: 80.1%", LlmSample("vllm", "stats", 12, 3, 0.032, 500.0, replica="Engine 000")),
    (vllm, "INFO 05-20 12:00:05 [metrics.py:486] Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 5.0 tokens/s, Running: 1 reqs, Swapped: 2 reqs, Pending: 3 reqs, GPU KV cache usage: 50.0%, CPU KV cache usage: 0.0%.", LlmSample("vllm", "stats", 1, 5, 0.5, 5.0)),
    (verl, "step:12 - timing_s/gen:12.5 - perf/throughput:1e3 - train_reward/all:-0.25", StepMetrics(12, (("timing_s/gen", 12.5), ("perf/throughput", 1000.0), ("train_reward/all", -0.25)))),
    (verl, "Training Progress:   1%|x         | 1/100 [12:34<20:11:22, 734.21s/it]", Progress("Training Progress", 1, 100)),
    (depth, "[12:00:05] init_queue=30 run_queue: 4, eval_queue.qsize()=2", DepthSample(30, 4, 2)),
    (depth, '{"t": 1.5, "init_queue": 30, "run_queue_size": 4}', DepthSample(30, 4, None)),
    (sandbox_server, "12:00:05 - remote_runtime_server:INFO: main.py:231 - /start finished in 35.3s", SandboxServer("POST /start", None, 35.3, "finished in 35.3s")),
    (sandbox_server, 'INFO:     10.0.0.4:51022 - "POST /start HTTP/1.1" 500 Internal Server Error', SandboxServer("POST /start", 500, None, "Internal Server Error")),
    (containers, 'time="2025-05-20T12:00:05Z" level=info msg="Pulled image \\"docker.io/x/y\\" with id sha256:1 in 45.1s"', ClusterEvent("Pulled", image="docker.io/x/y", cached=False, seconds=45.1, text='Pulled image \\"docker.io/x/y\\" with id sha256:1 in 45.1s')),
    (containers, "Status: Image is up to date for x/y:1", ClusterEvent("Pulled", image="x/y:1", cached=True, text="Status: Image is up to date for x/y:1")),
    (skyrl_agent, "2025-11-01 12:00:05.123 | INFO     | a.b:run:12 - Running cleanup for run agent task for instance a__b-1, trajectory 3", Lifecycle(Kind.RUN_DONE, "a__b-1", 3)),
    (skyrl_agent, "Initialization tasks completed. Waiting for run tasks to complete...", Lifecycle(Kind.PHASE_DRAINED, text="init")),
    (skyrl_agent, "Successfully evaluated instance a__b-1, trajectory 3 with reward 1.0", Lifecycle(Kind.EVAL_DONE, "a__b-1", 3, text="1.0")),
]  # fmt: skip


@pytest.mark.parametrize(("module", "line", "body"), LINES, ids=[f"{m.__name__.rpartition('.')[2]}-{n}" for n, (m, _, _) in enumerate(LINES)])  # fmt: skip
def test_each_form_is_understood_to_the_field(module: ModuleType, line: str, body: Body) -> None:
    parsed = module.parse(line)
    assert parsed is not None
    assert parsed.body == body
    assert registry.HINT.search(line), "no hint of its module stands in the line, so it would never be tried"
    if "12:00:05" in line and module is not sandbox_server:
        assert parsed.stamp is not None
        assert parsed.stamp.seconds % 86400 == pytest.approx(43205, abs=0.2)


@pytest.mark.parametrize("module", MODULES, ids=[m.__name__.rpartition(".")[2] for m in MODULES])
@given(text=st.one_of(st.text(max_size=120), st.sampled_from([line for _, line, _ in LINES]).flatmap(lambda s: st.builds(lambda a, b: s[:a] + s[b:], st.integers(0, len(s)), st.integers(0, len(s))))))  # fmt: skip
def test_no_text_stops_a_format(module: ModuleType, text: str) -> None:
    module.parse(text)


@pytest.mark.parametrize(
    "line",
    [
        '+    print("instance id a__b-1, trajectory 0, step 1")',
        "the words Decode batch. #running-req: 3 in prose",
        "see step:1 - of the recipe",
        "the init_queue is full",
        "Running: 3 reqs",
        "25:00:05 is no time",
        'INFO:     127.0.0.1:51022 - "POST /generate HTTP/1.1" 200 OK',
    ],
)
def test_look_alikes_are_nothing(line: str) -> None:
    assert registry.parse_line(line) is None
