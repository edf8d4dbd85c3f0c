"""From a diagnosis to a model's checked report, over a real HTTP server."""

import json
from pathlib import Path

import pytest

from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.consult import Engine, consult, known_of
from codex_skyrl.context.pack import Material, pack
from codex_skyrl.llm.ask import ask
from codex_skyrl.llm.provider import Key, Provider
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.report.wire import WireReport
from gateway import Scripted, chat, gateway
from material import diagnosis
from story import batch, play, write_log


@pytest.fixture
def found(tmp_path: Path) -> Diagnosis:
    return diagnosis(write_log(tmp_path / "rollout.log", play(batch(4, 6, lambda i: {"init_s": 90.0}), 4, 4)))


def reply(found: Diagnosis, bottleneck: str, quote: str) -> Scripted:
    first = found.evidence[0]
    claims = [{"text": "init workers are the busy ones", "citations": [{"evidence": first.id, "quote": quote}]}]
    report = {
        "bottleneck": bottleneck,
        "cause": "container_start",
        "summary": "init first",
        "answers": [{"question": n, "claims": claims} for n in range(1, 7)],
        "experiment": {"knob": "k", "from_value": "1", "to_value": "2", "steps": 2, "compare": ["makespan"], "predicted": "-20%"},
    }  # fmt: skip
    return chat(json.dumps(report))


def asked(found: Diagnosis, scripted: Scripted) -> Diagnosis:
    with gateway([scripted]) as server:
        provider = Provider(server.base_url, "m", "chat", "KEY", "test")
        engine = Engine("api", f"m {server.base_url}", lambda prompt: ask(prompt, WireReport, provider, Key("k")))
        packed = pack("diagnose", found, Material(), 24_000)
        return consult(packed, known_of(packed.diagnosis, None, Knobs()), engine)


def test_a_right_answer_is_verified_and_the_verdict_stays_ours(found: Diagnosis) -> None:
    result = asked(found, reply(found, found.verdict.bottleneck, found.evidence[0].says[:30]))
    assert result.engine == "api"
    assert result.verdict == found.verdict
    assert result.report is not None
    assert result.report.agrees
    assert all(c.verified for a in result.report.answers for c in a.claims)
    assert (result.report.input_tokens, result.report.output_tokens) == (11, 7)


def test_an_invented_quotation_and_another_verdict_are_marked(found: Diagnosis) -> None:
    result = asked(found, reply(found, "eval", "words that stand nowhere"))
    assert result.verdict == found.verdict
    assert result.report is not None
    assert result.report.agrees is False
    assert not any(c.verified for a in result.report.answers for c in a.claims)
