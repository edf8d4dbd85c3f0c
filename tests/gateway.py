"""A real HTTP server on loopback that plays an OpenAI-compatible gateway: scripted replies, faults, and a record."""

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer of the server. `cut`: close the connection before the body is whole."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False


@dataclass(slots=True)
class Gateway:
    """`base_url` to use; `requests` holds (path, headers, body) of everything that came."""

    base_url: str
    replies: list[Scripted]
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.requests]


def chat(content: Any, finish: str = "stop", **message: Any) -> Scripted:
    """A whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    record = {"object": "chat.completion", "model": "served", "choices": [choice]}
    return Scripted(json.dumps({**record, "usage": {"prompt_tokens": 11, "completion_tokens": 7}}).encode())


def stream(*records: dict[str, Any] | str) -> Scripted:
    """An event stream; a string is sent as it stands."""
    lines = [r if isinstance(r, str) else f"data: {json.dumps(r)}\n\n" for r in records]
    return Scripted("".join(lines).encode(), content_type="text/event-stream")


def refusal(status: int, error: Any) -> Scripted:
    """An error reply."""
    return Scripted(json.dumps({"error": error}).encode(), status)


@contextmanager
def gateway(replies: Iterable[Scripted]) -> Iterator[Gateway]:
    """Serve the replies in order (the last one again and again) until the block ends."""
    state = Gateway("", list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            state.requests.append(
                (self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(self.rfile.read(size) or b"{}"))
            )
            reply = state.replies.pop(0) if len(state.replies) > 1 else state.replies[0]
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body) + (100 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(reply.body)
            if reply.cut:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
