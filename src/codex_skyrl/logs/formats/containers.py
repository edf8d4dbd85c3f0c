"""Image pull lines of container runtimes: containerd and CRI-O (logfmt) and the docker client and daemon."""

import re

from codex_skyrl.logs.event import ClusterEvent
from codex_skyrl.logs.formats import Parsed
from codex_skyrl.logs.formats.generic import stamp_of_text
from codex_skyrl.logs.formats.pulls import go_seconds

HINTS: tuple[str, ...] = ("level=", "Pulling from ", "Status: ", "toomanyrequests: ")

_LOGFMT = re.compile(r'(?:time="(?P<time>[^"]+)" )?level=(?P<level>\w+) msg="(?P<message>(?:[^"\\]|\\.)*)"(?P<rest>.*)')
_QUOTED = re.compile(r'\\"([^"\\]+)\\"|"([^"]+)"')
_TOOK = re.compile(r"\bin (\d[\dhmsuµn.]*)")
_DOCKER = (
    (re.compile(r"\S+: Pulling from (\S+)$"), "Pulling", None),
    (re.compile(r"Status: Image is up to date for (\S+)$"), "Pulled", True),
    (re.compile(r"Status: Downloaded newer image for (\S+)$"), "Pulled", False),
)


def parse(text: str) -> Parsed | None:
    """Understand a pull's beginning, result or refusal."""
    line = _LOGFMT.match(text)
    if line:
        body = _from_runtime(line["message"], line["level"])
        return Parsed(body, stamp_of_text(line["time"] or "")) if body is not None else None
    for pattern, reason, cached in _DOCKER:
        found = pattern.match(text)
        if found:
            return Parsed(ClusterEvent(reason, image=found[1], cached=cached, text=text[:300]))
    if "toomanyrequests: " in text[:200] and "pull" in text:
        return Parsed(ClusterEvent("Failed", warning=True, text=f"Failed to pull image: {text[:300]}"))
    return None


def _from_runtime(message: str, level: str) -> ClusterEvent | None:
    named = _QUOTED.search(message)
    image = (named[1] or named[2]) if named else ""
    if level in ("error", "fatal"):
        if not message.startswith("PullImage"):
            return None
        return ClusterEvent("Failed", image=image, warning=True, text=f"Failed to pull image: {message[:300]}")
    if message.startswith("Pulled image"):
        took = _TOOK.search(message)
        return ClusterEvent(
            "Pulled", image=image, cached=False, seconds=go_seconds(took[1]) if took else None, text=message[:300]
        )
    if message.startswith(("PullImage", "Pulling image")) and "returns image reference" not in message:
        return ClusterEvent("Pulling", image=image, text=message[:300])
    return None
