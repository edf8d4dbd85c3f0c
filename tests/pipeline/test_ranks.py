"""Several ranks in one log: apart where ids are whole, pooled where Ray has folded them together."""

from pathlib import Path

import pytest

from codex_skyrl.report.model import STAGES
from material import diagnosis, material
from ray_dress import driver_log
from story import Story, batch, play


def ranks(count: int, steps: int = 1) -> dict[int, list[Story]]:
    def one(seed: int) -> Story:
        return play(batch(6, 6, lambda i: {"init_s": 60.0 + (i * 7 + seed * 3) % 29, "sandbox_s": 55.0}), 6, 8)

    return {100 + n: [one(n + 5 * k) for k in range(steps)] for n in range(count)}


@pytest.mark.parametrize("count", [2, 4])
def test_ranks_are_kept_apart(tmp_path: Path, count: int) -> None:
    stories = ranks(count)
    (tmp_path / "rollout.log").write_text(driver_log(stories, fold=False))
    found = diagnosis(tmp_path)
    assert [p.id for p in found.pipelines] == [f"WorkerDict pid={pid}" for pid in stories]
    for pipeline, [story] in zip(found.pipelines, stories.values(), strict=True):
        assert pipeline.makespan_s == pytest.approx(story.end_s, abs=1.0)
        for stage in STAGES:
            assert getattr(pipeline.queues, stage).mean_wait_s == pytest.approx(story.mean_wait(stage), abs=0.6)
    assert found.steps[0].makespan_s == pytest.approx(max(s.end_s for [s] in stories.values()), abs=1.0)
    assert found.steps[0].trajectories == 36 * count


@pytest.mark.parametrize(("count", "steps"), [(2, 1), (4, 1), (2, 3), (4, 3)])
def test_folded_ranks_keep_counts_rates_and_verdict(tmp_path: Path, count: int, steps: int) -> None:
    stories = ranks(count, steps)
    for name, fold in (("plain", False), ("folded", True)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rollout.log").write_text(driver_log(stories, fold=fold))
    plain, folded = diagnosis(tmp_path / "plain"), diagnosis(tmp_path / "folded")
    assert material(tmp_path / "folded").run.folded
    assert (folded.verdict.bottleneck, folded.verdict.cause) == (plain.verdict.bottleneck, plain.verdict.cause)
    assert [s.makespan_s for s in folded.steps] == [pytest.approx(s.makespan_s, abs=6.0) for s in plain.steps]
    assert [s.trajectories for s in folded.steps] == [36 * count] * steps
    for stage in STAGES:
        assert getattr(folded.stages, stage).completed == 36 * count * steps
        rate, true = (getattr(d.queues, stage).consumption_per_min for d in (folded, plain))
        assert rate == pytest.approx(true, rel=0.03)
        busy, really = (getattr(d.stages, stage).utilisation for d in (folded, plain))
        assert busy == pytest.approx(really, abs=0.03)
        wait, waited = (getattr(d.queues, stage).mean_wait_s for d in (folded, plain))
        assert wait == pytest.approx(waited, rel=0.02, abs=1.0)
    assert any("RAY_DEDUP_LOGS=0" in m.how for m in folded.missing)
