"""`ask(prompt, schema) -> answer` over an OpenAI-compatible API: chat completions or responses, whichever works.

Steps down from json_schema to json_object to plain text only when the gateway truly says a form is unsupported;
asks again at most once for a bigger budget and at most once with the exact paths that did not validate.
"""

import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from codex_skyrl.errors import ModelError
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.forms import FORMS, Form, KnownForms
from codex_skyrl.llm.provider import Key, Provider
from codex_skyrl.llm.reading import Reply, error_text, read_reply
from codex_skyrl.llm.schema import wire_schema
from codex_skyrl.llm.validate import NoAnswerError, validated

if TYPE_CHECKING:
    from openai import OpenAI

Model = TypeVar("Model", bound=BaseModel)
_LARGEST_BODY = 16 << 20
_UNSUPPORTED = (
    "unsupported",
    "not support",
    "unavailable",
    "unknown parameter",
    "unrecognized",
    "not allowed",
    "must be",
)
_FORM_WORDS = ("response_format", "json_schema", "json_object", "text.format", "structured output")
_OURS = ("invalid_json_schema", "invalid schema", "context_length", "context length")


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and tokens that one question may cost."""

    connect_s: float = 10.0
    silence_s: float = 180.0
    output_tokens: int = 8_000
    retries: int = 2


class _FormRefusedError(Exception):
    """The gateway does not know this response format."""


class _WireMissingError(Exception):
    """The gateway has no such endpoint."""


def ask(
    prompt: str, schema: type[Model], provider: Provider, key: Key, limits: Limits | None = None, forms: KnownForms | None = None
) -> Answer[Model]:  # fmt: skip
    """Put one question and return the validated answer. `forms` remembers which form of answer a gateway knows.

    Raises:
        ModelError: when the API cannot be reached, refuses, or gives nothing that validates.
    """
    from openai import DefaultHttpxClient, OpenAI
    from openai import Timeout as OpenAiTimeout

    limits = limits or Limits()
    timeout = OpenAiTimeout(limits.silence_s, connect=limits.connect_s)
    client = OpenAI(
        api_key=key.value,
        base_url=provider.base_url,
        timeout=timeout,
        max_retries=limits.retries,
        http_client=DefaultHttpxClient(timeout=timeout, follow_redirects=False),  # the key goes to one host only
    )
    wires = ("responses", "chat") if provider.wire == "auto" else (provider.wire,)
    notes: list[str] = []
    with client:
        for wire in wires:
            try:
                return _Question(client, provider, wire, schema, limits, notes).answer(prompt, forms)
            except _WireMissingError as missing:
                notes.append(f"the gateway has no {wire} endpoint: {missing}")
    raise ModelError(
        f"the gateway answers on no known endpoint ({'; '.join(notes)}).",
        where=provider.base_url,
        fix="Check the base URL (often it must end in /v1): codex-skyrl check",
    )


class _Question(Generic[Model]):
    """One question on one wire, with what was learned on the way."""

    def __init__(
        self, client: "OpenAI", provider: Provider, wire: str, schema: type[Model], limits: Limits, notes: list[str]
    ) -> None:
        self._client, self._provider, self._wire = client, provider, wire
        self._schema, self._limits, self._notes = schema, limits, notes

    def answer(self, prompt: str, known: KnownForms | None) -> Answer[Model]:
        where = f"{self._provider.base_url} {self._provider.model} {self._wire}"
        forms = known.to_try(where) if known is not None else list(FORMS)
        messages = [self._first(prompt, forms[0])]
        asked_again = grown = False
        while True:
            try:
                reply = self._call(messages, forms[0])
            except _FormRefusedError as refused:
                if len(forms) == 1:
                    raise ModelError(
                        f"the gateway refuses plain text: {refused}", where=self._provider.base_url
                    ) from None
                self._notes.append(f"{forms.pop(0)} is not supported here; asked for {forms[0]} instead")
                messages[0] = self._first(prompt, forms[0])
                continue
            self._refusals(reply)
            if reply.truncated:
                if grown:
                    raise ModelError(
                        "the answer does not fit the model's output limit.", fix="Use a model with a larger output."
                    )
                grown = True
                self._limits = replace(self._limits, output_tokens=3 * self._limits.output_tokens)
                self._notes.append("the first answer was cut off; asked again with a larger budget")
                continue
            try:
                answer = self._validated(reply)
                if known is not None:
                    known.worked(where, forms[0])
                return answer
            except NoAnswerError as misfit:
                if asked_again:
                    raise ModelError(f"the model's answer does not fit the schema: {misfit}") from None
                asked_again = True
                self._notes.append(f"asked once more: {misfit}")
                messages = [*messages, *_again(reply.text, misfit)]

    def _first(self, prompt: str, form: Form) -> dict[str, str]:
        """The question; where the request cannot carry the schema, the prompt does."""
        if form != "json_schema":
            schema = json.dumps(wire_schema(self._schema), ensure_ascii=False)
            prompt = f"{prompt}\n\nThe answer is one JSON object that fits this JSON schema:\n{schema}\n"
        return {"role": "user", "content": prompt}

    def _validated(self, reply: Reply) -> Answer[Model]:
        if reply.text.strip():
            value, found = validated(reply.text, self._schema)
        elif reply.reasoning.strip().startswith("{"):
            value, found = validated(reply.reasoning, self._schema)
            found = [*found, "the answer stood in the reasoning field"]
        else:
            raise NoAnswerError(["the answer is empty"])
        return Answer(
            value, reply.model or self._provider.model, reply.input_tokens, reply.output_tokens, (*self._notes, *found)
        )

    def _refusals(self, reply: Reply) -> None:
        if reply.web_page:
            raise _WireMissingError("a web page came back, not the API")
        if reply.error:
            raise ModelError(f"the gateway reports: {self._shown(reply.error)}", where=self._provider.base_url)
        if not reply.ended:
            raise ModelError("the answer broke off before its end.", where=self._provider.base_url, fix="Try again.")
        if reply.refusal and not reply.text.strip():
            raise ModelError(f"the model refuses: {self._shown(reply.refusal)}")
        if reply.called and not reply.text.strip():
            raise ModelError(
                f"the model wants to call {reply.called[0]!r} instead of answering.", fix="Use another model."
            )

    def _call(self, messages: list[dict[str, str]], form: Form) -> Reply:
        import openai

        from codex_skyrl.llm.failures import explain

        broken: tuple[type[Exception], ...] = (openai.APIConnectionError, *_transport_errors())
        try:
            with self._open(messages, form) as response:
                body = b""
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _LARGEST_BODY:
                        raise ModelError("the answer is larger than 16 MB.", where=self._provider.base_url)
        except openai.APIStatusError as error:
            self._sort(error)
            raise explain(error, self._provider) from None
        except broken as error:
            raise explain(error, self._provider) from None
        return read_reply(body)

    def _open(self, messages: list[dict[str, str]], form: Form) -> Any:
        """Begin one streaming request; the form is part of it unless it is plain text."""
        client: Any = self._client  # the messages are plain dicts, which its overloads do not know
        named = {"name": "report", "strict": True, "schema": wire_schema(self._schema)} if form == "json_schema" else {}
        budget = self._limits.output_tokens
        if self._wire == "chat":
            create = client.chat.completions.with_streaming_response.create
            more: dict[str, Any] = {"max_tokens": budget, "stream_options": {"include_usage": True}}
            if form != "text":
                more["response_format"] = {"type": form, **({"json_schema": named} if named else {})}
            return create(model=self._provider.model, messages=messages, stream=True, **more)
        create = client.responses.with_streaming_response.create
        more = {"max_output_tokens": budget, "store": False}
        if form != "text":
            more["text"] = {"format": {"type": form, **named}}
        return create(model=self._provider.model, input=messages, stream=True, **more)

    def _sort(self, error: Any) -> None:
        """Tell a missing form or a missing endpoint from an error that is about something else."""
        said = f"{error_text(error.body if error.body is not None else error.response.text)} {error.code or ''}".lower()
        status = error.status_code
        if any(word in said for word in _OURS):
            return
        if status in (400, 422) and any(w in said for w in _FORM_WORDS) and any(w in said for w in _UNSUPPORTED):
            raise _FormRefusedError(self._shown(said))
        if status in (404, 405, 501) and "model" not in said:
            raise _WireMissingError(f"status {status}")

    def _shown(self, text: str) -> str:
        from codex_skyrl.context.redact import redact

        return redact(text)[:200]


def _transport_errors() -> tuple[type[Exception], ...]:
    """What the HTTP library beneath `openai` raises when a body breaks off: httpx, or httpx2 in newer versions."""
    return tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)


def _again(text: str, misfit: NoAnswerError) -> list[dict[str, str]]:
    return [
        {"role": "assistant", "content": text or "(empty)"},
        {
            "role": "user",
            "content": "That is not valid. Answer again with one JSON object only. Problems:\n- "
            + "\n- ".join(misfit.problems),
        },
    ]
