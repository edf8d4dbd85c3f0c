"""A real server on loopback plays what public gateways do; each behaviour is named with its fix."""

import json
import socket

import pytest

from codex_skyrl.setup.judge import Judged
from codex_skyrl.setup.probe import Limits, Probe, candidates, clean_base, probe
from setup_gateway import PAGE, Play, Script, api, chat, error, models, page, playing, responses, zipped

KEY = "sk-" + "planted" * 4
QUICK = Limits(connect_s=2.0, answer_s=1.5)


def asked(script: Script, *, model: str | None = "m1", suffix: str = "/v1") -> Probe:
    with playing(script) as server:
        found = probe(server.url + suffix, KEY, model, QUICK)
    for base in found.bases:
        for judged in (base.models, base.responses, base.chat):
            for text in (judged.what.en, judged.what.zh, judged.fix.en, judged.fix.zh):
                assert KEY not in text
                assert "<" not in text
                assert len(text) < 420
    return found


def of_responses(play: Play | None, **more: object) -> Judged:
    """How /responses is judged when it plays this and chat works."""
    script = api(answer=lambda endpoint, body: (play or Play(404)) if endpoint == "responses" else None)
    return asked(script, **more).bases[-1].responses  # type: ignore[arg-type]


BEHAVIOURS: list[tuple[str, Play, str]] = [
    ("web page", page(), "web_page"),
    ("web page as JSON", Play(200, PAGE), "web_page"),
    ("301", Play(301, headers={"Location": "https://elsewhere.example/v1"}), "redirected"),
    ("307", Play(307, headers={"Location": "/v2/responses"}), "redirected"),
    ("401 refused", error(401, "Invalid token " + KEY), "key_refused"),
    ("401 none sent", error(401, "Missing API key"), "key_missing"),
    ("401 bare", Play(401, b""), "key_refused"),
    ("403 JSON", error(403, "forbidden for this group"), "key_refused"),
    ("403 challenge", page(403, b"<html><title>Just a moment...</title>", server="cloudflare", cf_mitigated="challenge", cf_ray="r1"), "cdn_challenge"),
    ("403 block", page(403, b"<html><h1 data-translate='block_headline'>", server="cloudflare", cf_ray="r2"), "cdn_block"),
    ("404", Play(404, b"404 page not found", "text/plain"), "no_endpoint"),
    ("405", Play(405, b"", "text/plain"), "no_endpoint"),
    ("400", error(400, "bad parameter"), "bad_request"),
    ("402", error(402, "pay first"), "quota_used_up"),
    ("429 rate", error(429, "slow down", retry_after="1"), "rate_limited"),
    ("429 quota", error(429, "You exceeded your current quota", "insufficient_quota"), "quota_used_up"),
    ("429 busy", error(429, "upstream is overloaded"), "upstream_busy"),
    ("429 wrapped", error(429, "upstream returned 404 not found"), "wrapped_not_found"),
    ("500", error(500, "kaputt"), "server_error"),
    ("503 no channel", error(503, "分组 default 下模型 m1 无可用渠道（distributor）", "model_not_found"), "model_not_served"),
    ("503 no model", error(503, "No available channels for model  in group default"), "request_had_no_model"),
    ("520", page(520, b"<html><title>520</title>", server="cloudflare"), "origin_error"),
    ("524", page(524, b"<html><title>524</title>", server="cloudflare"), "edge_timeout"),
    ("slow", Play(200, b"{}", wait_s=3.0), "timeout"),
    ("JSON for SSE", Play(200, json.dumps({"object": "response", "status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "OK"}]}]}).encode()), "no_stream"),
    ("cut stream", Play(200, b'data: {"type":"response.output_text.delta","delta":"O"}\n\n', "text/event-stream"), "cut_off"),
    ("broken body", Play(200, b"data: {", "text/event-stream", cut=True), "broken"),
    ("error in 200", Play(200, b'{"error": {"message": "late"}}'), "late_error"),
    ("error event", Play(200, b'data: {"type":"error","error":{"message":"late"}}\n\n', "text/event-stream"), "late_error"),
    ("failed event", Play(200, b'data: {"type":"response.failed","response":{"error":{"message":"exploded"}}}\n\n', "text/event-stream"), "late_error"),
    ("huge", Play(200, b"x" * (2 << 20), "text/plain"), "too_large"),
    ("other JSON", Play(200, b'{"hello": 1}'), "not_the_api"),
    ("nothing", Play(200, b""), "not_the_api"),
    ("gzip", zipped(responses("OK")), "ok"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "play", "kind"), BEHAVIOURS, ids=[n for n, _, _ in BEHAVIOURS])
def test_each_behaviour_is_named(name: str, play: Play, kind: str) -> None:
    judged = of_responses(play)
    assert judged.kind == kind
    assert judged.ok == (kind == "ok")
    assert judged.ok or judged.fix.en


def test_what_is_worth_another_try_gets_one_and_no_more() -> None:
    for play, tries in ((error(500, "x"), 2), (error(401, "x"), 1), (error(503, "无可用渠道", "model_not_found"), 1)):
        with playing(api(answer=lambda endpoint, body, p=play: p if endpoint == "responses" else None)) as server:  # type: ignore[misc]
            probe(server.url + "/v1", KEY, "m1", QUICK)
            assert sum(path == "/v1/responses" for _, path, _, _ in server.heard) == tries


def test_the_base_that_answers_is_found() -> None:
    with playing(api()) as server:
        found = probe(server.url, KEY, "m1", QUICK)
        assert found.best is not None
        assert found.best.url == f"{server.url}/v1"
        assert all(h.get("authorization") == f"Bearer {KEY}" for _, _, h, _ in server.heard)
    assert [b.works for b in found.bases] == [False, True]
    assert (found.wires, found.served, found.tools, found.json_schema) == (("responses", "chat"), ("m1",), True, True)


@pytest.mark.parametrize("wire", ["responses", "chat"])
def test_one_wire_only(wire: str) -> None:
    assert asked(api(wires=(wire,))).wires == (wire,)


@pytest.mark.parametrize(("word", "tools", "schema"), [('"tools"', False, True), ("json_schema", True, False)])
def test_features_that_are_refused(word: str, tools: bool, schema: bool) -> None:
    found = asked(api(answer=lambda endpoint, body: error(400, "unsupported") if word in body else None))
    assert (found.tools, found.json_schema) == (tools, schema)


def test_a_model_from_the_list_is_used_for_asking_when_none_is_given() -> None:
    with playing(api(served=("a", "b"))) as server:
        probe(server.url + "/v1", KEY, None, QUICK)
        assert {json.loads(b)["model"] for m, _, _, b in server.heard if m == "POST"} == {"a"}


def test_layers_are_told_apart() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    assert probe(f"http://127.0.0.1:{port}/v1", KEY, "m", QUICK).bases[0].models.kind == "tcp"
    assert probe("http://no-such-host.invalid/v1", KEY, "m", QUICK).bases[0].models.kind == "dns"
    with playing(api()) as server:
        assert probe(server.url.replace("http:", "https:") + "/v1", KEY, "m", QUICK).bases[0].models.kind == "tls"


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("https://x.example/api/", "https://x.example/api"),
        ("https://x.example/v1?utm_source=a", "https://x.example/v1"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1"),
        (" https://x.example/v1/v1#a ", "https://x.example/v1"),
    ],
)
def test_addresses_are_cleaned_before_asking(given: str, base: str) -> None:
    assert clean_base(given) == base
    assert candidates(given)[0] == base


def test_models_are_only_what_a_list_says() -> None:
    found = asked(lambda path, body: models("m9") if path == "/v1/models" else chat(body) if "chat" in path else None)
    assert found.served == ("m9",)
    assert found.wires == ("chat",)
