"""Asks a model about a diagnosis and puts its checked answer beside our verdict; the verdict itself never changes."""

from codex_skyrl.context.prompt import render_prompt
from codex_skyrl.llm.ask import Limits, ask
from codex_skyrl.llm.provider import Key, Provider
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.report.verify import verify
from codex_skyrl.report.wire import WireReport


def consult(diagnosis: Diagnosis, provider: Provider, key: Key, limits: Limits | None = None) -> Diagnosis:
    """The same diagnosis with the model's verified report.

    Raises:
        ModelError: when the model could not be asked or gave nothing usable.
    """
    answer = ask(render_prompt("diagnose", diagnosis), WireReport, provider, key, limits)
    report = verify(answer.value, diagnosis).model_copy(
        update={
            "model": answer.model,
            "notes": list(answer.notes),
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
        }
    )
    return diagnosis.model_copy(update={"engine": "api", "report": report})
