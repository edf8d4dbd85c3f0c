"""Makes `sample_logs/`: small simulated runs with known answers. `--check` fails when the folder is not up to date.

    python tools/make_samples.py [--check]

Every run is played by `story.py` (three stages, bounded queues, workers held while the next queue is full) and written
in the dress of real files; LLM server lines, GPU rows and cluster events follow from the same play.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from filecmp import dircmp
from pathlib import Path
from random import Random

from story import START, Item, Story, batch, log_lines, offsets, play

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_logs"
TRUTH = ROOT / "tests" / "sample_truth.json"
DAY = datetime(2025, 5, 20)
_SERVER_EVERY_S, _GPU_EVERY_S = 3, 10

LAUNCH = """#!/usr/bin/env bash
# Knobs of this simulated run.
MAX_PARALLEL_AGENTS={agents}
python -m verl.trainer.main_ppo \\
    data.train_batch_size={instances} \\
    actor_rollout_ref.rollout.n_trajectories={trajectories} \\
    actor_rollout_ref.rollout.max_parallel_agents=$MAX_PARALLEL_AGENTS \\
    actor_rollout_ref.rollout.max_eval_parallel_agents={evaluators} \\
    actor_rollout_ref.rollout.max_iterations=25 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=1 \\
    trainer.n_gpus_per_node=1 trainer.nnodes=1 "$@"
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: its steps, how it is dressed, and what is beside the log."""

    name: str
    answer: tuple[str, str]
    stories: tuple[Story, ...]
    prefix: str = ""
    coloured: bool = False
    tokens_per_request: float = 55.0
    server_share: float = 1.0  # of a call's time that the request really runs on the server
    gpu_full_at: float = 8.0  # requests at which the GPU is fully used
    events: bool = False
    hangs: bool = False


def samples() -> list[Sample]:
    """The six runs, in the order of the README."""
    return [
        Sample("init_cache_miss", ("init", "cache_miss"), (_starts(14.0, 0.0), _starts(14.0, 0.7)), events=True),
        Sample(
            "run_llm_saturated",
            ("run", "llm_saturated"),
            (_agents(lambda c: ((c.uniform(16, 26), c.uniform(1, 3)),) * c.randint(6, 10)),),
            tokens_per_request=8.0,
            gpu_full_at=5.0,
        ),
        Sample("eval_few_workers", ("eval", "few_workers"), (_evaluations(),), prefix="(WorkerDict pid=41207) "),
        Sample("sync_turn_barrier", ("sync", "barrier"), (_barrier(),), server_share=0.15),
        Sample("healthy", ("healthy", "none"), (_healthy(1), _healthy(2)), coloured=True, tokens_per_request=38.0, gpu_full_at=3.2),
        Sample("sync_hang", ("sync", "hang"), (_hang(),), prefix="(WorkerDict pid=7011) ", hangs=True),
    ]  # fmt: skip


# -- the runs -----------------------------------------------------------------------------------------------------
def _items(
    seed: int, make: Callable[[Random], dict[str, object]], instances: int = 4, trajectories: int = 5
) -> list[Item]:
    chance = Random(seed)
    return batch(instances, trajectories, lambda _: make(chance), jitter=0.3)


def _starts(quick_s: float, missed: float) -> Story:
    """Starts are quick where the image is on the node; a missed one is pulled for minutes."""

    def one(chance: Random) -> dict[str, object]:
        init, second = (
            quick_s + (chance.uniform(180, 320) if chance.random() < missed else chance.uniform(0, 8)) for _ in "ab"
        )
        return {"init_s": init, "sandbox_s": second, "turns": ((3.2, 2.4),) * chance.randint(6, 10)}

    return play(_items(11 + int(missed * 10), one), 4, 8)


def _agents(turns: Callable[[Random], tuple[tuple[float, float], ...]]) -> Story:
    return play(_items(3, lambda c: {"init_s": c.uniform(14, 26), "turns": turns(c)}), 4, 4)


def _evaluations() -> Story:
    def one(chance: Random) -> dict[str, object]:
        return {
            "init_s": chance.uniform(14, 26),
            "tests_s": 30.15 * chance.randint(3, 7),
            "turns": ((3.0, 2.2),) * chance.randint(6, 12),
        }

    return play(_items(5, one), 8, 2)


def _barrier() -> Story:
    """Turns end together: each waits for the slowest of all."""
    items = batch(4, 6, lambda i: {"init_s": 6.0, "turns": ((32.0, 2.5),) * 7}, jitter=0.0)
    return play(items, 8, 8)


def _healthy(seed: int) -> Story:
    def one(chance: Random) -> dict[str, object]:
        return {"init_s": chance.uniform(12, 24), "turns": ((6.0, 2.3),) * chance.randint(7, 11)}

    return play(_items(20 + seed, one, trajectories=4), 4, 4)


def _hang() -> Story:
    """The last start fails late: one run and one eval task wait for an item that never comes."""
    items = _items(9, lambda c: {"init_s": c.uniform(50, 90), "sandbox_s": c.uniform(40, 60)})
    items[-1].init_error, items[-1].init_s = (
        "503 Server Error: Service Unavailable for url: http://sandbox/start",
        400.0,
    )
    return play(items, 4, 6)


# -- what is beside the log ---------------------------------------------------------------------------------------
def _running(sample: Sample, moment: float) -> int:
    """Requests on the server at a moment (seconds since midnight)."""
    total = 0
    for offset, story in zip(offsets(*sample.stories), sample.stories, strict=True):
        for item in story.items:
            spans = ((a, a + (b - a) * sample.server_share) for a, b in item.requests())
            total += sum(1 for a, b in spans if a <= moment - offset < b)
    return total


def _moments(sample: Sample, every_s: int, more_s: float = 0.0) -> range:
    end = offsets(*sample.stories)[-1] + sample.stories[-1].end_s + more_s
    return range(START, int(end), every_s)


def _at(seconds: float) -> datetime:
    return DAY + timedelta(seconds=seconds)


def _server_log(sample: Sample) -> Iterator[str]:
    for moment in _moments(sample, _SERVER_EVERY_S):
        running = _running(sample, moment)
        if running:
            rate = running * sample.tokens_per_request
            yield (
                f"[{_at(moment):%Y-%m-%d %H:%M:%S}] Decode batch. #running-req: {running}, #token: {running * 4200}, "
                f"token usage: {running * 0.011:.2f}, gen throughput (token/s): {rate:.2f}, #queue-req: 0"
            )


def _gpu_rows(sample: Sample) -> Iterator[str]:
    chance = Random(1)
    yield "timestamp, index, utilization.gpu [%], memory.used [MiB]"
    for moment in _moments(sample, _GPU_EVERY_S, 900.0 if sample.hangs else 0.0):
        used = (
            min(98, int(100 * _running(sample, moment) / sample.gpu_full_at))
            if _running(sample, moment)
            else chance.randint(0, 3)
        )
        yield f"{_at(moment):%Y/%m/%d %H:%M:%S}.{chance.randint(0, 999):03d}, 0, {used} %, 61034 MiB"


def _cluster(sample: Sample) -> str:
    """Events of every sandbox, as `kubectl get events -o json` prints them."""
    items = []
    for offset, story in zip(offsets(*sample.stories), sample.stories, strict=True):
        for number, item in enumerate(story.items):
            for stage, seconds in (("init", item.init_s), ("eval", item.sandbox_s)):
                begin = offset + item.moments[f"{stage}_taken"] + 2
                items.append(_pulled(f"rt-{int(offset)}-{number}-{stage}", begin, seconds, item.instance))
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=1)


def _pulled(pod: str, begin: float, seconds: float, instance: str) -> dict[str, object]:
    image = f"docker.io/example/sweb.eval.x86_64.{instance}"
    pull = seconds - 12
    missed = pull > 60
    said = f'Successfully pulled image "{image}" in {pull:.1f}s ({pull + 4:.1f}s including waiting). Image size: 1412345678 bytes.'
    stamp = f"{_at(begin + max(0.0, pull if missed else 1)):%Y-%m-%dT%H:%M:%SZ}"
    return {
        "kind": "Event",
        "type": "Normal",
        "reason": "Pulled",
        "message": said if missed else f'Container image "{image}" already present on machine',
        "count": 1,
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "involvedObject": {"kind": "Pod", "name": pod},
        "source": {"component": "kubelet", "host": "node-1"},
    }


def _coloured(line: str) -> str:
    head, dash, rest = line.partition(" - openhands:")
    level, colon, message = rest.partition(": ")
    return f"\x1b[92m{head}{dash}{level}\x1b[0m{colon}{message}" if dash else line


# -- files --------------------------------------------------------------------------------------------------------
def write(folder: Path) -> dict[str, object]:
    """Write all samples below a folder; returns the true values, by sample."""
    truth: dict[str, object] = {}
    for sample in samples():
        home = folder / sample.name
        home.mkdir(parents=True)
        lines: Iterable[str] = log_lines(*sample.stories, prefix=sample.prefix, end_line=not sample.hangs)
        _text(home / "rollout.log", map(_coloured, lines) if sample.coloured else lines)
        _text(home / "sglang.log", _server_log(sample))
        _text(home / "gpu.csv", _gpu_rows(sample))
        if sample.events:
            (home / "k8s_events.json").write_text(_cluster(sample) + "\n", encoding="utf-8")
        first = sample.stories[0]
        instances = len({i.instance for i in first.items})
        sizes = {"instances": instances, "trajectories": len(first.items) // instances}
        knobs = {"agents": first.agents, "evaluators": first.evaluators, **sizes}
        (home / "launch.sh").write_text(LAUNCH.format(**knobs), encoding="utf-8")
        truth[sample.name] = {
            "answer": sample.answer,
            "makespans_s": [round(s.end_s, 2) for s in sample.stories],
            "waits_s": {
                stage: [round(s.mean_wait(stage), 2) for s in sample.stories] for stage in ("init", "run", "eval")
            },
        }
    return truth


def _text(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _stale(fresh: Path) -> list[str]:
    """Names of files in `sample_logs` that differ from the fresh ones."""
    found = []
    for sample in samples():
        compared = dircmp(fresh / sample.name, SAMPLES / sample.name)
        found += [f"{sample.name}/{n}" for n in (*compared.diff_files, *compared.left_only, *compared.right_only)]
    return found


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch)
        truth = json.dumps(write(fresh), indent=1) + "\n"
        if arguments == ["--check"]:
            stale = _stale(fresh) + ([] if TRUTH.read_text(encoding="utf-8") == truth else [TRUTH.name])
            print("\n".join(f"not up to date: {name}" for name in stale) or "sample_logs is up to date")
            return 1 if stale else 0
        for sample in samples():
            shutil.rmtree(SAMPLES / sample.name, ignore_errors=True)
            shutil.copytree(fresh / sample.name, SAMPLES / sample.name)
        TRUTH.write_text(truth, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
