"""Asks a model about a diagnosis and puts its checked answer beside our verdict; the verdict itself never changes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from codex_skyrl.context.prompt import render_prompt
from codex_skyrl.llm.ask import Answer, Limits, ask
from codex_skyrl.llm.codex_exec import ask_codex
from codex_skyrl.llm.provider import Key, Provider
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.report.verify import verify
from codex_skyrl.report.wire import WireReport


def consult(diagnosis: Diagnosis, provider: Provider, key: Key, limits: Limits | None = None) -> Diagnosis:
    """The same diagnosis with the model's verified report, over the API.

    Raises:
        ModelError: when the model could not be asked or gave nothing usable.
    """
    return _with(diagnosis, "api", ask(render_prompt("diagnose", diagnosis), WireReport, provider, key, limits))


def consult_codex(diagnosis: Diagnosis, binary: str, env: Mapping[str, str], env_key: str, checkout: Path) -> Diagnosis:
    """The same through `codex exec` in the checkout.

    Raises:
        ModelError: when Codex failed or gave nothing usable.
    """
    prompt = render_prompt("diagnose", diagnosis)
    return _with(diagnosis, "codex", ask_codex(prompt, WireReport, binary, env, env_key, checkout, diagnosis.lang))


def _with(diagnosis: Diagnosis, engine: Literal["api", "codex"], answer: Answer[WireReport]) -> Diagnosis:
    report = verify(answer.value, diagnosis).model_copy(
        update={
            "model": answer.model,
            "notes": list(answer.notes),
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
        }
    )
    return diagnosis.model_copy(update={"engine": engine, "report": report})
