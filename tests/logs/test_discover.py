"""Which files are taken, in which order, and what was left and why."""

from pathlib import Path

import pytest

from codex_skyrl.errors import InputError
from codex_skyrl.logs.discover import find


def fill(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")


def shown(tmp_path: Path, *arguments: str, ray: Path | None = None) -> dict[str, list[str]]:
    found = find(arguments, tmp_path, ray)
    return {s.name: [p.name for p in s.paths] for s in found.sources}


def test_rotated_files_are_one_source_oldest_first(tmp_path: Path) -> None:
    fill(tmp_path, "a/run.log", "a/run.log.1", "a/run.log.2.gz", "a/run.log.10.gz", "a/other.log")
    assert shown(tmp_path, "a") == {
        "a/run.log": ["run.log.10.gz", "run.log.2.gz", "run.log.1", "run.log"],
        "a/other.log": ["other.log"],
    }


def test_dated_rotations_go_by_date(tmp_path: Path) -> None:
    fill(tmp_path, "run.log", "run.log-20250521", "run.log-20250519")
    assert shown(tmp_path, ".")["run.log"] == ["run.log-20250519", "run.log-20250521", "run.log"]


def test_what_is_left_is_said(tmp_path: Path) -> None:
    fill(tmp_path, "a/run.log", "a/model.safetensors", "a/.git/x.log", "a/package.json")
    (tmp_path / "a" / "empty.log").touch()
    found = find(["a"], tmp_path)
    assert [s.name for s in found.sources] == ["a/run.log"]
    assert {(p.name, why) for p, why in found.left} == {
        ("model.safetensors", "not a log by its name"),
        ("package.json", "not a log by its name"),
        ("empty.log", "empty"),
    }


def test_globs_files_and_duplicates(tmp_path: Path) -> None:
    fill(tmp_path, "a/x.log", "a/y.txt", "b/unusual.name")
    assert list(shown(tmp_path, "a/*.log", "a/x.log", "b/unusual.name")) == ["a/x.log", "b/unusual.name"]


def test_without_arguments_the_usual_places(tmp_path: Path) -> None:
    fill(tmp_path, "logs/run.log", "outputs/2025/x.log", "wandb/run-1/files/output.log", "elsewhere/y.log")
    assert set(shown(tmp_path)) == {"logs/run.log", "outputs/2025/x.log", "wandb/run-1/files/output.log"}


def test_the_ray_session_when_nothing_else_is_there(tmp_path: Path) -> None:
    ray = tmp_path / "session" / "logs"
    fill(ray, "worker-1.out", "worker-1.err", "raylet.out")
    assert {Path(name).name for name in shown(tmp_path, ray=ray)} == {"worker-1.out", "worker-1.err"}


@pytest.mark.parametrize("arguments", [["nowhere"], ["*.nothing"], []])
def test_nothing_found_is_one_clear_sentence(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(InputError):
        find(arguments, tmp_path)


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    fill(tmp_path, "a/run.log")
    (tmp_path / "a" / "again").symlink_to(tmp_path / "a")
    assert "a/run.log" in shown(tmp_path, "a")
