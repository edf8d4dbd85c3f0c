"""What Codex's own error messages usually mean: it often speaks about the wrong thing."""

import re

from codex_skyrl.context.redact import redact
from codex_skyrl.text import Text

_SHOWN = 300

_CAUSES = (
    (r'wire_api = "chat"` is no longer supported', "this Codex needs /responses; the configuration says chat", "该版本 Codex 需要 /responses，而配置写的是 chat"),
    (r"Missing environment variable", "the key's variable is not set in this process", "当前进程没有设置 key 变量"),
    (r"stream closed before response\.completed", "the gateway sent something other than a Responses stream: a web page, JSON, or a cut stream", "网关返回的不是 Responses 流：可能是网页、JSON 或被截断的流"),
    (r"high demand", "the gateway answered 500; it is its own fault", "网关返回 500，是网关自身的问题"),
    (r"status 401|status 403", "the gateway refuses the key, or no key was sent", "网关拒绝了 key，或者根本没有发送 key"),
    (r"status 404", "there is no /responses under this base URL", "该 base_url 下没有 /responses"),
    (r"Model provider `.*` not found", "model_provider names no table", "model_provider 没有对应的表"),
    (r"429|usage limit|Quota exceeded", "the gateway limits this key", "网关限制了该 key"),
    (r"waiting for network|error sending request|builder error", "the gateway can't be reached at this address", "该地址连不上网关"),
    (r"Error loading config\.toml", "Codex can't read the configuration", "Codex 无法读取配置"),
    (r"stream disconnected before completion", "the gateway reports a failure in its stream, or breaks it off", "网关在流中报告了失败，或中断了流"),
)  # fmt: skip


def cause_of(stderr: str, code: int | None) -> Text:
    """Our cause for a failed run, from what stands on its stderr."""
    for pattern, en, zh in _CAUSES:
        if re.search(pattern, stderr):
            return Text(en, zh)
    if code == 0:
        return Text("Codex ended without the answer that was asked for", "Codex 结束了，但没有给出要求的回答")
    return Text(f"Codex ended with exit code {code}", f"Codex 以退出码 {code} 结束")


def last_words(stderr: str) -> str:
    """Codex's own error lines, redacted and short."""
    lines = [line.strip() for line in stderr.splitlines() if re.match(r"\s*(?:ERROR|Error)", line)]
    return redact(" ".join(dict.fromkeys(lines)))[:_SHOWN]
