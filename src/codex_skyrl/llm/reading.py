"""One reader for whatever a gateway sends: JSON, an event stream, or JSON followed by `[DONE]`, whichever was asked.

Judges the body, not the content type. Knows the two wires' shapes (chat completions and responses) and nothing about
what an answer should say. Sources of the shapes: OpenAI API reference; the oddities are those of public gateways.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 200


@dataclass(slots=True)
class Reply:
    """What came back. `ended` is False when a stream broke off; `truncated` when the token budget ran out."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    error: str = ""
    error_code: str = ""
    model: str = ""
    truncated: bool = False
    ended: bool = False
    web_page: bool = False
    called: list[str] = field(default_factory=list)  # names of functions the model wanted to call instead
    input_tokens: int | None = None
    output_tokens: int | None = None


def read_reply(body: bytes) -> Reply:
    """Understand a whole body. Never raises: what is not understood ends as an error text."""
    text = body.decode("utf-8", errors="replace").lstrip("\ufeff").strip()
    if text[:1] == "<" or text[:15].lower().startswith("<!doctype"):
        return Reply(web_page=True, ended=True)
    reply = Reply()
    for record, alone in _records(text):
        _take(reply, record)
        reply.ended = reply.ended or alone
    if "[DONE]" in text[-40:]:
        reply.ended = True
    return reply


def _records(text: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each JSON object of the body, and whether it is a whole answer by itself (not a part of a stream)."""
    whole = _object(text)
    if whole is not None:
        yield whole, True
        return
    for line in text.splitlines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else line.strip()
        record = _object(data) if data.startswith("{") else None
        if record is not None:
            yield record, _is_whole(record)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_whole(record: dict[str, Any]) -> bool:
    return any("message" in c for c in _dicts(record.get("choices"))) or record.get("object") == "response"


def _take(reply: Reply, record: dict[str, Any]) -> None:
    error = record.get("error")
    if error:
        reply.error, reply.error_code = error_text(error), _code(error)
    reply.model = reply.model or str(record.get("model") or "")
    _usage(reply, record.get("usage"))
    for choice in _dicts(record.get("choices")):
        _choice(reply, choice)
    kind = record.get("type")
    if isinstance(kind, str):
        _event(reply, kind, record)
    elif record.get("object") == "response":
        _response(reply, record)


# -- chat completions -------------------------------------------------------------------------------------------
def _choice(reply: Reply, choice: dict[str, Any]) -> None:
    message = choice.get("message") or choice.get("delta") or {}
    if isinstance(message, dict):
        reply.text += _content(message.get("content"))
        reply.reasoning += _content(message.get("reasoning_content") or message.get("reasoning"))
        reply.refusal += _content(message.get("refusal"))
        for call in _dicts(message.get("tool_calls")):
            name = (call.get("function") or {}).get("name")
            if name:
                reply.called.append(str(name))
    finish = choice.get("finish_reason")
    if finish:
        reply.ended = True
        reply.truncated = reply.truncated or finish == "length"
        if finish == "content_filter" and not reply.text:
            reply.refusal = reply.refusal or "stopped by the gateway's content filter"


def _content(content: object) -> str:
    """Text of a content field: a string, null, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = _dicts(content)
    return "".join(str(p.get("text") or "") for p in parts)


# -- responses --------------------------------------------------------------------------------------------------
def _event(reply: Reply, kind: str, record: dict[str, Any]) -> None:
    if kind == "response.output_text.delta":
        reply.text += str(record.get("delta") or "")
    elif kind == "response.refusal.delta":
        reply.refusal += str(record.get("delta") or "")
    elif kind in ("response.completed", "response.incomplete", "response.failed"):
        inner = record.get("response")
        if isinstance(inner, dict):
            _response(reply, inner)
        reply.ended = True
        reply.truncated = reply.truncated or kind == "response.incomplete"
    elif kind == "error" and not reply.error:
        reply.error = error_text(record.get("message") or record)


def _response(reply: Reply, response: dict[str, Any]) -> None:
    """A whole response object; its text replaces what deltas gave."""
    reply.model = reply.model or str(response.get("model") or "")
    _usage(reply, response.get("usage"))
    error = response.get("error")
    if error:
        reply.error, reply.error_code = error_text(error), _code(error)
    outputs = _dicts(response.get("output"))
    parts = [part for item in outputs if item.get("type") == "message" for part in _dicts(item.get("content"))]
    text = "".join(str(p.get("text") or "") for p in parts if p.get("type") in ("output_text", "text"))
    reply.text = text or reply.text
    reply.refusal = "".join(str(p.get("refusal") or "") for p in parts) or reply.refusal
    reply.called += [str(i.get("name")) for i in outputs if i.get("type") == "function_call"]
    if response.get("status") == "incomplete":
        reply.truncated = True


# -- shared -----------------------------------------------------------------------------------------------------
def _usage(reply: Reply, usage: object) -> None:
    if not isinstance(usage, dict):
        return
    for name, keys in (("input_tokens", ("prompt_tokens", "input_tokens")), ("output_tokens", ("completion_tokens", "output_tokens"))):  # fmt: skip
        value = next((usage[k] for k in keys if isinstance(usage.get(k), int)), None)
        if value is not None:
            setattr(reply, name, value)


def error_text(error: object) -> str:
    """The message of an error in any of the shapes gateways use: text, object, nested, list; at most 200 characters."""
    if isinstance(error, list):
        return error_text(error[0]) if error else "unknown error"
    if isinstance(error, dict):
        inner = error.get("error")
        if isinstance(inner, dict | list | str) and inner:
            return error_text(inner)
        return error_text(next((error[k] for k in ("message", "msg", "detail") if error.get(k)), json.dumps(error)))
    flat = " ".join(str(error).split())
    return "a web page" if flat.startswith("<") else flat[:_SHOWN]


def _code(error: object) -> str:
    if isinstance(error, list) and error:
        return _code(error[0])
    if isinstance(error, dict):
        return str(error.get("code") or error.get("type") or "")
    return ""


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
