"""Questions to a real HTTP server that behaves as public gateways do."""

import json
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from codex_skyrl.errors import ModelError
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.ask import Limits, ask
from codex_skyrl.llm.forms import KnownForms
from codex_skyrl.llm.provider import Key, Provider, Wire
from gateway import Scripted, chat, gateway, refusal, stream

GOOD = {"bottleneck": "eval", "confidence": 0.8, "evidence": [{"file": "rollout.log", "line": 12}], "actions": ["x"]}
TEXT = json.dumps(GOOD)
SECRET = "sk-" + "loopback" * 4


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    file: str
    line: int


class Report(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    bottleneck: Literal["init", "run", "eval", "trainer", "none", "unknown"]
    confidence: float = Field(ge=0, le=1)
    evidence: list[Place]
    actions: list[str]


def put(
    *replies: Scripted, wire: Wire = "chat", tries: int = 0
) -> tuple[Answer[Report], list[dict[str, object]], list[str]]:
    with gateway(replies) as server:
        provider = Provider(server.base_url, "some-model", wire, "KEY", "test")
        answer = ask("why?", Report, provider, Key(SECRET), Limits(retries=tries))
        return answer, [body for _, _, body in server.requests], server.paths


def fails(*replies: Scripted, wire: Wire = "chat") -> tuple[str, int]:
    with gateway(replies) as server, pytest.raises(ModelError) as caught:
        ask(
            "why?", Report, Provider(server.base_url, "some-model", wire, "KEY", "test"), Key(SECRET), Limits(retries=0)
        )
    message = str(caught.value)
    assert SECRET not in message
    assert "<" not in message
    return message, len(server.requests)


def chunk(content: str | None = None, finish: str | None = None) -> dict[str, object]:
    delta = {} if content is None else {"content": content}
    return {
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def test_a_plain_answer() -> None:
    answer, bodies, paths = put(chat(TEXT))
    assert answer.value == Report.model_validate(GOOD)
    assert (answer.model, answer.input_tokens, answer.output_tokens, answer.notes) == ("served", 11, 7, ())
    assert paths == ["/v1/chat/completions"]
    assert bodies[0]["response_format"]["json_schema"]["schema"]["additionalProperties"] is False  # type: ignore[index]
    assert bodies[0]["stream"] is True


def test_a_stream_with_every_oddity() -> None:
    half = len(TEXT) // 2
    answer, _, _ = put(
        stream(
            ": keep-alive\n\nretry: 3000\n\n",
            {"choices": [], "prompt_filter_results": []},
            "data:" + json.dumps(chunk(TEXT[:half])) + "\n\n",
            "event: ping\n\n",
            {"choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}]},
            chunk(TEXT[half:]),
            chunk(finish="stop"),
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}},
            "data: [DONE]\n\ndata: [DONE]\n\n",
        )
    )
    assert answer.value.bottleneck == "eval"
    assert (answer.input_tokens, answer.output_tokens) == (5, 6)


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("head", ["", "data:"])
@pytest.mark.parametrize("tail", ["", "\ndata: [DONE]\n"])
def test_json_whatever_the_content_type_says(content_type: str, head: str, tail: str) -> None:
    body = head.encode() + chat(TEXT).body + tail.encode()
    assert put(Scripted(body, content_type=content_type))[0].value.confidence == 0.8


def test_a_stream_without_an_end_is_no_answer() -> None:
    message, _ = fails(stream(chunk(TEXT)))
    assert "broke off" in message


def test_the_responses_wire() -> None:
    done = {"type": "response.completed", "response": {"object": "response", "model": "m", "status": "completed", "usage": {"input_tokens": 3, "output_tokens": 4}, "output": []}}  # fmt: skip
    answer, bodies, paths = put(stream({"type": "response.output_text.delta", "delta": TEXT}, done), wire="responses")
    assert (answer.value.bottleneck, answer.input_tokens, answer.output_tokens) == ("eval", 3, 4)
    assert paths == ["/v1/responses"]
    assert bodies[0]["text"]["format"]["type"] == "json_schema"  # type: ignore[index]


@pytest.mark.parametrize(
    "missing",
    [Scripted(b"404 page not found", 404, "text/plain"), Scripted(b"<!DOCTYPE html><html></html>", 200, "text/html")],
)
def test_auto_falls_back_to_chat_where_responses_is_missing(missing: Scripted) -> None:
    answer, _, paths = put(missing, chat(TEXT), wire="auto")
    assert paths == ["/v1/responses", "/v1/chat/completions"]
    assert "no responses endpoint" in answer.notes[0]


def test_a_home_page_everywhere_is_named() -> None:
    message, _ = fails(Scripted(b"<html><body>Welcome</body></html>", 200, "text/html"), wire="auto")
    assert "a web page came back" in message


UNAVAILABLE = {"message": "This response_format type is unavailable now", "type": "invalid_request_error", "code": "invalid_request_error"}  # fmt: skip


def test_steps_down_once_each_when_a_form_is_unsupported() -> None:
    answer, bodies, _ = put(refusal(400, UNAVAILABLE), refusal(400, UNAVAILABLE), chat(TEXT))
    assert [b.get("response_format", {}).get("type") for b in bodies] == ["json_schema", "json_object", None]  # type: ignore[attr-defined]
    assert len(answer.notes) == 2
    contents = [b["messages"][0]["content"] for b in bodies]  # type: ignore[index]
    assert contents[0] == "why?"
    assert all("JSON schema" in c and '"actions"' in c for c in contents[1:])


def test_the_form_that_worked_is_remembered_for_a_week(tmp_path: Path) -> None:
    now = [1_000_000.0]
    forms = KnownForms(tmp_path / "new" / "forms.json", lambda: now[0])
    with gateway([refusal(400, UNAVAILABLE), chat(TEXT), chat(TEXT), chat(TEXT)]) as server:
        provider = Provider(server.base_url, "some-model", "chat", "KEY", "test")
        for later in (0.0, 86_400.0, 7 * 86_400.0):
            now[0] += later
            assert ask("why?", Report, provider, Key(SECRET), Limits(retries=0), forms).value.bottleneck == "eval"
        sent = [body["response_format"]["type"] for _, _, body in server.requests]
    assert sent == ["json_schema", "json_object", "json_object", "json_schema"]


def test_a_damaged_memory_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "forms.json").write_text('{"x": 3')
    forms = KnownForms(tmp_path / "forms.json")
    assert forms.to_try("x") == ["json_schema", "json_object", "text"]
    KnownForms(tmp_path / "forms.json" / "not-a-folder").worked("x", "text")


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Invalid schema for response_format 'report': 'additionalProperties' is required", "code": "invalid_json_schema"},
        {"message": "maximum context length is 131072 tokens, however you requested 150233", "code": "context_length_exceeded"},
        {"message": "bad temperature", "code": "invalid_request_error"},
    ],
)  # fmt: skip
def test_other_400s_never_step_down(error: dict[str, str]) -> None:
    _, requests = fails(refusal(400, error))
    assert requests == 1


