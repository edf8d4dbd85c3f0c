"""Text in a log that speaks to its reader: an instruction to a model is no evidence of anything."""

import re

_SPEAKS = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|above|prior|earlier|all|any|your|these|the)\b[^.\n]{0,30}"
    r"\b(?:instruction|prompt|rule|message|context|evidence|guideline)s?\b|"
    r"\b(?:you are|you're) (?:now |a |an |the )?(?:assistant|ai|model|chatgpt|gpt|codex|helpful|language model)\b|"
    r"\b(?:as an ai|dear (?:model|assistant)|note to (?:the )?(?:model|assistant|reviewer|llm|ai)|attention[,:]? (?:model|assistant|llm|ai))\b|"
    r"<\|?(?:im_start|system|assistant|endoftext)\|?>|\[/?INST\]|(?:^|[\s>])(?:system|assistant|developer)\s*:\s*\w|"
    r"\b(?:report|answer|reply|respond|say|state|conclude|tell (?:the )?user|output)\b[^.\n]{0,24}\b(?:that|with|only|exactly)\b[^.\n]{0,60}"
    r"\b(?:healthy|no bottleneck|bottleneck is|nothing (?:is )?wrong|cause is|verified|all good|fine)\b|"
    r"\b(?:the )?(?:correct|right|true|final) (?:answer|verdict|diagnosis) is\b|"
    r"(?:忽略|无视)(?:以上|之前|上面|前面|所有|全部)?.{0,8}(?:指令|指示|提示|规则|内容)|你(?:现在)?是.{0,6}(?:助手|模型|AI)|请(?:回答|回复|报告|输出|声明).{0,20}(?:健康|正常|没有瓶颈|瓶颈是)"
)  # fmt: skip

_JUDGES = re.compile(
    r"(?i)\b(?:bottleneck|root cause|culprit)\b[^.\n]{0,20}\b(?:is|are|was|:|=)|\bno bottleneck\b|\bnote (?:to|for) (?:the )?\w+\s*:|"
    r"\b(?:diagnosis|verdict)\s*[:=]|\byou (?:should|must)\b|瓶颈(?:是|在于|为)|没有瓶颈|根因是|请(?:将|把)"
)  # fmt: skip


def judges(line: str) -> bool:
    """Whether a log line states a diagnosis: no program of the pipeline does, so somebody wrote it for a reader."""
    return _JUDGES.search(line) is not None


def speaks_to_reader(text: str) -> bool:
    """Whether a quotation addresses whoever reads it, as a prompt injection does."""
    return _SPEAKS.search(text) is not None
