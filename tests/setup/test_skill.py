"""The skill: Codex lists it, a second install changes nothing, and no file of the user's is overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codex_binary import CURRENT, codex_binary
from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.skill import install_skill, skill_folder
from setup_gateway import api, playing

FILES = {"SKILL.md": "---\nname: codex-skyrl\ndescription: d\n---\nbody\n", "diagnose.md": "one\n"}


def test_installed_once_and_updated_while_it_is_ours(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path)
    assert sorted(install_skill(tmp_path, FILES)) == sorted(folder / name for name in FILES)
    assert install_skill(tmp_path, FILES) == []
    assert install_skill(tmp_path, {**FILES, "diagnose.md": "two\n"}) == [folder / "diagnose.md"]
    assert (folder / "diagnose.md").read_text() == "two\n"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_of_the_users_stays_and_nothing_else_is_written(tmp_path: Path, when: str) -> None:
    folder = skill_folder(tmp_path)
    if when == "after":
        install_skill(tmp_path, FILES)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "diagnose.md").write_text("my own notes\n")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    with pytest.raises(ConfigError, match=r"not written by this command: diagnose\.md\. Nothing was changed"):
        install_skill(tmp_path, {**FILES, "SKILL.md": "new", "diagnose.md": "new"})
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_a_link_is_the_users(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path)
    folder.mkdir(parents=True)
    (tmp_path / "notes.md").write_text("x")
    (folder / "SKILL.md").symlink_to(tmp_path / "notes.md")
    with pytest.raises(ConfigError, match=r"SKILL\.md"):
        install_skill(tmp_path, FILES)
    assert (tmp_path / "notes.md").read_text() == "x"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_real_codex_lists_it_and_brings_it_in(tmp_path: Path, lang: str) -> None:
    """As `prompts install` writes it: listed in every request, its body sent when the prompt names it."""
    home = tmp_path / "home"
    home.mkdir()
    env = {**os.environ, "CODEX_HOME": str(home), "TAOTOKEN_API_KEY": "k", "HOME": str(tmp_path)}
    code = "from codex_skyrl.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "prompts", "install", "--lang", lang],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with playing(api()) as server:
        (home / "config.toml").write_text(
            f'model = "gpt-5.5"\nmodel_provider = "taotoken"\n[model_providers.taotoken]\nname = "T"\nbase_url = "{server.url}/v1"\n'
            'env_key = "TAOTOKEN_API_KEY"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
        )
        command = [
            codex_binary(CURRENT),
            "exec",
            "--skip-git-repo-check",
            "--ephemeral",
            "-C",
            str(tmp_path),
            "$codex-skyrl why is it slow?",
        ]
        subprocess.run(command, env=env, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        sent = "\n".join(body for _, _, _, body in server.heard if body)
    assert json.dumps(str(skill_folder(home)))[1:-1] in sent
    assert "codex-skyrl report verify FILE PATH" in sent
