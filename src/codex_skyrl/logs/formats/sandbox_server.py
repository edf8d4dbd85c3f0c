"""Requests that the sandbox (remote runtime) server logs: its own lines, and uvicorn's access lines.

Its own lines say when a request came (`POST /start image=...`) and how it ended (status, seconds or an error).
"""

import re

from codex_skyrl.logs.event import SandboxServer
from codex_skyrl.logs.formats import Parsed, Stamp

ACCESS_HINT = ' - "'
HINTS: tuple[str, ...] = (" - remote_runtime_server:", ACCESS_HINT)

_OWN = re.compile(
    r"(\d\d):(\d\d):(\d\d) - remote_runtime_server:(?P<level>[A-Z]+): [\w.]+:\d+ - (?P<message>.*)", re.DOTALL
)
_REQUEST = re.compile(r"(?:(?P<method>GET|POST|PUT|DELETE) )?(?P<path>/[\w./{}-]*)(?P<rest>.*)", re.DOTALL)
_STATUS = re.compile(r"(?:status(?:_code)?[=: ]+|-> |returned |HTTP/1\.1\"? )(\d{3})\b|^\s*(\d{3})\b")
_SECONDS = re.compile(r"\b(?:in|took|elapsed[=: ]|duration[=: ])\s*(\d+(?:\.\d+)?) ?(ms|s\b|seconds)")
# Behind the hint, a request that went well: LLM servers print one for every reply.
FINE = re.compile(rb' - "[A-Z]+ (?!\S*/start)\S+ HTTP/[\d.]+" [23]\d\d')
_ACCESS = re.compile(
    r"(?:INFO: +)?\S+:\d+ - \"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/[\d.]+\" (?P<status>\d{3})(?P<rest>.*)"
)


def parse(text: str) -> Parsed | None:
    """Understand one request line; of a web server's those that failed, and sandbox starts."""
    own = _OWN.match(text)
    if own:
        body = _own(own["message"], own["level"])
        return Parsed(body, _stamp(own)) if body is not None else None
    access = _ACCESS.match(text)
    if access and (access["status"][0] not in "23" or "/start" in access["path"]):
        return Parsed(
            SandboxServer(
                f"{access['method']} {access['path']}", int(access["status"]), text=access["rest"].strip()[:200]
            )
        )
    return None


def _own(message: str, level: str) -> SandboxServer | None:
    request = _REQUEST.match(message)
    if request is None:
        if level not in ("ERROR", "WARNING", "CRITICAL"):
            return None
        return SandboxServer("", 500 if level != "WARNING" else None, text=message[:200])
    rest = request["rest"]
    status, seconds = _STATUS.search(rest), _SECONDS.search(rest)
    return SandboxServer(
        f"{request['method'] or 'POST'} {request['path']}",
        int(status[1] or status[2]) if status else None,
        _in_seconds(seconds) if seconds else None,
        rest.strip()[:200],
    )


def _in_seconds(match: re.Match[str]) -> float:
    return float(match[1]) / 1000 if match[2] == "ms" else float(match[1])


def _stamp(match: re.Match[str]) -> Stamp | None:
    if int(match[1]) > 23:
        return None
    return Stamp(int(match[1]) * 3600.0 + int(match[2]) * 60 + int(match[3]), dated=False, resolution=1.0)
