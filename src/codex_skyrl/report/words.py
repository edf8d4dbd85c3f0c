"""Every fixed word a report shows, in both languages. No figures, no layout, nothing of a particular run."""

from collections.abc import Mapping

from codex_skyrl.report.model import Bottleneck, Cause
from codex_skyrl.text import Text

BOTTLENECK = Text("Bottleneck", "瓶颈")
CAUSE = Text("Cause", "原因")
TRY_FIRST = Text("Try first", "先试")
COLLECT_FIRST = Text("Collect first", "先采集")

WHY = Text("Why", "依据")
NAIVE = Text("What the deepest queue alone would have said", "只看最深的队列会怎么判断")
ALSO = Text("Also found", "其他发现")
STEPS = Text("Steps", "各 step")
TIMELINE = Text("Queues and workers over time", "队列与 worker 随时间的变化")
QUEUES = Text("Queues", "队列")
STAGES = Text("Stages", "各阶段")
MATRIX = Text("Diagnosis matrix", "诊断矩阵")
EXPERIMENTS = Text("One experiment to try (not run)", "建议的实验（尚未实测）")
MISSING = Text("What is missing, and how to collect it", "还缺什么，怎么采集")
INPUTS = Text("Read", "读取的文件")
FURTHER = Text("Further evidence", "其余依据")
CODE = Text("Workers and waits in the code of this checkout", "代码里的 worker 与等待（本 checkout）")
SHARED = Text("all stages", "各阶段共用")
MODEL = Text("What the model says", "模型的回答")

STEP = Text("Step", "step")
MAKESPAN = Text("Makespan", "总时长")
BOUNDS = Text("Between", "范围")
TRAJECTORIES = Text("Trajectories", "轨迹数")
FAILED = Text("Failed", "失败")
QUEUE = Text("Queue", "队列")
MAX_DEPTH = Text("Max depth", "最大深度")
MEAN_DEPTH = Text("Mean depth", "平均深度")
MEAN_WAIT = Text("Mean wait", "平均等待")
CONSUMED = Text("Consumed", "消费速率")
SOURCE = Text("Depths are", "深度来源")
STAGE = Text("Stage", "阶段")
WORKERS = Text("Workers", "worker 数")
BUSY = Text("Busy", "忙碌")
BLOCKED = Text("Blocked", "阻塞")
STARVED = Text("Starved", "空等")
SERVICE_P50 = Text("Service p50", "服务时间 p50")
SERVICE_P95 = Text("p95", "p95")
COMPLETED = Text("Completed", "完成")
SIGNS = Text("Signs", "现象")
MATCHED = Text("Matched", "是否符合")
EVIDENCE = Text("Evidence", "依据")
YES = Text("yes", "符合")
NO = Text("no", "不符合")

BLOCKED_LEGEND = Text("blocked by the next queue", "被下游队列阻塞")
STARVED_LEGEND = Text("starved: nothing to take", "空等：没有任务可取")
NO_QUEUE_FIGURES = Text("This input gives no queue figures.", "这些输入推不出队列数据。")
NO_STAGE_FIGURES = Text("This input gives no stage figures.", "这些输入推不出各阶段的数据。")
NO_STEPS = Text("No step could be told apart.", "没能从输入中分出任何一个 step。")
NOT_LISTED = Text("(not in the evidence list)", "（依据列表中没有这一条）")

STATED = Text("stated", "日志写明")
RECONSTRUCTED = Text("reconstructed", "重建")

ENGINE = Text("Engine", "分析方式")
OFFLINE = Text("offline, no model was asked", "离线，未询问模型")
API = Text("the model was asked over the API", "通过 API 询问了模型")
CODEX = Text("the model was asked through Codex", "通过 Codex 询问了模型")

VERIFIED = Text("verified", "已核实")
UNVERIFIED = Text("UNVERIFIED", "未核实")
AGREES = Text("It agrees with the verdict above.", "与上面的结论一致。")
ITS_SUMMARY = Text("Its summary (figures verified)", "模型的总结（数字已核实）")
ITS_SUMMARY_UNVERIFIED = Text("Its summary (UNVERIFIED)", "模型的总结（未核实）")
ITS_EXPERIMENT = Text("Its experiment (verified)", "模型建议的实验（已核实）")
ITS_EXPERIMENT_UNVERIFIED = Text("Its experiment (UNVERIFIED)", "模型建议的实验（未核实）")
CONFIRM = Text("Confirm", "验证命令")
PREDICTED = Text("Predicted", "预期")
COMPARE = Text("Compare", "对比")
NOTE = Text("Note", "说明")

