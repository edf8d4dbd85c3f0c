"""`setup` and `check` as a user runs them: real process, real files, a gateway on loopback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codex_binary import CHAT_ERA, CURRENT, codex_binary
from setup_gateway import api, playing

OLD = "# mine\nmodel = 'old'  # keep this comment\n\n[mcp_servers.docs]\ncommand = \"npx\"\n"
KEY = "sk-" + "planted" * 5


def run(*arguments: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CODEX", "TAOTOKEN", "LC_", "LANG"))}
    clean |= {"CODEX_HOME": str(home), "PYTHONWARNINGS": "error", "TAOTOKEN_API_KEY": KEY, **env}
    code = "from codex_skyrl.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=clean, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # fmt: skip
    assert KEY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(OLD)
    return tmp_path


def test_written_proven_and_undone(home: Path) -> None:
    codex = codex_binary(CURRENT)
    with playing(api()) as server:
        arguments = ("setup", "--base-url", server.url, "--model", "m1", "--codex", codex, "--yes")
        done = run(*arguments, home=home)
        assert done.returncode == 0, done.stderr
        assert f"Chosen: responses at {server.url}/v1" in done.stdout
        assert "Proven: Codex 0.171.0 answered through taotoken with m1" in done.stdout
        text = (home / "config.toml").read_text()
        assert 'model = "m1"  # keep this comment' in text
        assert text.endswith('wire_api = "responses"\n')
        assert (home / "config.toml").read_text().splitlines()[0] == "# mine"
        before = (home / "config.toml").stat()
        again = run(*arguments, home=home)
        after = (home / "config.toml").stat()
        assert "already says so" in again.stdout
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert run("setup", "--undo", home=home).returncode == 0
    assert (home / "config.toml").read_text() == OLD
    assert sorted(p.name for p in home.iterdir() if p.is_file()) == ["config.toml"]


def test_chat_only_gateways_and_what_is_left_to_do(home: Path) -> None:
    with playing(api(wires=("chat",))) as server:
        done = run(
            "setup", "--base-url", server.url, "--model", "m1", "--codex", codex_binary(CURRENT), "--yes", home=home
        )
        assert done.returncode == 2
        assert "npm install -g @openai/codex@0.94.0" in done.stderr
        assert (home / "config.toml").read_text() == OLD
        old = run(
            "setup", "--base-url", server.url, "--model", "m1", "--codex", codex_binary(CHAT_ERA), "--yes", home=home
        )
        assert old.returncode == 0, old.stderr
        assert 'wire_api = "chat"' in (home / "config.toml").read_text()
        assert "Proven: Codex 0.80.0" in old.stdout


def test_a_dry_run_shows_the_change_and_writes_nothing(home: Path) -> None:
    with playing(api()) as server:
        done = run("setup", "--base-url", server.url, "--model", "m1", "--dry-run", "--yes", home=home, PATH="")
    assert '+model_provider = "taotoken"' in done.stdout
    assert '+env_key = "TAOTOKEN_API_KEY"' in done.stdout
    assert (home / "config.toml").read_text() == OLD


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nope"], "does not serve 'nope'"),
        ([], "--model: is missing. Served here: m1"),
        (["--model", "m1", "--wire-api", "chat"], "keeps Codex 0.95 and newer from starting"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(home: Path, arguments: list[str], said: str) -> None:
    with playing(api()) as server:
        done = run("setup", "--base-url", server.url, "--yes", *arguments, home=home, PATH="")
    assert done.returncode == 2
    assert said in done.stderr
    assert (home / "config.toml").read_text() == OLD


def test_without_a_key_it_says_how_to_set_one(home: Path) -> None:
    done = run(
        "setup",
        "--base-url",
        "http://127.0.0.1:9",
        "--model",
        "m",
        "--yes",
        home=home,
        TAOTOKEN_API_KEY="",
        SHELL="/usr/bin/fish",
    )
    assert done.returncode == 2
    assert "set -Ux TAOTOKEN_API_KEY" in done.stderr


def test_an_existing_provider_is_not_overwritten_without_consent(home: Path) -> None:
    mine = OLD + '[model_providers.taotoken]\nname = "Mine"\nbase_url = "https://other.example/v1"\n'
    (home / "config.toml").write_text(mine)
    arguments = ("setup", "--base-url", "https://gw.example/v1", "--model", "m1", "--no-smoke", "--yes")
    refused = run(*arguments, home=home)
    assert refused.returncode == 2
    assert "already there" in refused.stderr
    assert (home / "config.toml").read_text() == mine
    assert run(*arguments, "--replace-provider", home=home).returncode == 0
    assert 'base_url = "https://gw.example/v1"' in (home / "config.toml").read_text()


def test_a_broken_file_is_left_alone(home: Path) -> None:
    (home / "config.toml").write_text("model = \n")
    done = run("setup", "--base-url", "https://gw.example/v1", "--model", "m1", "--no-smoke", "--yes", home=home)
    assert done.returncode == 2
    assert "nothing was changed" in done.stderr
    assert (home / "config.toml").read_text() == "model = \n"


def test_no_planted_secret_appears_anywhere(home: Path) -> None:
    planted = [f"{p}{n:02d}" + "Planted7" * 4 for n in range(10) for p in ("sk-", "ghp_", "hf_", "glpat-")]
    planted += [f"AKIA{n:02d}PLANTEDSEVEN77" for n in range(10)]
    lines = [f'http_headers{n} = {{ Authorization = "Bearer {secret}" }}' for n, secret in enumerate(planted[:25])]
    lines += [f"api_key{n} = '{secret}'" for n, secret in enumerate(planted[25:])]
    around = [line for n, line in enumerate(lines) for line in (f"[mcp_servers.s{n}]", line)]
    (home / "config.toml").write_text("model = 'old'\n" + "\n".join(around) + "\n")
    arguments = ("setup", "--base-url", "https://gw.example/v1", "--model", "m1", "--no-smoke", "--yes")
    outputs = [run(*arguments, "--dry-run", home=home), run(*arguments, home=home), run("check", home=home, PATH="")]
    outputs += [run("check", "--format", "json", home=home, PATH=""), run("setup", "--undo", home=home)]
    names = " ".join(p.name for p in home.iterdir())
    for secret in planted:
        assert not any(secret in done.stdout + done.stderr for done in outputs)
        assert secret not in names


def test_no_activate_leaves_the_root_alone(home: Path) -> None:
    run(
        "setup",
        "--base-url",
        "https://gw.example/v1",
        "--model",
        "m1",
        "--no-smoke",
        "--yes",
        "--no-activate",
        home=home,
    )
    text = (home / "config.toml").read_text()
    assert text.startswith(OLD)
    assert "[model_providers.taotoken]" in text


def test_check_tells_the_effective_provider_and_why(home: Path) -> None:
    run("setup", "--base-url", "https://gw.example/v1", "--model", "m1", "--no-smoke", "--yes", home=home)
    done = run("check", "--format", "json", home=home, PATH="")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["findings"] == []
    assert report["effective"]["provider"] == "taotoken"
    assert report["effective"]["decided_by"] == "the root key model_provider"


def test_check_never_prints_a_pasted_key(home: Path) -> None:
    (home / "config.toml").write_text(
        f'model_provider = "t"\n[model_providers.t]\nname = "T"\nbase_url = "https://x/v1"\nenv_key = "{KEY}"\n'
    )
    for form in ("text", "json"):
        done = run("check", "--format", form, home=home, PATH="")
        assert done.returncode == 1
        assert "env_key_is_a_secret" in done.stdout