def test_a_cut_answer_is_asked_again_with_more_room_and_never_patched_up() -> None:
    answer, bodies, _ = put(chat(TEXT[:30], finish="length"), chat(TEXT))
    assert bodies[1]["max_tokens"] == 3 * bodies[0]["max_tokens"]  # type: ignore[operator]
    assert "cut off" in answer.notes[0]
    message, requests = fails(chat(TEXT[:30], finish="length"))
    assert "output limit" in message
    assert requests == 2


@pytest.mark.parametrize(
    "content",
    [
        "<think>\nMaybe {\"bottleneck\": \"run\"}? No.\n</think>\nHere:\n```json\n" + TEXT + "\n```\nHope {so}.",
        "Thinking: {\"bottleneck\":\"run\"} first.\n</think>\n\n" + TEXT,
        "```json\n{\"note\":\"draft\"}\n```\n\nFinal:\n```JSON\n" + TEXT + "\n```",
        [{"type": "text", "text": TEXT}],
        json.dumps({"report": GOOD}),
        json.dumps(TEXT),
    ],
)  # fmt: skip
def test_the_last_candidate_that_validates_counts(content: object) -> None:
    assert put(chat(content))[0].value == Report.model_validate(GOOD)


def test_an_answer_in_the_reasoning_field() -> None:
    answer, _, _ = put(chat(None, reasoning_content=TEXT))
    assert "reasoning" in answer.notes[0]
    message, _ = fails(chat(None, reasoning=f"I think {TEXT} but maybe not"))
    assert "empty" in message


