"""The parts of several pipelines of one step as one: means weighted by how many items they are means of."""

from collections.abc import Iterable, Sequence

from codex_skyrl.pipeline.profile import Evaluations, Loop, Profile, Sandboxes, Turns


def weighted(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """Mean of (value, weight) pairs; unknown values and zero weights are left out."""
    known = [(v, w) for v, w in pairs if v is not None and w > 0]
    total = sum(w for _, w in known)
    return sum(v * w for v, w in known) / total if total else None


def merged(profiles: Sequence[Profile]) -> Profile:
    """One profile for all; that of a single pipeline stays as it is."""
    if len(profiles) == 1:
        return profiles[0]
    return Profile(
        _turns([p.turns for p in profiles]),
        _sandboxes([p.sandboxes for p in profiles]),
        _evaluations([p.evaluations for p in profiles]),
        Loop(
            weighted((p.loop.stop_s, p.turns.count) for p in profiles),
            weighted((p.loop.eval_stop_s, p.evaluations.tests_count) for p in profiles),
        ),
    )


def _turns(parts: list[Turns]) -> Turns:
    def mean(name: str) -> float | None:
        return weighted((getattr(p, name), p.count) for p in parts)

    in_flight = [p.llm_in_flight for p in parts if p.llm_in_flight is not None]
    return Turns(
        count=sum(p.count for p in parts),
        llm_s=mean("llm_s"),
        rest_s=mean("rest_s"),
        llm_in_flight=sum(in_flight) if in_flight else None,
        gaps_p05_s=mean("gaps_p05_s"),
        gaps_p50_s=mean("gaps_p50_s"),
        lulls=mean("lulls"),
        per_trajectory_p50=mean("per_trajectory_p50") or 0.0,
        per_trajectory_max=max((p.per_trajectory_max for p in parts), default=0),
        capped=sum(p.capped for p in parts),
        cap=max((p.cap for p in parts if p.cap is not None), default=None),
    )


def _sandboxes(parts: list[Sandboxes]) -> Sandboxes:
    def mean(name: str) -> float | None:
        return weighted((getattr(p, name), p.requested) for p in parts)

    return Sandboxes(
        requested=sum(p.requested for p in parts),
        thread_wait_s=mean("thread_wait_s"),
        start_s=mean("start_s"),
        boot_p10_s=mean("boot_p10_s"),
        boot_p50_s=mean("boot_p50_s"),
        boot_p90_s=mean("boot_p90_s"),
        boot_mean_s=mean("boot_mean_s"),
        errors=sum(p.errors for p in parts),
        retries=sum(p.retries for p in parts),
        builds=sum(p.builds for p in parts),
        first_use_p50_s=mean("first_use_p50_s"),
        later_use_p50_s=mean("later_use_p50_s"),
    )


def _evaluations(parts: list[Evaluations]) -> Evaluations:
    def mean(name: str) -> float | None:
        return weighted((getattr(p, name), p.tests_count) for p in parts)

    return Evaluations(
        prepare_s=mean("prepare_s"),
        tests_mean_s=mean("tests_mean_s"),
        tests_p50_s=mean("tests_p50_s"),
        after_s=mean("after_s"),
        tests_count=sum(p.tests_count for p in parts),
        first_poll_share=mean("first_poll_share"),
        poll_s=next((p.poll_s for p in parts if p.poll_s is not None), None),
        timeouts=sum(p.timeouts for p in parts),
        no_patch=sum(p.no_patch for p in parts),
        patch_failed=sum(p.patch_failed for p in parts),
        sandbox_errors=sum(p.sandbox_errors for p in parts),
    )
