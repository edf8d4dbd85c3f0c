"""Field cases and labelled runs that live outside this repository; skipped where they are not at hand.

They stand beside the checkout, in `../shared/cases`. What they taught also stands in fixtures of our own.
"""

import gzip
import json
import shutil
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from codex_skyrl.analyse import Read, analyse
from codex_skyrl.diagnosis.facts import StepFacts, case_of
from codex_skyrl.logs.event import Event, Failure, Kind, Lifecycle, SandboxServer
from codex_skyrl.logs.scan import Scanner
from codex_skyrl.pipeline import series
from codex_skyrl.report.model import STAGES, Diagnosis
from material import diagnosis, material

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the labelled cases are not at hand")
RUNS = sorted(p.name for p in (CASES / "runs").iterdir() if (p / "truth.json").is_file()) if CASES.is_dir() else []


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


def unpacked(folder: Path, scratch: Path) -> Path:
    """A copy without the answers, as a user would have it."""
    out = scratch / folder.name
    if out.is_dir():
        return out
    out.mkdir()
    for file in folder.iterdir():
        if file.name.startswith(("truth", "ground_truth", "expected")):
            continue
        if file.suffix == ".gz" and not file.name.startswith("keep_"):
            with gzip.open(file) as packed, (out / file.stem).open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.copyfile(file, out / file.name.removeprefix("keep_"))
    return out


# -- labelled runs ------------------------------------------------------------------------------------------------
@cache
def run_of(name: str, scratch: Path) -> tuple[Diagnosis, Read]:
    read = material(unpacked(CASES / "runs" / name, scratch))
    return analyse(read, "en"), read


@pytest.mark.parametrize("name", RUNS)
def test_labelled_runs_get_the_right_verdict_and_figures(name: str, scratch: Path) -> None:
    truth = json.loads((CASES / "runs" / name / "truth.json").read_text())
    found, _ = run_of(name, scratch)
    assert found.verdict.bottleneck in truth["accept"]["bottleneck"]
    assert found.verdict.cause in truth["accept"]["cause"]
    for stage, true in truth["stages"].items():
        queue = getattr(found.queues, stage)
        assert queue.consumption_per_min == pytest.approx(true["consumption_per_min"], rel=0.03)
        if not truth.get("ids_lost"):
            assert queue.mean_wait_s == pytest.approx(true["queue_wait_mean_s"], rel=0.05, abs=1.0)
    for step, true in zip(found.steps, truth["makespan_per_step_s"], strict=True):
        assert step.makespan_s == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize("name", RUNS)
def test_reconstructed_depths_follow_the_recorded_ones(name: str, scratch: Path) -> None:
    [file] = (CASES / "runs" / name).glob("ground_truth.json*")
    content = file.read_bytes()
    recorded = json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)
    read = run_of(name, scratch)[1]
    case = case_of(read.run, read.knobs)
    errors = list(_depth_errors(recorded, case.steps)) if not case.run.folded else []
    assert case.run.folded or len(errors) > 200
    assert not errors or sum(errors) / len(errors) <= 0.5


def _depth_errors(recorded: list[dict[str, Any]], steps: Sequence[StepFacts]) -> Iterator[float]:
    """Absolute errors of run and eval depth, sampled each ten seconds; recorded: one entry for each step and rank."""
    pipelines = [p for s in steps for p in s.pipelines]
    for pipeline, true in zip(pipelines, recorded, strict=True):
        assert pipeline.window is not None
        begin, end = pipeline.window
        for stage in STAGES[1:]:
            times = [t - true["t_start"] for t, _ in true["depth"][stage]]
            for moment in range(0, int(end - begin), 10):
                at = bisect_right(times, moment + 0.5)
                wanted = true["depth"][stage][at - 1][1] if at else 0
                yield abs(series.at(pipeline.curves[stage], begin + moment + 0.5) - wanted)


# -- field cases --------------------------------------------------------------------------------------------------
def field(name: str, scratch: Path) -> Path:
    return unpacked(CASES / "field" / name, scratch)


@pytest.mark.parametrize(
    ("name", "bottleneck", "causes", "says"),
    [
        ("K2-01", "init", {"container_start", "sandbox_errors"}, "/start went from"),
        ("K2-03", "run", {"kv_cache_full"}, "KV cache is full"),
        ("K2-05", "sync", {"hang"}, "468 s of dead time"),
        ("K2-07", "run", {"kv_cache_full"}, "pushed out"),
        ("K2-09", "run", {"llm_routing"}, "62 / 1 / 0 / 0"),
        ("K2-11", "init", {"image_pull"}, "rate limit"),
        ("K2-14", "healthy", {"none"}, "healthy"),
    ],
)
def test_slow_rollouts(name: str, bottleneck: str, causes: set[str], says: str, scratch: Path) -> None:
    found = diagnosis(field(name, scratch))
    assert found.verdict.bottleneck == bottleneck
    assert found.verdict.cause in causes
    assert says in found.verdict.summary
    expected = json.loads((CASES / "field" / name / "expected.json").read_text())["expect"].get("truth")
    if expected is None:
        return
    counts, use = expected["counts"], expected["utilisation"]
    assert (found.stages.init.completed, found.stages.init.failed) == (counts["init_ok"], counts["init_fail"])
    assert (found.stages.run.completed, found.stages.eval.completed) == (counts["run"], counts["eval"])
    for stage in ("init", "run", "eval"):
        assert getattr(found.stages, stage).utilisation == pytest.approx(use[stage], abs=0.01)
    assert found.steps[0].makespan_s == pytest.approx(expected["wall_s"], abs=1.5)


