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

from codex_skyrl.llm.codex_words import cause_of, last_words
from codex_skyrl.processes import run
from codex_skyrl.setup.codex import Codex
from codex_skyrl.text import Text

_LIMIT_S = 90.0
_NAMED = re.compile(r"^(provider|model): (.+)$", re.MULTILINE)


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
    words = last_words(ran.stderr)
    if ran.timed_out:
        what = Text(
            f"Codex did not end within {limit_s:.0f} s; it waits for ever when the gateway can't be reached",
            f"Codex 在 {limit_s:.0f} 秒内没有结束；网关连不上时它会一直等待",
        )
    elif nonce not in ran.stdout:
        what = cause_of(ran.stderr, ran.code)
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
