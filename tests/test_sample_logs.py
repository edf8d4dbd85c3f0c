"""The shipped samples: small, up to date, and each gives its known answer and true figures."""

import json
from pathlib import Path

import pytest

from make_samples import SAMPLES, TRUTH, main
from material import diagnosis, material

NAMES = sorted(p.name for p in SAMPLES.iterdir() if p.is_dir())
MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def truth() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(TRUTH.read_text(encoding="utf-8"))
    return found


def test_the_folder_is_what_the_tool_makes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert capsys.readouterr().out == "sample_logs is up to date\n"


def test_there_is_one_for_each_kind(truth: dict[str, dict[str, object]]) -> None:
    assert set(NAMES) == set(truth)
    assert {t["answer"][0] for t in truth.values()} >= {"init", "run", "eval", "sync", "healthy"}  # type: ignore[index]


@pytest.mark.parametrize("name", NAMES)
def test_each_gives_its_answer_and_true_figures(name: str, truth: dict[str, dict[str, object]]) -> None:
    found, true = diagnosis(SAMPLES / name), truth[name]
    assert [found.verdict.bottleneck, found.verdict.cause] == true["answer"]
    spans = true["makespans_s"]
    assert isinstance(spans, list)
    assert [s.makespan_s for s in found.steps] == [pytest.approx(m, abs=1.0) for m in spans]
    waits = true["waits_s"]
    assert isinstance(waits, dict)
    for stage, means in waits.items():
        sizes = [s.trajectories for s in found.steps]
        mean = sum(m * n for m, n in zip(means, sizes, strict=True)) / sum(sizes)
        assert getattr(found.queues, stage).mean_wait_s == pytest.approx(mean, rel=0.05, abs=0.8)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_small_and_is_read_whole(name: str) -> None:
    files = [p for p in (SAMPLES / name).iterdir() if p.is_file()]
    assert sum(p.stat().st_size for p in files) <= MOST_BYTES
    assert {p.name for p in files} >= {"rollout.log", "sglang.log", "gpu.csv", "launch.sh"}
    for report in material(SAMPLES / name).files:
        assert report.families
        assert report.damaged_records == report.reading.invalid_bytes == 0


def test_the_readmes_name_every_sample_and_its_answer(truth: dict[str, dict[str, object]]) -> None:
    for readme in ("README.md", "README.zh-CN.md"):
        text = Path(SAMPLES / readme).read_text(encoding="utf-8")
        for name, true in truth.items():
            bottleneck, cause = true["answer"]  # type: ignore[misc]
            row = next(line for line in text.splitlines() if f"`{name}`" in line)
            assert f"{bottleneck} / {cause}" in row
