"""What is read of a checkout: queues, stages, workers, waits; both layouts of v0 and the successor."""

from pathlib import Path

import pytest

from codex_skyrl.checkout.facts import Checkout, Kind
from codex_skyrl.checkout.read import find_checkout, read_checkout
from mini_checkout import V0_PIPELINE, v0, v1

LAYOUTS = ("verl/workers/agentic", "verl/workers/agentic/swe_agent")


def read(root: Path) -> Checkout:
    found = read_checkout(root)
    assert found is not None
    return found


def lines(checkout: Checkout, *kinds: Kind) -> list[tuple[str | None, str]]:
    return [(f.stage, f.text) for f in checkout.of(*kinds)]


@pytest.mark.parametrize("folder", LAYOUTS)
def test_the_three_queues_whatever_their_names(tmp_path: Path, folder: str) -> None:
    found = read(v0(tmp_path, folder=folder))
    assert found.layout == "skyrl-v0"
    assert lines(found, "queue_made") == [
        ("init", "todo = asyncio.Queue()"),
        ("run", "ready = asyncio.Queue(maxsize=self.max_parallel_agents)"),
        ("eval", "done = asyncio.Queue(maxsize=self.max_parallel_agents)"),
    ]
    assert lines(found, "queue_drained") == [
        ("init", "item = await todo.get()"),
        ("run", "item = await ready.get()"),
        ("eval", "item = await done.get()"),
    ]
    filled = lines(found, "queue_filled")
    assert filled == [
        ("init", "await todo.put(item)"),
        ("run", "await ready.put(item)"),
        ("eval", "await done.put(item)"),
    ]
    assert [f.detail for f in found.of("queue_made")] == ["", "self.max_parallel_agents", "self.max_parallel_agents"]


def test_every_fact_stands_where_it_says(tmp_path: Path) -> None:
    found = read(v0(tmp_path))
    for fact in found.facts:
        text = (tmp_path / fact.source).read_text().splitlines()
        assert text[fact.line - 1].strip() == fact.text


def test_workers_lead_to_their_setting_and_its_division(tmp_path: Path) -> None:
    counts = {w.stage: w for w in read(v0(tmp_path)).workers}
    assert [counts[s].setting for s in ("init", "run", "eval")] == [
        "max_parallel_agents", "max_parallel_agents", "max_eval_parallel_agents",
    ]  # fmt: skip
    init = counts["init"]
    assert init.expression == "min(most, todo.qsize())"
    assert [(k.value, k.source) for k in init.knobs] == [
        ("1", "verl/trainer/config/ppo_trainer.yaml"), ("64", "examples/sky/run.sh"),
    ]  # fmt: skip
    assert init.division == "self.config.max_parallel_agents // self.device_mesh.size(0)"
    assert init.divided_at == ("verl/workers/agentic/async_rollout.py", 5)


def test_waits_and_where_they_run(tmp_path: Path) -> None:
    found = read(v0(tmp_path))
    assert lines(found, "poll") == [("eval", "time.sleep(30)")]
    assert ("eval", "runtime.close()") in lines(found, "blocks_loop")
    assert ("run", "self.runtime.close()") in lines(found, "blocks_loop")
    assert {(f.stage, f.detail) for f in found.of("executor")} >= {
        ("init", "default"),
        ("eval", "default"),
        (None, "shared"),
    }
    assert {f.detail for f in found.of("generation")} == {"awaited", "blocks its thread"}
    assert {f.detail for f in found.of("barrier")} == {"asyncio.wait", "loop.run_until_complete"}
    assert [f.detail for f in found.of("timeout", stage="eval")] == ["timeout=1200"]


def test_slices_are_whole_functions(tmp_path: Path) -> None:
    slices = {s.function: s for s in read(v0(tmp_path)).slices}
    pipeline = slices["Group.pipeline"]
    assert (
        pipeline.lines[0].strip() == "async def pipeline(self):"
        and pipeline.lines[-1].strip() == "await asyncio.wait(tasks)"
    )
    assert "Rollout.generate_sequences" in slices
    assert "Group.__init__" not in slices


def test_the_successor(tmp_path: Path) -> None:
    found = read(v1(tmp_path))
    assert found.layout == "skyrl-agent"
    assert [f.detail for f in found.of("queue_made")] == ["", "", ""]
    assert {w.stage: w.setting for w in found.workers} == {
        "init": "max_parallel_agents", "run": "max_parallel_agents", "eval": "max_eval_parallel_agents",
    }  # fmt: skip
    assert ("init", "runtime.close()") in lines(found, "blocks_loop")
    assert [f.detail for f in found.of("blocks_loop", stage="eval")] == ["requests.get"]


def test_a_folder_inside_is_enough_and_another_folder_is_no_checkout(tmp_path: Path) -> None:
    root = v0(tmp_path / "skyrl")
    assert find_checkout(root / "examples" / "sky") == (root, "skyrl-v0")
    (tmp_path / "other").mkdir()
    assert read_checkout(tmp_path / "other") is None


def test_the_script_counts_only_when_it_is_the_only_one(tmp_path: Path) -> None:
    root = v0(tmp_path)
    assert read(root).only_script.per_rank("max_parallel_agents") == 8
    (root / "examples/sky/other.sh").write_text((root / "examples/sky/run.sh").read_text().replace("64", "32"))
    assert read(root).only_script.found == ()


@pytest.mark.parametrize("text", ["def broken(:\n", "\0", "x = '" + "\udcff" + "'\n", "", "(" * 3000])
def test_what_cannot_be_parsed_is_named_or_empty_and_nothing_runs(tmp_path: Path, text: str) -> None:
    root = v0(tmp_path)
    (root / "verl/workers/agentic/extra.py").write_text(text, encoding="utf-8", errors="surrogateescape")
    found = read(root)
    assert len(found.of("queue_made")) == 3
    if text.startswith("def"):
        assert found.unread == ("verl/workers/agentic/extra.py",)


def test_code_at_module_level_never_runs(tmp_path: Path) -> None:
    root = v0(tmp_path)
    trap = tmp_path / "ran"
    (root / "verl/workers/agentic/codeact.py").write_text(f"open({str(trap)!r}, 'w')\n{V0_PIPELINE}")
    read(root)
    assert not trap.exists()
