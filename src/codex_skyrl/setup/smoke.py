"""One request through the real Codex with a written configuration, and proof that this provider answered it.

Codex runs read-only in an empty folder with a home of its own that holds only the configuration, so nothing of the user's
is touched or decides. Proof: a nonce that only the answer can repeat, and the provider and model that Codex names.
"""

import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.context.redact import redact
from codex_skyrl.setup.codex import Codex, run
from codex_skyrl.text import Text

_LIMIT_S = 90.0
_NAMED = re.compile(r"^(provider|model): (.+)$", re.MULTILINE)
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Smoke:
    """`passed`, what Codex says it used, and on failure our cause beside Codex's own words."""

    passed: bool
    provider: str | None
    model: str | None
    what: Text
    codex_words: str = ""


def smoke_through_codex(
    codex: Codex, config: Path, provider: str, env: Mapping[str, str], limit_s: float = _LIMIT_S
) -> Smoke:
    """Run `codex exec` once with this configuration; at most `limit_s` seconds."""
    nonce = f"NONCE-{secrets.token_hex(6)}"
    home = Path(tempfile.mkdtemp(prefix="codex-skyrl-smoke-"))
    try:
        shutil.copyfile(config, home / "config.toml")
        (home / "work").mkdir()
        command = [codex.path, "exec", "--skip-git-repo-check", "-s", "read-only", "--color", "never", "-"]
        prompt = f"Reply only with this word and nothing else: {nonce}"
        ran = run(command, {**env, "CODEX_HOME": str(home)}, prompt, limit_s, home / "work")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    named = dict(_NAMED.findall(ran.stderr))
    used, model = named.get("provider"), named.get("model")
    words = _last_words(ran.stderr)
    if ran.timed_out:
        what = Text(
            f"Codex did not end within {limit_s:.0f} s; it waits for ever when the gateway can't be reached",
            f"Codex 在 {limit_s:.0f} 秒内没有结束；网关连不上时它会一直等待",
        )
    elif nonce not in ran.stdout:
        what = _cause(ran.stderr, ran.code)
    elif used != provider:
        what = Text(
            f"the answer came from provider {used!r}, not {provider!r}",
            f"回答来自 provider {used!r}，而不是 {provider!r}",
        )
    else:
        return Smoke(
            True,
            used,
            model,
            Text(
                f"Codex {codex.shown} answered through {used} with {model}",
                f"Codex {codex.shown} 已通过 {used} 用 {model} 作答",
            ),
        )
    return Smoke(False, used, model, what, words)


# Codex's words, and what they usually mean. It often speaks about the wrong thing.
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


def _cause(stderr: str, code: int | None) -> Text:
    for pattern, en, zh in _CAUSES:
        if re.search(pattern, stderr):
            return Text(en, zh)
    if code == 0:
        return Text("Codex ended without the answer that was asked for", "Codex 结束了，但没有给出要求的回答")
    return Text(f"Codex ended with exit code {code}", f"Codex 以退出码 {code} 结束")


def _last_words(stderr: str) -> str:
    """Codex's own error lines, redacted and short."""
    lines = [line.strip() for line in stderr.splitlines() if re.match(r"\s*(?:ERROR|Error)", line)]
    return redact(" ".join(dict.fromkeys(lines)))[:_SHOWN]