def test_the_moment_throughput_collapsed(scratch: Path) -> None:
    says = [e.says for e in diagnosis(field("K2-07", scratch)).evidence]
    [collapse] = [s for s in says if "stays down" in s]
    assert "from 03:55" in collapse or "from 03:56:00" in collapse
    assert "2,880 → 33 token/s" in collapse
    assert "queue 6 → 52" in collapse


def scanned(name: str, scratch: Path) -> tuple[list[Event], Scanner]:
    [path] = field(name, scratch).iterdir()
    scanner = Scanner([path])
    return list(scanner.events()), scanner


def counts(events: list[Event]) -> dict[Kind, int]:
    found: dict[Kind, int] = {}
    for event in events:
        if isinstance(event.body, Lifecycle):
            found[event.body.kind] = found.get(event.body.kind, 0) + event.times
    return found


def test_k3_01_folded_lines_keep_counts(scratch: Path) -> None:
    events, scanner = scanned("K3-01", scratch)
    assert counts(events) == {Kind.INIT_STARTED: 16, Kind.INIT_DONE: 12, Kind.INIT_FAILED: 1}
    assert sorted({e.process.split("pid=")[1].split("@")[0] for e in events}) == ["101", "102", "103", "104"]
    assert len({e.body.instance for e in events if isinstance(e.body, Lifecycle)}) == 4
    assert [e.body.value for e in events if isinstance(e.body, Lifecycle) and e.body.value] == [31.2, 44.75]
    assert scanner.reports[0].folded == 24


def test_k3_03_a_line_behind_a_bar(scratch: Path) -> None:
    events, scanner = scanned("K3-03", scratch)
    assert counts(events) == {Kind.RUN_STARTED: 1}
    bars = [(getattr(e.body, "done", None), getattr(e.body, "total", None)) for e in events]
    assert (32, 32) in bars
    assert scanner.reports[0].reading.lines == 4


def test_k3_05_docker_records_are_joined(scratch: Path) -> None:
    events, scanner = scanned("K3-05", scratch)
    assert counts(events) == {Kind.EVAL_STARTED: 1, Kind.EVAL_FAILED: 1}
    assert scanner.reports[0].damaged_records == 1


def test_k3_07_one_midnight(scratch: Path) -> None:
    events, scanner = scanned("K3-07", scratch)
    at = {(e.body.kind, e.process): e.when.earliest for e in events if isinstance(e.body, Lifecycle)}
    started = next(t for (kind, _), t in at.items() if kind is Kind.RUN_STARTED)
    assert max(t for (kind, _), t in at.items() if kind is Kind.EVAL_STARTED) - started == 570
    assert scanner.clock.day_changes == 1
    assert next(e for e in events if e.line == 4).when.earliest < 86400


def test_k3_09_damaged_bytes(scratch: Path) -> None:
    events, scanner = scanned("K3-09", scratch)
    reading = scanner.reports[0].reading
    assert counts(events) == {Kind.INIT_STARTED: 1, Kind.RUN_STARTED: 1}
    assert (reading.lines, reading.nul_bytes, reading.invalid_bytes, reading.last_line_incomplete) == (
        4,
        262_144,
        5,
        True,
    )


def test_k3_11_two_tracebacks(scratch: Path) -> None:
    events, _ = scanned("K3-11", scratch)
    failures = {e.process.split("pid=")[1].split("@")[0]: e.body for e in events if isinstance(e.body, Failure)}
    assert failures["101"].text == "TimeoutError: alive"
    assert failures["102"].text == "RuntimeError: runtime not ready"
    assert "503" in failures["102"].caused_by
    assert len(failures) == 2
    assert counts(events) == {Kind.RUN_STARTED: 1}


def test_k3_13_nine_dresses(scratch: Path) -> None:
    events, _ = scanned("K3-13", scratch)
    assert counts(events) == {Kind.RUN_STARTED: 2, Kind.INIT_FAILED: 1}
    levels = [e.body.level for e in events if isinstance(e.body, Failure)]
    assert (levels.count("warning"), levels.count("error") + 1) == (2, 2)  # the failed start is the other error
    assert [e.body.status for e in events if isinstance(e.body, SandboxServer)] == [500]
