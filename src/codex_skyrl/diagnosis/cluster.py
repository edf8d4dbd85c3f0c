"""What Kubernetes, container runtimes and the sandbox server say during a window of time, as counts and means.

Pure functions over kept events. An event without a time (kubectl prints ages) counts for the whole input.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from codex_skyrl.logs.event import ClusterEvent, SandboxServer
from codex_skyrl.pipeline import series
from codex_skyrl.pipeline.run import Placed
from codex_skyrl.pipeline.trajectory import Place

_LIMITED = ("429", "toomanyrequests", "rate limit", "pull limit")


@dataclass(frozen=True, slots=True)
class Pulls:
    """Image pulls. `seconds`: mean of a pull itself; `waiting_seconds`: mean with the node's own queue."""

    pulled: int = 0
    cached: int = 0
    seconds: float | None = None
    waiting_seconds: float | None = None
    failed: int = 0
    rate_limited: int = 0
    unscheduled: int = 0
    slowest: Place | None = None
    failed_at: Place | None = None
    rate_limited_at: Place | None = None
    unscheduled_at: Place | None = None

    @property
    def miss_share(self) -> float | None:
        """Share of container starts that pulled their image; None without pull events."""
        total = self.pulled + self.cached
        return self.pulled / total if total else None


@dataclass(frozen=True, slots=True)
class SandboxRequests:
    """Requests to the sandbox server; times of start requests in seconds."""

    starts: int = 0
    errors: int = 0
    start_first_s: float | None = None  # median of the first third
    start_last_s: float | None = None  # median of the last third
    error_at: Place | None = None


def pulls_between(placed: Iterable[Placed], begin: float, end: float) -> Pulls:
    """Pulls in a window, seconds on the run's axis."""
    events = [(p.place, p.body) for p in placed if isinstance(p.body, ClusterEvent) and _inside(p, begin, end)]
    pulled = [(at, e) for at, e in events if e.reason == "Pulled" and not e.cached]
    failed = [(at, e) for at, e in events if e.reason in ("Failed", "ErrImagePull") and "pull" in e.text.lower()]
    failed = [(at, e) for at, e in failed if "back" not in e.text.lower()]
    limited = [(at, e) for at, e in failed if any(word in e.text.lower() for word in _LIMITED)]
    waiting = [(at, e) for at, e in events if e.reason == "FailedScheduling"]
    known = [(e.seconds, at) for at, e in pulled if e.seconds is not None]
    return Pulls(
        pulled=sum(e.count for _, e in pulled),
        cached=sum(e.count for _, e in events if e.reason == "Pulled" and e.cached),
        seconds=series.mean([s for s, _ in known]),
        waiting_seconds=series.mean([w for _, e in pulled if (w := e.waiting_seconds or e.seconds) is not None]),
        failed=len(failed),
        rate_limited=len(limited),
        unscheduled=len(waiting),
        slowest=max(known, default=(0.0, None))[1],
        failed_at=failed[0][0] if failed else None,
        rate_limited_at=limited[0][0] if limited else None,
        unscheduled_at=waiting[0][0] if waiting else None,
    )


def sandbox_requests_between(placed: Iterable[Placed], begin: float, end: float) -> SandboxRequests:
    """Requests in a window, seconds on the run's axis."""
    events = [(p.place, p.body) for p in placed if isinstance(p.body, SandboxServer) and _inside(p, begin, end)]
    starts = [e for _, e in events if "/start" in e.request]
    times = [e.seconds for e in starts if e.seconds is not None]
    third = len(times) // 3
    errors = [at for at, e in events if e.status is not None and e.status >= 400]
    return SandboxRequests(
        starts=len(starts),
        errors=len(errors),
        start_first_s=series.quantile(sorted(times[:third]), 0.5) if third else None,
        start_last_s=series.quantile(sorted(times[-third:]), 0.5) if third else None,
        error_at=errors[0] if errors else None,
    )


def _inside(placed: Placed, begin: float, end: float) -> bool:
    return placed.time_s is None or begin - 60.0 <= placed.time_s <= end + 60.0
