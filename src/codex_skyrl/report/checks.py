"""For a queue that is high: the three likeliest causes and, for each, a command that only reads and tells."""

from dataclasses import dataclass

from codex_skyrl.report.model import Cause, Stage
from codex_skyrl.text import Text


@dataclass(frozen=True, slots=True)
class Check:
    """`causes`: the words of the verdict that this cause goes by; `command` confirms or refutes it."""

    causes: tuple[Cause, ...]
    what: Text
    command: str


_CHECKS: dict[Stage, tuple[Check, ...]] = {
    "init": (
        Check(("image_pull", "cache_miss"), Text("images are pulled for every start", "每次启动都在拉镜像"),
              "kubectl get events -A --field-selector reason=Pulled --sort-by=.lastTimestamp | grep -vc 'already present'"),
        Check(("container_start",), Text("the container runtime starts slowly, or too many start at once", "容器运行时启动慢，或同时启动太多"),
              "kubectl get pods -A --sort-by=.metadata.creationTimestamp -o wide | tail -50"),
        Check(("sandbox_errors", "hang"), Text("starts fail and are tried again", "启动失败并重试"),
              "grep -aE 'Failed to initialize|Unable to start runtime|503|429' rollout.log | sort | uniq -c | sort -rn | head"),
    ),
    "eval": (
        Check(("few_workers",), Text("too few evaluators for the tests", "评测 worker 太少"),
              "grep -a 'max eval parallel agents' rollout.log | tail -1"),
        Check(("test_time", "patch_apply"), Text("test suites take long", "测试套件耗时长"),
              "grep -aoE 'completed evaluating instance [^ ]+ trajectory [0-9]+ in [0-9.]+s' rollout.log | sort -k8 | tail"),
        Check(("eval_poll", "eval_timeout"), Text("results are looked at too seldom, or failing cases run into the time limit", "轮询间隔太长，或失败用例一直跑到时限"),
              "grep -acE 'timed out after|TimeoutError' rollout.log"),
    ),
}  # fmt: skip


def checks_of(stage: Stage, cause: Cause) -> list[Check]:
    """Those of a stage, the verdict's own cause first; none for run."""
    return sorted(_CHECKS.get(stage, ()), key=lambda check: cause not in check.causes)
