"""`collect` on each node and `diagnose` of the bundles says what `diagnose` says where the logs lie."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cli_runner import run
from codex_skyrl.analyse import analyse, read
from codex_skyrl.collecting import collect
from codex_skyrl.errors import InputError
from codex_skyrl.remote.bundle import read_bundle

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_logs"
NAMES = sorted(p.name for p in SAMPLES.iterdir() if p.is_dir())


def plain(report: dict[str, Any], *nodes: str) -> str:
    """A report as text, without the nodes' names."""
    text = json.dumps(report)
    for node in nodes:
        text = text.replace(f"{node}:", "")
    return text


@pytest.mark.parametrize("sample", NAMES)
def test_a_bundle_says_what_its_logs_say(sample: str, tmp_path: Path) -> None:
    told = collect([sample], SAMPLES, None, "n1", tmp_path / "x.tar.zst")
    here = read([sample], SAMPLES, None, checkout_at=tmp_path)
    there = read(["x.tar.zst"], tmp_path, None)
    assert told.events == sum(sum(f.families.values()) for f in here.files)
    expected, found = (analyse(m, "en").model_dump(mode="json") for m in (here, there))
    assert plain(found, "n1") == plain(expected)


def test_bundles_of_several_nodes_are_one_run(tmp_path: Path) -> None:
    [sample] = [n for n in NAMES if len(list((SAMPLES / n).glob("*.log"))) > 1][:1]
    logs = sorted((SAMPLES / sample).glob("*.log"))
    for number, log in enumerate(logs):
        collect([log.name], log.parent, None, f"n{number}", tmp_path / f"n{number}.tar.zst")
    expected = analyse(read([log.name for log in logs], logs[0].parent, None, checkout_at=tmp_path), "en")
    found = analyse(read(["*.tar.zst"], tmp_path, None), "en")
    nodes = [f"n{number}" for number in range(len(logs))]
    report = found.model_dump(mode="json", exclude={"inputs"})
    assert plain(report, *nodes) == plain(expected.model_dump(mode="json", exclude={"inputs"}))


def test_no_secret_travels(tmp_path: Path) -> None:
    secret = "sk-" + "Ab3dEf6hIj9lMn2pQr5t"
    log = tmp_path / "x.log"
    log.write_text(
        "12:00:00 - openhands:INFO: codeact.py:1 - Running agent for instance a__b-1, trajectory 0\n"
        f"2025-05-20 12:00:01,000 - x - ERROR - refused api_key={secret}\n"
        f"12:00:02 - openhands:ERROR: codeact.py:2 - Error running agent a__b-1: key {secret}\n"
    )
    (tmp_path / "run.sh").write_text(
        f"python -m x actor_rollout_ref.rollout.api_key={secret} data.train_batch_size=3\n"
    )
    collect(["."], tmp_path, None, "n1", tmp_path / "b.tar.zst")
    bundle = read_bundle(tmp_path / "b.tar.zst", "b")
    held = unpacked(tmp_path / "b.tar.zst")
    assert secret.encode() not in held
    assert b"[redacted]" in held
    assert ("data.train_batch_size", "3") in [(k.key, k.value) for k in bundle.settings]


def unpacked(path: Path) -> bytes:
    """Everything a bundle holds, each frame in it unpacked."""
    data = zstandard.ZstdDecompressor().stream_reader(path.read_bytes(), read_across_frames=True).read()
    inner = [data]
    magic = b"\x28\xb5\x2f\xfd"
    at = data.find(magic)
    while at >= 0:
        inner.append(zstandard.ZstdDecompressor().decompressobj().decompress(data[at:]))
        at = data.find(magic, at + 1)
    return b"".join(inner)


def tar_of(**members: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return zstandard.compress(out.getvalue())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no bundle"),
        (b"not packed at all", "no bundle"),
        (tar_of(other_txt=b"hello"), "not a table of events"),
        (tar_of(), "no manifest"),
        (
            tar_of(manifest_json=b'{"format": 99, "node": "x", "settings": []}'),
            "its format is 99, this version knows 1",
        ),
        (tar_of(manifest_json=b"[]"), "no bundle"),
        (tar_of(manifest_json=b'{"format": 1, "node": "x", "settings": [[1]]}'), "no bundle"),
        (tar_of(manifest_json=b'{"format": 1, "node": "x", "settings": []}', a_events=b"\xff" * 99), "not a table"),
    ],
)
def test_what_is_no_bundle_is_refused_with_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.tar.zst"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_bundle(path, "x.tar.zst")
    assert says in raised.value.what
    assert "codex-skyrl collect" in (raised.value.fix or "")


def test_a_bundle_that_was_cut_is_refused(tmp_path: Path) -> None:
    whole = tmp_path / "x.tar.zst"
    collect([NAMES[0]], SAMPLES, None, "n1", whole)
    content = whole.read_bytes()
    for share in (0.2, 0.5, 0.9):
        whole.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(InputError):
            read_bundle(whole, "x")


def test_the_command(tmp_path: Path) -> None:
    done = run("collect", str(SAMPLES / NAMES[0]), "-o", "n1.tar.zst", "--node", "n1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "n1.tar.zst: " in done.stdout
    assert "codex-skyrl diagnose n1.tar.zst" in done.stdout
    shown = run("diagnose", "n1.tar.zst", "--engine", "offline", "-q", cwd=tmp_path)
    assert shown.returncode == 0
    assert "n1:" in shown.stdout
    wrong = run("collect", str(SAMPLES), "-o", "n1.zip", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "a bundle's name ends in .tar.zst" in wrong.stderr
    nothing = run("collect", "nowhere", "-o", "n2.tar.zst", cwd=tmp_path)
    assert nothing.returncode == 2
    assert not (tmp_path / "n2.tar.zst").exists()


def test_events_lists_a_bundle_as_its_logs(tmp_path: Path) -> None:
    collect([NAMES[0]], SAMPLES, None, "n1", tmp_path / "x.tar.zst")
    here = run("events", str(SAMPLES / NAMES[0]), "--format", "jsonl", cwd=tmp_path)
    there = run("events", "x.tar.zst", "--format", "jsonl", cwd=tmp_path)
    assert there.returncode == 0, there.stderr
    rows = [[{**json.loads(line), "source": ""} for line in done.stdout.splitlines()] for done in (here, there)]
    assert rows[0] == rows[1]
    assert rows[0]
    assert "n1:" in run("events", "x.tar.zst", cwd=tmp_path).stdout
