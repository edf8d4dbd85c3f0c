"""Asks a gateway what it can do: /models, /responses and /chat/completions under the given base and under /v1.

Explicit time limits, no redirect followed, at most one more try where it helps, at most 1 MB of any body. The key goes
only to the host that was given.
"""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from codex_skyrl.setup.judge import Endpoint, Judged, judge, model_ids, unreachable

_LARGEST = 1 << 20
_PATHS: dict[Endpoint, str] = {"models": "/models", "responses": "/responses", "chat": "/chat/completions"}
_ENDPOINTS = ("/chat/completions", "/responses", "/completions", "/models")
_TOOL = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds."""

    connect_s: float = 8.0
    answer_s: float = 45.0


@dataclass(frozen=True, slots=True)
class Base:
    """One address with what its endpoints answered."""

    url: str
    models: Judged
    responses: Judged
    chat: Judged

    @property
    def works(self) -> bool:
        return self.responses.ok or self.chat.ok


@dataclass(frozen=True, slots=True)
class Probe:
    """`best` is None when nothing works. Features are None when they were not asked."""

    bases: tuple[Base, ...]
    served: tuple[str, ...]
    best: Base | None
    tools: bool | None = None
    json_schema: bool | None = None

    @property
    def wires(self) -> tuple[str, ...]:
        if self.best is None:
            return ()
        return tuple(w for w, judged in (("responses", self.best.responses), ("chat", self.best.chat)) if judged.ok)


def clean_base(url: str) -> str:
    """A base URL without query, fragment, endpoint path and trailing slashes."""
    parts = urlsplit(url.strip())
    path = parts.path.rstrip("/")
    ending = next((e for e in _ENDPOINTS if path.endswith(e)), "")
    path = path.removesuffix(ending).rstrip("/").replace("/v1/v1", "/v1")
    return f"{parts.scheme}://{parts.netloc}{path}"


def candidates(url: str) -> list[str]:
    """The addresses worth asking: as given, then with /v1."""
    base = clean_base(url)
    return [base] if base.endswith("/v1") else [base, f"{base}/v1"]


def probe(url: str, key: str | None, model: str | None, limits: Limits | None = None) -> Probe:
    """Ask every candidate. Without a model, the first one the gateway lists is used for asking only."""
    asker = _Asker(key, limits or Limits())
    with asker.client:
        bases: list[Base] = []
        served: tuple[str, ...] = ()
        for address in candidates(url):
            base, listed = _ask_base(asker, address, model)
            bases.append(base)
            served = served or listed
            if base.works or base.models.kind in ("dns", "tcp", "tls", "proxy"):
                break
        best = next((b for b in bases if b.responses.ok), None) or next((b for b in bases if b.works), None)
        if best is None:
            return Probe(tuple(bases), served, None)
        named = model or (served[0] if served else "")
        tools, schema = (asker.accepts(best, named, what) for what in ("tools", "json_schema"))
    return Probe(tuple(bases), served, best, tools, schema)


def _ask_base(asker: "_Asker", address: str, model: str | None) -> tuple[Base, tuple[str, ...]]:
    models, body = asker.get(f"{address}/models")
    listed = tuple(model_ids(body)) if models.ok else ()
    if models.kind in ("dns", "tcp", "tls", "proxy"):
        return Base(address, models, models, models), ()
    named = model or (listed[0] if listed else "")
    responses, _ = asker.post("responses", address, named, {})
    chat, _ = asker.post("chat", address, named, {})
    return Base(address, models, responses, chat), listed


@dataclass(slots=True)
class _Asker:
    """Sends single requests and judges what comes back."""

    key: str | None
    limits: Limits
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = httpx.Timeout(self.limits.answer_s, connect=self.limits.connect_s)
        self.client = httpx.Client(headers=headers, timeout=timeout, follow_redirects=False)

    def get(self, url: str) -> tuple[Judged, bytes]:
        return self._twice("models", "GET", url, None, "")

    def post(self, endpoint: Endpoint, base: str, model: str, more: dict[str, Any]) -> tuple[Judged, bytes]:
        said = "Reply only OK"
        body: dict[str, Any] = {"model": model, "stream": True}
        if endpoint == "chat":
            body |= {"messages": [{"role": "user", "content": said}], "max_tokens": 32}
        else:
            body |= {"input": [{"role": "user", "content": said}], "max_output_tokens": 32, "store": False}
        return self._twice(endpoint, "POST", base + _PATHS[endpoint], body | more, model)

    def accepts(self, base: Base, model: str, what: str) -> bool:
        """Whether the working endpoint takes a tool, or a schema for its answer."""
        endpoint: Endpoint = "responses" if base.responses.ok else "chat"
        return self.post(endpoint, base.url, model, _feature(endpoint, what))[0].ok

    def _twice(self, endpoint: Endpoint, method: str, url: str, body: object, model: str) -> tuple[Judged, bytes]:
        judged, content = self._once(endpoint, method, url, body, model)
        return (
            self._once(endpoint, method, url, body, model)
            if judged.retry and judged.kind != "timeout"
            else (judged, content)
        )

    def _once(self, endpoint: Endpoint, method: str, url: str, body: object, model: str) -> tuple[Judged, bytes]:
        try:
            with self.client.stream(method, url, json=body) as response:
                content = b""
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _LARGEST:
                        return unreachable("too_large", ""), b""
                headers = {k.lower(): v for k, v in response.headers.items()}
                return judge(endpoint, response.status_code, headers, self._clean(content), model), content
        except httpx.TimeoutException:
            return unreachable("timeout", ""), b""
        except httpx.ProxyError as error:
            return unreachable("proxy", str(error)), b""
        except httpx.TransportError as error:
            return unreachable(_layer(error), str(error)), b""
        except (httpx.InvalidURL, httpx.DecodingError) as error:
            return unreachable("broken", str(error)), b""

    def _clean(self, content: bytes) -> bytes:
        """Some gateways repeat the key in their errors."""
        return content.replace(self.key.encode(), b"[redacted]") if self.key else content


def _feature(endpoint: Endpoint, what: str) -> dict[str, Any]:
    schema = {"name": "answer", "strict": True, "schema": _TOOL}
    if what == "json_schema":
        return (
            {"response_format": {"type": "json_schema", "json_schema": schema}}
            if endpoint == "chat"
            else {"text": {"format": {"type": "json_schema", **schema}}}
        )
    function = {"name": "noop", "description": "does nothing", "parameters": _TOOL}
    return (
        {"tools": [{"type": "function", "function": function}]}
        if endpoint == "chat"
        else {"tools": [{"type": "function", **function}]}
    )


def _layer(error: BaseException) -> str:
    """DNS, TLS or TCP: by the cause beneath httpx's own error."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return "tls"
        if isinstance(cause, socket.gaierror):
            return "dns"
    return "tcp" if isinstance(error, httpx.ConnectError) else "broken"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
