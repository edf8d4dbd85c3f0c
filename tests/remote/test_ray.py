"""A real Ray cluster of three nodes on this machine, each with logs of its own, read where they lie."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli_runner import run
from codex_skyrl.errors import InputError
from codex_skyrl.remote import ray_cluster
from codex_skyrl.remote.on_node import logs_here, read_here
from codex_skyrl.remote.taken import decode
from story import batch, play, write_log

pytest.importorskip("ray", reason="Ray has no wheel for this Python")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
NODES = ("head", "worker1", "worker2")


@dataclass
class Cluster:
    """Where it answers, its session's logs, and each node's folder of logs: `$RUN_LOGS` on the node."""

    address: str
    session: Path
    logs: dict[str, Path]
    process: "subprocess.Popen[str]"

    def kill(self, name: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"kill {name}\n")
        self.process.stdin.flush()
        while self.process.stdout.readline() != "done\n":
            assert self.process.poll() is None

    def diagnose(self, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        return run(
            "diagnose", *arguments, f"--ray={self.address}", "--engine", "offline", cwd=cwd, PYTHONWARNINGS="default"
        )

    def report(self, *arguments: str, cwd: Path) -> dict[str, Any]:
        done = self.diagnose(*arguments, "--format", "json", "-q", cwd=cwd)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        found = json.loads(done.stdout)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Cluster]:
    with started(tmp_path, NODES) as cluster:
        yield cluster


@contextmanager
def started(tmp_path: Path, nodes: Sequence[str], *options: str) -> Iterator[Cluster]:
    logs = {name: tmp_path / name / "logs" for name in nodes}
    for folder in logs.values():
        folder.mkdir(parents=True)
    script = Path(__file__).resolve().parent.parent / "ray_nodes.py"
    command = [sys.executable, str(script), *options, *(f"{name}={folder}" for name, folder in logs.items())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        said = next(json.loads(line) for line in process.stdout if line.startswith("{"))
        yield Cluster(said["address"], Path(said["session"]), logs, process)
        process.communicate("", timeout=60)


def rank(path: Path, number: int) -> Path:
    """One rank of a run that init limits; ranks wait for each other before every step."""
    items = batch(6, 6, lambda i: {"init_s": 90.0, "sandbox_s": 70.0})
    return write_log(path / f"rank{number}.log", *[play(items, 4, 8)] * 3)


def told(report: dict[str, Any]) -> object:
    """What a report says, however the sources are called."""
    verdict = report["verdict"]
    quotes = sorted(e["quote"] for e in report["evidence"])
    waits = {name: queue["mean_wait_s"] for name, queue in report["queues"].items()}
    return (
        verdict["bottleneck"],
        verdict["cause"],
        verdict["confidence"],
        verdict["summary"],
        report["steps"],
        quotes,
        waits,
    )


def test_three_nodes_say_what_one_machine_says_and_a_lost_one_is_told(three: Cluster, tmp_path: Path) -> None:
    for number, name in enumerate(NODES):
        rank(three.logs[name], number)
    together = tmp_path / "together"
    together.mkdir()
    for name in NODES:
        for log in three.logs[name].iterdir():
            shutil.copy(log, together)
    alone = json.loads(run("diagnose", "together", "--engine", "offline", "--format", "json", cwd=tmp_path).stdout)
    found = three.report("$RUN_LOGS", cwd=tmp_path)
    assert told(found) == told(alone)
    assert [i["path"].partition(":")[0] for i in found["inputs"]] == list(NODES)
    assert not any(i["problems"] for i in found["inputs"])

    big = three.logs["worker2"] / "rank2.log"
    with big.open("ab") as log:
        log.write(b"a line of a prompt that means nothing at all, and many of them\n" * 6_000_000)
    found = killed_midway(three, "worker2", tmp_path)
    [lost] = [i for i in found["inputs"] if i["kind"] == "not-read"]
    assert lost["path"] == "worker2"
    assert "the node was lost" in lost["problems"][0]
    assert "rank2.log" in lost["problems"][0]
    rest = json.loads(run("diagnose", "together/rank0.log", "together/rank1.log", "--engine", "offline", "--format", "json", cwd=tmp_path).stdout)  # fmt: skip
    assert told(found) == told(rest)

    again = three.diagnose("$RUN_LOGS", cwd=tmp_path)  # the dead node is known by now
    assert again.returncode == 0
    assert "worker2" in again.stdout


def killed_midway(three: Cluster, name: str, cwd: Path) -> dict[str, Any]:
    """The report when a node is killed as soon as its logs are being read."""
    code = "from codex_skyrl.cli import main; main()"
    command = [sys.executable, "-c", code, "diagnose", "$RUN_LOGS", f"--ray={three.address}", "--engine", "offline", "--format", "json"]  # fmt: skip
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stdout is not None
        for line in running.stderr:
            if "reading" in line:
                break
        three.kill(name)
        report, _ = running.communicate(timeout=120)
    assert running.returncode == 0
    found = json.loads(report)
    assert isinstance(found, dict)
    return found


def test_a_shared_disk_is_read_once_and_survives_a_node(three: Cluster, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for number in range(3):
        rank(shared, number)
    found = three.report(str(shared), cwd=tmp_path)
    assert sorted(Path(i["path"].partition(":")[2]).name for i in found["inputs"]) == [f"rank{n}.log" for n in range(3)]
    assert len({i["path"].partition(":")[0] for i in found["inputs"]}) == 3, "the work is shared out"
    three.kill("worker1")
    after = three.report(str(shared), cwd=tmp_path)
    assert told(after) == told(found)


def test_without_paths_the_session_of_each_node_is_read(three: Cluster, tmp_path: Path) -> None:
    rank(tmp_path, 0).rename(three.session / "worker-0123abcd-01000000-99.out")
    found = three.report(cwd=tmp_path)
    assert found["verdict"]["bottleneck"] == "init"
    [read] = [i for i in found["inputs"] if i["events"] > 50]
    assert read["path"].endswith("worker-0123abcd-01000000-99.out")


def test_nodes_without_the_package_get_it_sent(tmp_path: Path) -> None:
    with started(tmp_path, ("one", "two"), "--bare") as cluster:
        for number, name in enumerate(cluster.logs):
            rank(cluster.logs[name], number)
        done = cluster.diagnose("$RUN_LOGS", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "some lack codex-skyrl" in done.stderr
    assert "one:" in done.stdout


def test_nothing_to_read_is_one_sentence(three: Cluster, tmp_path: Path) -> None:
    done = three.diagnose("$RUN_LOGS/*.nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "no logs could be read on this cluster" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_cluster_is_one_sentence(tmp_path: Path) -> None:
    done = run("diagnose", "--ray=127.0.0.1:1", "--engine", "offline", cwd=tmp_path)
    assert done.returncode == 2
    assert "no Ray cluster could be joined there" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_path_in_the_place_of_an_address_is_told(tmp_path: Path) -> None:
    done = run("diagnose", "--ray", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr
        == "Error: --ray: . is a path, not the address of a cluster. Put paths in front: codex-skyrl diagnose . --ray\n"
    )


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"codex-skyrl\[ray\]"):
        ray_cluster._ray()


def test_a_ray_that_is_too_old_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.__version__", "1.13.0")
    with pytest.raises(InputError, match="needs Ray 2"):
        ray_cluster._ray()


def test_a_file_that_cannot_be_read_costs_nothing_else(tmp_path: Path) -> None:
    good = rank(tmp_path, 0)
    (_, data, _), (name, nothing, why) = read_here(
        "n1", [("rank0.log", [str(good)]), ("gone.log", [str(tmp_path / "gone.log")])]
    )
    assert data is not None
    assert decode(data).name == "n1:rank0.log"
    assert (name, nothing, why) == ("gone.log", None, "No such file or directory")


def test_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    monkeypatch.setenv("RUN_LOGS", str(tmp_path))
    assert logs_here(["$RUN_LOGS/pipe.log"], ".") == ([], "")
