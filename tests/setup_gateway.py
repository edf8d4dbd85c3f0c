"""A loopback gateway for setup: each endpoint plays a named behaviour; every request is kept."""

import gzip
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>hi</body></html>"


@dataclass(frozen=True, slots=True)
class Play:
    """What an endpoint does."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    cut: bool = False


@dataclass(slots=True)
class Playing:
    """The running server; `heard` holds (method, path, headers, body)."""

    url: str
    heard: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)


Script = Callable[[str, str], Play | None]  # (path, body) -> what to do; None: not there


def error(status: int, message: str, code: str = "", **headers: str) -> Play:
    return Play(
        status, json.dumps({"error": {"message": message, "code": code, "type": "x"}}).encode(), headers=headers
    )


def page(status: int = 200, body: bytes = PAGE, **headers: str) -> Play:
    return Play(status, body, "text/html; charset=utf-8", {k.replace("_", "-"): v for k, v in headers.items()})


def said(body: str) -> str:
    """The nonce of a prompt, or OK."""
    nonce = re.search(r"NONCE-\w+", body)
    return nonce[0] if nonce else "OK"


def events(*items: dict[str, object]) -> Play:
    """A Responses stream with these finished items."""
    usage = {
        "input_tokens": 21,
        "input_tokens_details": None,
        "output_tokens": 9,
        "output_tokens_details": None,
        "total_tokens": 30,
    }
    records = [
        {"type": "response.created", "response": {"id": "r"}},
        *({"type": "response.output_item.done", "item": item} for item in items),
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]
    return Play(
        200, "".join(f"event: {r['type']}\ndata: {json.dumps(r)}\n\n" for r in records).encode(), "text/event-stream"
    )


def message(text: str) -> dict[str, object]:
    """What the model says."""
    return {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": text}]}


def call(command: str, name: str = "c1") -> dict[str, object]:
    """A command that the model wants Codex to run."""
    return {
        "type": "function_call",
        "id": "f",
        "call_id": name,
        "name": "exec_command",
        "arguments": json.dumps({"cmd": command}),
    }


def responses(body: str) -> Play:
    """A whole Responses stream."""
    item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": said(body)}]}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": None,
        "output_tokens": 1,
        "output_tokens_details": None,
        "total_tokens": 2,
    }
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_text.delta", "delta": said(body)},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]
    text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return Play(200, text.encode(), "text/event-stream")


def chat(body: str) -> Play:
    """A whole chat stream."""
    parts = [({"role": "assistant", "content": said(body)}, None), ({}, "stop")]
    text = "".join(
        f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [{'index': 0, 'delta': d, 'finish_reason': f}]})}\n\n"
        for d, f in parts
    )
    return Play(200, (text + "data: [DONE]\n\n").encode(), "text/event-stream")


def models(*names: str) -> Play:
    return Play(200, json.dumps({"object": "list", "data": [{"id": n} for n in names]}).encode())


def zipped(play: Play) -> Play:
    return Play(play.status, gzip.compress(play.body), play.content_type, {**play.headers, "Content-Encoding": "gzip"})


def api(
    *, served: tuple[str, ...] = ("m1",), wires: tuple[str, ...] = ("responses", "chat"), prefix: str = "/v1",
    answer: Callable[[str, str], Play | None] | None = None,
) -> Script:  # fmt: skip
    """A gateway with these wires under a prefix; `answer` (path, body) may play something else for a POST."""

    def script(path: str, body: str) -> Play | None:
        if not path.startswith(prefix + "/"):
            return None
        endpoint = path.removeprefix(prefix + "/")
        if endpoint == "models":
            return models(*served)
        other = answer(endpoint, body) if answer else None
        if other is not None:
            return other
        if endpoint == "responses" and "responses" in wires:
            return responses(body)
        if endpoint == "chat/completions" and "chat" in wires:
            return chat(body)
        return None

    return script


@contextmanager
def playing(script: Script) -> Iterator[Playing]:
    """Serve until the block ends."""
    state = Playing("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            state.heard.append((method, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            play = script(self.path, body) or Play(404, b"404 page not found", "text/plain")
            time.sleep(play.wait_s)
            self.send_response(play.status)
            self.send_header("Content-Type", play.content_type)
            for name, value in play.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(play.body) + (100 if play.cut else 0)))
            self.end_headers()
            with suppress(ConnectionError):  # a client that has seen enough
                self.wfile.write(play.body)
            self.close_connection = self.close_connection or play.cut

        def do_GET(self) -> None:
            self.answer("GET")

        def do_POST(self) -> None:
            self.answer("POST")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
