"""Which wire the configuration gets: from what the gateway answers and what the installed Codex can speak."""

from dataclasses import dataclass

from codex_skyrl.setup.codex import LAST_WITH_CHAT, Codex
from codex_skyrl.setup.probe import Probe
from codex_skyrl.text import Text


@dataclass(frozen=True, slots=True)
class Choice:
    """`wire` is None when no configuration can start with this Codex and this gateway."""

    wire: str | None
    base_url: str | None
    why: Text


def choose(found: Probe, codex: Codex | None) -> Choice:
    """Responses wherever it works; chat only for a Codex that still speaks it."""
    if found.best is None:
        first = found.bases[0]
        worst = first.responses if first.models.ok else first.models
        return Choice(None, None, Text(f"the gateway does not work: {worst.what.en}", f"网关不可用：{worst.what.zh}"))
    base = found.best.url
    if "responses" in found.wires:
        return Choice("responses", base, Text(f"{base}/responses works", f"{base}/responses 可用"))
    if codex is not None and codex.knows_chat:
        why = Text(
            f"only {base}/chat/completions works, and Codex {codex.shown} still speaks it (0.95 and newer do not)",
            f"只有 {base}/chat/completions 可用，而 Codex {codex.shown} 仍支持它（0.95 及更新版本不支持）",
        )
        return Choice("chat", base, why)
    installed = f"Codex {codex.shown}" if codex else "Codex 0.95 and newer"
    return Choice(None, base, _no_common_wire(base, installed))


def _no_common_wire(base: str, installed: str) -> Text:
    """The ways that are left, the one that works right now first."""
    return Text(
        f"the gateway answers only {base}/chat/completions, which {installed} no longer speaks; a configuration would keep "
        f"Codex from starting. What works: (1) now, without Codex: codex-skyrl diagnose --engine api --wire-api chat "
        f"--base-url {base} --model MODEL; (2) an old Codex: npm install -g @openai/codex@{LAST_WITH_CHAT} (no fixes since "
        f"then, security included); (3) a local bridge from Responses to chat (docs/setup.md); (4) ask the gateway for /responses.",
        f"网关只支持 {base}/chat/completions，而 {installed} 已不再支持；写入配置会让 Codex 无法启动。可行的办法："
        f"(1) 现在就可用、不经 Codex：codex-skyrl diagnose --engine api --wire-api chat --base-url {base} --model MODEL；"
        f"(2) 旧版 Codex：npm install -g @openai/codex@{LAST_WITH_CHAT}（此后的修复都没有，包括安全修复）；"
        f"(3) 本地搭一个 Responses 到 chat 的转换代理（见 docs/setup.md）；(4) 请网关方提供 /responses。",
    )
