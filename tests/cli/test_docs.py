"""docs/cli.md is what the program says of itself; every command has an example; shells can complete."""

import os
import subprocess
import sys

import pytest

from make_cli_docs import TARGET, text


def test_the_reference_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == text(), "run: python3 dev.py docs"


def test_every_command_shows_an_example() -> None:
    sections = text().split("\n## ")[1:]
    assert len(sections) >= 18
    without = [s.splitlines()[0] for s in sections if "Example: " not in s and "Commands:" not in s]
    assert without == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str) -> None:
    code = "from codex_skyrl.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "completion", shell], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "_CODEX_SKYRL_COMPLETE" in done.stdout


def test_completion_completes(tmp_path: object) -> None:
    code = "from codex_skyrl.cli import main; main()"
    env = {**os.environ, "_CODEX_SKYRL_COMPLETE": "bash_complete", "COMP_WORDS": "codex-skyrl wh", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["plain,whatif"]
