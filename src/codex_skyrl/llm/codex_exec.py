"""`ask` through the real Codex CLI: `codex exec` in the checkout, read-only, with the schema of the answer.

Codex may read more of the repository by itself. The key is hidden from the commands that the model runs, the time limit
and the process group are ours, and text counts only after Codex says that its turn is complete.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from codex_skyrl.context.redact import redact
from codex_skyrl.errors import ModelError
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.codex_words import cause_of, last_words
from codex_skyrl.llm.schema import wire_schema
from codex_skyrl.llm.validate import NoAnswerError, validated
from codex_skyrl.processes import Ran, run
from codex_skyrl.text import Lang

Model = TypeVar("Model", bound=BaseModel)
_MOST_CHARACTERS = 1_048_576  # Codex refuses longer input
_LIMIT_S = 900.0
_COMMAND_SHOWN = 100  # characters
Progress = Callable[[str], None]  # one command that Codex runs, redacted


@dataclass(slots=True)
class _Turn:
    """What the event stream said so far."""

    text: str = ""
    complete: bool = False
    error: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


def ask_codex(
    prompt: str, schema: type[Model], binary: str, env: Mapping[str, str], env_key: str, checkout: Path, lang: Lang,
    limit_s: float = _LIMIT_S, progress: Progress | None = None,
) -> Answer[Model]:  # fmt: skip
    """Put one question through Codex and return the validated answer. `progress` hears what Codex does meanwhile.

    Raises:
        ModelError: when Codex fails, does not end in time, or its answer does not fit the schema.
    """
    if len(prompt) > _MOST_CHARACTERS:
        raise ModelError(f"the prompt has {len(prompt):,} characters; Codex takes {_MOST_CHARACTERS:,}.")
    with tempfile.TemporaryDirectory(prefix="codex-skyrl-ask-") as scratch:
        file = Path(scratch) / "schema.json"
        file.write_text(json.dumps(wire_schema(schema)), encoding="utf-8")
        command = [
            binary, "exec", "--json", "--ephemeral", "--skip-git-repo-check", "-s", "read-only", "--output-schema", str(file),
            "-c", f'shell_environment_policy.exclude=["{env_key}"]', "-C", str(checkout), "-",
        ]  # fmt: skip
        ran = run(command, env, prompt, limit_s, on_line=_heard(progress))
    turn = _read(ran.stdout)
    if ran.timed_out:
        raise ModelError(
            f"Codex did not end within {limit_s:.0f} s.", fix="Check the gateway: codex-skyrl setup --dry-run"
        )
    if not turn.complete or ran.code != 0:
        raise ModelError(f"Codex failed: {_why(ran, turn, lang)}", fix="Check the configuration: codex-skyrl check")
    try:
        value, notes = validated(turn.text, schema)
    except NoAnswerError as misfit:
        raise ModelError(f"Codex's answer does not fit the schema: {misfit}") from None
    return Answer(value, "through Codex", turn.input_tokens, turn.output_tokens, tuple(notes))


def _why(ran: Ran, turn: _Turn, lang: Lang) -> str:
    """Our cause, with Codex's own words behind it."""
    said = f"{ran.stderr}\n{turn.error}"
    words = last_words(ran.stderr) or redact(turn.error)[:200]
    cause = cause_of(said, ran.code).to(lang)
    return f"{cause} ({words})." if words else f"{cause}."


def _heard(progress: Progress | None) -> Callable[[str], None] | None:
    """Each command goes to `progress` when it starts."""
    if progress is None:
        return None

    def hear(line: str) -> None:
        event = _event(line)
        item = event.get("item")
        if event.get("type") == "item.started" and isinstance(item, dict) and item.get("type") == "command_execution":
            command = redact(" ".join(str(item.get("command") or "").split()))
            progress(command if len(command) <= _COMMAND_SHOWN else command[: _COMMAND_SHOWN - 1] + "…")

    return hear


def _event(line: str) -> dict[str, Any]:
    """One event of the stream; empty when the line is none."""
    try:
        event: Any = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _read(stdout: str) -> _Turn:
    """The events of a run, one JSON object a line; the last message before the turn's end is the answer."""
    turn = _Turn()
    for line in stdout.splitlines():
        event = _event(line)
        kind, item = event.get("type"), event.get("item")
        if kind == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
            turn.text = str(item.get("text") or "")
        elif kind == "turn.completed":
            usage = event.get("usage") or {}
            turn.complete = True
            turn.input_tokens, turn.output_tokens = usage.get("input_tokens"), usage.get("output_tokens")
        elif kind == "turn.failed":
            turn.error = str((event.get("error") or {}).get("message") or "")
    return turn
