"""What the input lacks, and the command that would collect it; and what would confirm or refute the cause named."""

from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.diagnosis.finding import Finding
from codex_skyrl.logs.event import ClusterEvent
from codex_skyrl.report.model import Cause
from codex_skyrl.text import Text

Need = tuple[Text, str]  # what, command

_LIFECYCLE: Need = (
    Text("the rollout log (stdout and stderr of the training job)", "rollout 日志（训练任务的 stdout 和 stderr）"),
    "PYTHONUNBUFFERED=1 RAY_DEDUP_LOGS=0 bash run.sh 2>&1 | tee rollout.log",
)
_DEDUP: Need = (
    Text(
        "ids of lines that Ray swallowed: with de-duplication on, counts are kept but most ids are lost",
        "被 Ray 去重吞掉的行的 id：开启去重时数量还在，但大部分 id 丢失",
    ),
    "export RAY_DEDUP_LOGS=0",
)
_SERVER: Need = (
    Text("the LLM server's load lines (running and queued requests)", "LLM 服务的负载日志（运行数和排队数）"),
    "grep -aE 'Decode batch|Prefill batch|Avg prompt throughput' server.log > llm_server.log",
)
_GPU: Need = (
    Text("GPU utilisation over the same time", "同一时段的 GPU 利用率"),
    "nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used --format=csv -l 5 > gpu.csv",
)
_CLUSTER: Need = (
    Text(
        "image pulls and container starts (events are kept for one hour only)",
        "镜像拉取和容器启动事件（事件只保留一小时）",
    ),
    "kubectl get events -A -o json > k8s_events.json",
)
_START: Need = (
    Text("the beginning of the step: the log starts inside it", "step 的开头：日志从 step 中间开始"),
    "cat rollout.log.1 rollout.log > whole.log",
)
_END: Need = (
    Text("the end of the step: the log stops inside it", "step 的结尾：日志在 step 中间结束"),
    "tail -F rollout.log",
)

_CHECKS: dict[Cause, list[Need]] = {
    "image_pull": [
        (
            Text("confirm: are images pulled again and again on the same nodes?", "确认：同一节点是否反复拉取镜像"),
            "kubectl get events -A --field-selector reason=Pulled --sort-by=.lastTimestamp",
        ),
        (
            Text("confirm: is the node's disk the limit while it unpacks?", "确认：解包时节点磁盘是否打满"),
            "iostat -x 5 12",
        ),
        (
            Text("confirm: do pods wait for a node instead of an image?", "确认：Pod 是在等节点还是在等镜像"),
            "kubectl get events -A --field-selector reason=FailedScheduling",
        ),
    ],
    "sandbox_errors": [
        (
            Text("confirm: what does the sandbox server answer?", "确认：沙箱服务端返回了什么"),
            "grep -aE 'Unable to start runtime|Runtime failed|503|429' rollout.log | sort | uniq -c | sort -rn | head",
        ),
        (
            Text("confirm: do pods fail, or is the server overloaded?", "确认：是 Pod 失败还是服务端过载"),
            "kubectl get events -A --field-selector type=Warning --sort-by=.lastTimestamp",
        ),
    ],
    "eval_poll": [
        (
            Text(
                "confirm: printed test times are multiples of the poll period", "确认：打印的测试时长是轮询间隔的整数倍"
            ),
            "grep -aoE 'Evaluation process completed after [0-9.]+' rollout.log | sort | uniq -c | sort -rn | head",
        )
    ],
    "test_time": [
        (
            Text("confirm: which instances' tests take longest?", "确认：哪些实例的测试最久"),
            "grep -aE 'Evaluation process completed after' rollout.log | sort -t' ' -k8 -n | tail",
        )
    ],
    "eval_timeout": [
        (
            Text("confirm: which evaluations time out every time?", "确认：哪些评测每次都超时"),
            "grep -aE 'Evaluation timed out' rollout.log | grep -aoE 'instance [^,]+' | sort | uniq -c | sort -rn",
        )
    ],
    "llm_saturated": [
        (
            Text(
                "confirm: do requests queue, or does each one just decode slowly?", "确认：请求在排队，还是每个都解码慢"
            ),
            "grep -aoE '#running-req: [0-9]+|#queue-req: [0-9]+' server.log | sort | uniq -c | sort -rn | head",
        )
    ],
    "kv_cache_full": [
        (
            Text("confirm: how often are requests pushed out?", "确认：请求被撤回的频率"),
            "grep -ac 'Retract requests' server.log",
        )
    ],
}
_CHECKS["cache_miss"] = _CHECKS["container_start"] = _CHECKS["image_pull"]


def needs_of(case: Case, verdict: Finding) -> list[Need]:
    """Checks of the cause named first, then what was not there to read; the most useful first."""
    needs: list[Need] = []
    if not case.steps:
        needs.append(_LIFECYCLE)
    needs += _CHECKS.get(verdict.cause, [])
    if any(s.truncated for s in case.steps):
        needs.append(_START)
    if case.steps and not case.steps[-1].finished and verdict.cause != "hang":
        needs.append(_END)
    if case.run.folded:
        needs.append(_DEDUP)
    if not case.run.llm:
        needs.append(_SERVER)
    if not case.run.gpu:
        needs.append(_GPU)
    if not case.run.bodies(ClusterEvent) and verdict.bottleneck in ("init", "eval", "unknown"):
        needs.append(_CLUSTER)
    return needs
