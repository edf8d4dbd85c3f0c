"""Asks a model about a diagnosis and puts its checked answer beside our verdict; the verdict itself never changes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from codex_skyrl.checkout.facts import Checkout
from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.checkout.released import RELEASED
from codex_skyrl.context.mask import Masker
from codex_skyrl.context.pack import Pack
from codex_skyrl.context.redact import redact
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.exchanges import Exchange, Exchanges, key_of_exchange
from codex_skyrl.llm.schema import wire_schema
from codex_skyrl.moment import now_utc
from codex_skyrl.report.known import Known, settings_of
from codex_skyrl.report.model import Diagnosis, ModelReport
from codex_skyrl.report.verify import verify
from codex_skyrl.report.wire import WireReport
from codex_skyrl.text import Text
from codex_skyrl.whatif.knobs import KNOBS

Asker = Callable[[str], Answer[WireReport]]


@dataclass(frozen=True, slots=True)
class Engine:
    """Who is asked: `name` with model and address as part of an exchange's key, and the call that asks."""

    name: Literal["api", "codex"]
    identity: str
    ask: Asker


def consult(
    packed: Pack, known: Known, engine: Engine, exchanges: Exchanges | None = None, *, masker: Masker | None = None,
    cached: bool = True,
) -> Diagnosis:  # fmt: skip
    """The diagnosis with the model's verified report. Of figures and functions that only the pack held, the cited stay.

    `exchanges` keeps the answer, and with `cached` gives the one that was kept for the very same question.

    Raises:
        ModelError: when the model could not be asked or gave nothing usable.
    """
    prompt = packed.prompt if masker is None else masker.mask(packed.prompt)
    key = key_of_exchange(f"{engine.name} {engine.identity}", prompt, wire_schema(WireReport))
    answer = _kept(exchanges, key, packed) if exchanges is not None and cached else None
    if answer is None:
        answer = engine.ask(prompt)
        if exchanges is not None:
            answer = _keep(exchanges, key, engine, prompt, answer, packed.diagnosis)
    value = answer.value if masker is None else _restored(answer.value, masker)
    return _with_report(packed, verify(value, known), answer, engine.name)


def _with_report(packed: Pack, report: ModelReport, answer: Answer[Any], engine: Literal["api", "codex"]) -> Diagnosis:
    cited = {c.evidence for a in report.answers for claim in a.claims for c in claim.citations}
    kept = [e for e in packed.diagnosis.evidence if e.id not in packed.own or e.id in cited]
    told = {
        "model": answer.model,
        "notes": list(answer.notes),
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
    }
    changed = {"engine": engine, "evidence": kept, "report": report.model_copy(update=told)}
    return packed.diagnosis.model_copy(update=changed)


def known_of(diagnosis: Diagnosis, checkout: Checkout | None, used: Knobs) -> Known:
    """What answers about this diagnosis are held against: settings of the checkout (else of the release), and its files."""
    if checkout is None:
        return Known(diagnosis, settings_of(((k.key, k.value) for k in used.found), [*RELEASED, *KNOBS]))
    names = [*checkout.settings, *KNOBS]
    found = used.found or (*checkout.defaults.found, *checkout.scripts.found)
    return Known(diagnosis, settings_of(((k.key, k.value) for k in found), names), checkout.sources)


def _kept(exchanges: Exchanges, key: str, packed: Pack) -> Answer[WireReport] | None:
    exchange = exchanges.find(key)
    if exchange is None:
        return None
    note = Text(
        f"the answer was kept from {exchange.at}; --no-cache asks again",
        f"使用 {exchange.at} 保存的回答；加 --no-cache 可重新询问",
    ).to(packed.diagnosis.lang)
    try:
        value = WireReport.model_validate(exchange.answer)
    except ValueError:
        return None  # kept by another version
    return Answer(value, exchange.model, exchange.input_tokens, exchange.output_tokens, (*exchange.notes, note))


def _keep(
    exchanges: Exchanges, key: str, engine: Engine, prompt: str, answer: Answer[WireReport], diagnosis: Diagnosis
) -> Answer[WireReport]:
    """Kept as it was asked and answered, redacted; where that can't be written the answer carries a note."""
    exchange = Exchange(
        at=now_utc(), key=key, asked=f"{engine.name} {engine.identity}", prompt=prompt,
        answer=_each_text(answer.value.model_dump(mode="json"), redact), model=answer.model,
        input_tokens=answer.input_tokens, output_tokens=answer.output_tokens, notes=list(answer.notes),
        about=_each_text(diagnosis.model_dump(mode="json", by_alias=True), redact),
    )  # fmt: skip
    try:
        exchanges.keep(exchange)
    except OSError as error:
        said = Text(f"the exchange could not be kept: {error}", f"未能保存本次问答：{error}").to(diagnosis.lang)
        return replace(answer, notes=(*answer.notes, said))
    return answer


def _restored(value: WireReport, masker: Masker) -> WireReport:
    return WireReport.model_validate(_each_text(value.model_dump(), masker.restore))


def _each_text(value: Any, edit: Callable[[str], str]) -> Any:
    """The same nested value with every string edited."""
    if isinstance(value, str):
        return edit(value)
    if isinstance(value, list):
        return [_each_text(inner, edit) for inner in value]
    if isinstance(value, dict):
        return {key: _each_text(inner, edit) for key, inner in value.items()}
    return value