@pytest.mark.parametrize(
    "bad",
    [
        TEXT.replace("0.8", '"0.8"'),
        TEXT.replace("0.8", "80"),
        TEXT.replace('"eval"', '"EVAL"'),
        TEXT.replace("0.8", "NaN"),
        TEXT.replace("{", '{"bottleneck": "run", ', 1),
        TEXT.replace('"actions"', '"more": 1, "actions"'),
        "no JSON at all",
    ],
)
def test_what_does_not_validate_is_asked_again_once_with_the_paths(bad: str) -> None:
    answer, bodies, _ = put(chat(bad), chat(TEXT))
    assert answer.value.confidence == 0.8
    said = bodies[1]["messages"][-1]["content"]  # type: ignore[index]
    assert "Problems:" in said
    message, requests = fails(chat(bad))
    assert requests == 2
    assert "does not fit" in message


def test_a_refusal_is_a_refusal() -> None:
    message, requests = fails(chat("", refusal="I cannot help with that."))
    assert "refuses: I cannot help" in message
    assert requests == 1


def test_a_call_of_a_function_that_is_not_ours() -> None:
    message, _ = fails(chat(None, finish="tool_calls", tool_calls=[{"function": {"name": "shell", "arguments": "{}"}}]))
    assert "'shell'" in message


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (refusal(401, {"message": "bad key " + SECRET}), "refuses the key"),
        (
            refusal(503, {"message": "No available channel for model x", "code": "model_not_found"}),
            "does not serve model",
        ),
        (refusal(429, {"message": "You exceeded your quota", "code": "insufficient_quota"}), "quota is used up"),
        (refusal(429, {"message": "slow down"}), "limits the rate"),
        (refusal(500, "kaputt " + SECRET), "status 500: kaputt"),
        (Scripted(b"<html>cloudflare</html>", 520, "text/html"), "status 520: a web page"),
        (Scripted(json.dumps({"error": {"message": "late failure"}}).encode()), "reports: late failure"),
        (stream({"error": [{"message": "in a list"}]}), "reports: in a list"),
        (Scripted(b'{"choices": [', cut=True), "cannot be reached"),
    ],
)
def test_failures_are_one_clear_sentence(reply: Scripted, said: str) -> None:
    assert said in fails(reply)[0]


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with gateway([chat(TEXT)]) as elsewhere:
        away = Scripted(b"", 307, headers=(("Location", f"{elsewhere.base_url}/chat/completions"),))
        message, _ = fails(away)
        assert elsewhere.requests == []
    assert "redirects" in message


def test_a_closed_port_is_named() -> None:
    with gateway([chat(TEXT)]) as server:
        gone = server.base_url
    with pytest.raises(ModelError, match="cannot be reached"):
        ask("why?", Report, Provider(gone, "m", "chat", "KEY", "test"), Key(SECRET), Limits(retries=0))


def test_a_retry_where_it_helps() -> None:
    busy = Scripted(b'{"error": {"message": "busy"}}', 503, headers=(("Retry-After", "0"),))
    assert put(busy, chat(TEXT), tries=2)[0].value.bottleneck == "eval"
