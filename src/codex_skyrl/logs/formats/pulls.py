"""What container messages say about image pulls, whoever writes them: kubelet events, containerd, docker.

Durations are Go's (`1m10.5s`, `250ms`); the time in brackets includes the node's own pull queue.
"""

import re
from typing import NamedTuple

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_IMAGE = re.compile(r'image \\?"([^"\\\s]+)')
_TOOK = re.compile(r"\bin (\d[\dhmsuµn.]*)(?: \((\d[\dhmsuµn.]*) including waiting\))?")
_NODE = re.compile(r"Successfully assigned \S+ to (\S+)")


class PullFacts(NamedTuple):
    """`cached`: already on the node (None when the message is no pull result). Seconds or None."""

    image: str = ""
    cached: bool | None = None
    seconds: float | None = None
    waiting_seconds: float | None = None
    node: str = ""


def go_seconds(text: str) -> float | None:
    """Seconds of a Go duration such as `1m10.5s`; None when it is none."""
    parts = _DURATION.findall(text)
    if not parts or "".join(a + b for a, b in parts) != text:
        return None
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def pull_facts(message: str) -> PullFacts:
    """Image, cache hit and times that a message states."""
    image, node = _IMAGE.search(message), _NODE.match(message)
    cached = seconds = waiting = None
    if "already present on machine" in message or "Image is up to date" in message:
        cached = True
    elif message.startswith(("Successfully pulled image", "Pulled image")):
        cached = False
        took = _TOOK.search(message)
        if took:
            seconds, waiting = go_seconds(took[1]), go_seconds(took[2]) if took[2] else None
    return PullFacts(image[1] if image else "", cached, seconds, waiting, node[1] if node else "")