BOTTLENECKS: Mapping[Bottleneck, Text] = {
    "init": Text("initialisation (init)", "初始化（init）"),
    "run": Text("agent runs (run)", "Agent 运行（run）"),
    "eval": Text("evaluation (eval)", "评测（eval）"),
    "saturated": Text("all stages near full", "三个阶段都接近满载"),
    "sync": Text("no overlap (sync)", "各阶段无法重叠（sync）"),
    "supply": Text("too little work (supply)", "供给不足（supply）"),
    "straggler": Text("the tail (straggler)", "step 的长尾（straggler）"),
    "trainer": Text("training, not rollout", "训练侧，不在 rollout"),
    "healthy": Text("none, the rollout is healthy", "无，rollout 状态正常"),
    "unknown": Text("not decided by this evidence", "现有证据不足以判定"),
}

CAUSES: Mapping[Cause, Text] = {
    "image_pull": Text("image pulls", "拉取镜像"),
    "cache_miss": Text("cache misses", "镜像缓存未命中"),
    "container_start": Text("container start", "容器启动慢"),
    "sandbox_errors": Text("sandbox errors", "沙箱报错"),
    "llm_saturated": Text("LLM server full", "LLM 服务满载"),
    "kv_cache_full": Text("KV cache full", "KV cache 已满"),
    "llm_routing": Text("uneven LLM routing", "LLM 请求分配不均"),
    "llm_stall": Text("LLM server stalls", "LLM 服务停顿"),
    "env_slow": Text("slow sandbox actions", "沙箱内动作执行慢"),
    "max_iterations": Text("too many turns", "轮数过多"),
    "test_time": Text("slow test suites", "测试套件耗时长"),
    "eval_timeout": Text("test timeout too long", "测试超时设得过长"),
    "eval_poll": Text("coarse test polling", "测试结果轮询间隔过长"),
    "patch_apply": Text("slow patch application", "打补丁慢"),
    "few_workers": Text("too few workers", "worker 太少"),
    "thread_cap": Text("thread pool cap", "线程池上限"),
    "blocked_loop": Text("blocked event loop", "事件循环被阻塞"),
    "llm_wakeup": Text("LLM answers seen late", "LLM 应答唤醒滞后"),
    "barrier": Text("hidden barrier", "隐藏的同步屏障"),
    "hang": Text("the step hangs", "step 卡死"),
    "small_batch": Text("batch too small", "batch 太小"),
    "straggler": Text("long trajectories", "少数轨迹特别长"),
    "slow_rank": Text("one slow rank", "个别 rank 偏慢"),
    "training_side": Text("training side", "训练侧"),
    "mixed": Text("mixed", "多个原因叠加"),
    "none": Text("none", "无"),
}

CONFIDENCE_LABEL = Text("Confidence", "置信度")

# From at least this confidence on, in falling order.
CONFIDENCE: tuple[tuple[float, Text], ...] = (
    (0.9, Text("very likely", "很有把握")),
    (0.75, Text("likely", "较有把握")),
    (0.5, Text("plausible", "有可能")),
    (0.0, Text("only a hint", "仅供参考")),
)

# Keys a matrix row may carry instead of a sentence.
MATRIX_ROWS: Mapping[str, Text] = {
    "init": Text("init_queue high, run_queue low", "init_queue 高，run_queue 低"),
    "run": Text("run_queue high, eval_queue low", "run_queue 高，eval_queue 低"),
    "eval": Text("eval_queue high", "eval_queue 高"),
    "saturated": Text("all three high", "三个队列都高"),
    "supply": Text("all three low, GPU idle", "三个队列都低，GPU 空闲"),
}

QUESTIONS: Mapping[int, Text] = {
    1: Text("The three queues: depth, wait, consumption rate", "三个队列：深度、等待、消费速率"),
    2: Text("Workers, where they pull, where they block", "各阶段 worker：数量、取任务处、阻塞点"),
    3: Text("Does a barrier break the asynchronous rollout?", "异步 rollout 是否被同步点打断"),
    4: Text("If init_queue is high: the likeliest causes", "init_queue 偏高时最可能的原因"),
    5: Text("If eval_queue is high: the likeliest causes", "eval_queue 偏高时最可能的原因"),
    6: Text("One minimal experiment", "一个最小实验"),
}
NOT_READ = Text("not read", "未读取")
