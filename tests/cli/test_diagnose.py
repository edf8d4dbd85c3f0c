"""The real command in a real process: languages, formats, engines, bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli_runner import run
from codex_skyrl.report.model import Diagnosis
from gateway import chat, gateway
from story import batch, play, write_log


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    write_log(logs / "rollout.log", play(batch(4, 6, lambda i: {"init_s": 90.0, "sandbox_s": 80.0}), 4, 8))
    return tmp_path


def test_json_is_one_object_that_fits_the_published_schema(folder: Path) -> None:
    done = run("diagnose", "logs", "--format", "json", "--engine", "offline", cwd=folder)
    assert done.returncode == 0
    assert done.stderr == ""
    found = Diagnosis.model_validate_json(done.stdout)
    assert (found.verdict.bottleneck, found.engine) == ("init", "offline")
    assert found.inputs[0].path == "logs/rollout.log"


def test_every_log_citation_is_the_line_it_names(folder: Path) -> None:
    found = Diagnosis.model_validate_json(run("diagnose", "--format", "json", cwd=folder).stdout)
    lines = (folder / "logs" / "rollout.log").read_text().splitlines()
    cited = [e for e in found.evidence if e.kind == "log"]
    assert len(cited) >= 2
    for e in cited:
        assert e.line_start is not None
        assert e.quote == lines[e.line_start - 1]


def test_without_paths_the_usual_places_are_read(folder: Path) -> None:
    assert "initialisation" in run("diagnose", cwd=folder).stdout


@pytest.mark.parametrize(("lang", "word"), [("en", "Bottleneck: initialisation"), ("zh", "瓶颈：初始化")])
def test_languages_by_option_and_by_locale(folder: Path, lang: str, word: str) -> None:
    assert word in run("diagnose", "--lang", lang, cwd=folder).stdout
    locale = {"zh": "zh_CN.UTF-8", "en": "en_US.UTF-8"}[lang]
    assert word in run("diagnose", cwd=folder, LC_ALL=locale, PYTHONIOENCODING="utf-8").stdout


def test_a_report_can_be_written_to_a_file(folder: Path) -> None:
    done = run("diagnose", "--format", "markdown", "-o", "report.md", cwd=folder)
    assert done.stdout == ""
    assert "logs/rollout.log:" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["diagnose", "nowhere.log"], "nowhere.log: no such file or folder."),
        (["diagnose", "empty"], "empty: no log files were found."),
        (["diagnose", "--engine", "api"], "no model API is configured"),
        (["diagnose", "--engine", "psychic"], "psychic"),
        (["guess"], "guess"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "empty").mkdir()
    done = run(*arguments, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_auto_says_that_no_model_was_asked_and_why(folder: Path) -> None:
    done = run("diagnose", cwd=folder, CODEX_SKYRL_BASE_URL="http://127.0.0.1:9", CODEX_SKYRL_MODEL="m")
    assert done.returncode == 0
    assert "TAOTOKEN_API_KEY: the key is not set" in done.stderr
    assert "initialisation" in done.stdout


def test_the_api_engine_end_to_end(folder: Path) -> None:
    offline = Diagnosis.model_validate_json(run("diagnose", "--format", "json", cwd=folder).stdout)
    claims = [{"text": "as measured", "citations": [{"evidence": "E1", "quote": offline.evidence[0].says[:40]}]}]
    answer = {
        "bottleneck": "init",
        "cause": "container_start",
        "summary": "start-up is slow",
        "answers": [{"question": n, "claims": claims} for n in range(1, 7)],
        "experiment": {"knob": "k", "from_value": "1", "to_value": "2", "steps": 2, "compare": ["makespan"], "predicted": "-20%"},
    }  # fmt: skip
    key = "sk-" + "loop" * 6
    with gateway([chat(json.dumps(answer))]) as server:
        home = folder / "codex"
        home.mkdir()
        (home / "config.toml").write_text(
            f'model = "m1"\nmodel_provider = "taotoken"\n[model_providers.taotoken]\nname = "TaoToken"\n'
            f'base_url = "{server.base_url}"\nenv_key = "TAOTOKEN_API_KEY"\nwire_api = "chat"\n'
        )
        done = run("diagnose", "--lang", "en", cwd=folder, CODEX_HOME=str(home), TAOTOKEN_API_KEY=key)
        sent = server.requests[0]
    assert done.returncode == 0
    assert "[verified]" in done.stdout
    assert "Asking m1 at" in done.stderr
    assert sent[1]["authorization"] == f"Bearer {key}"
    assert key not in done.stdout + done.stderr + json.dumps(sent[2])


def test_events_lists_kinds_and_streams_json(folder: Path) -> None:
    table = run("events", "logs", "--lang", "en", cwd=folder).stdout
    assert "init_started" in table
    lines = run("events", "logs", "--format", "jsonl", cwd=folder).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    started = [r for r in records if r["kind"] == "init_started"]
    assert len(started) == 24
    assert started[0]["source"] == "logs/rollout.log"
    assert started[0]["earliest"] == "12:00:00"


def test_prompts_are_listed_shown_and_rendered(folder: Path) -> None:
    assert run("prompts", "list", "--lang", "en", cwd=folder).stdout.startswith("diagnose     Explain a measured")
    assert run("prompts", "show", "workers", "--lang", "zh", cwd=folder).stdout.startswith("---\nname: workers\n")
    done = run("prompts", "show", "init-high", "logs", "--lang", "en", cwd=folder)
    assert "limited by init" in done.stdout
    assert "tokens" in done.stderr


def test_help_starts_light() -> None:
    code = "import sys; from codex_skyrl.cli import group; group.main(['--help'], standalone_mode=False); print([m for m in ('openai', 'pydantic', 'rich', 'jinja2', 'httpx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    code = "from codex_skyrl.cli import main; main()"
    command = f"{sys.executable} -c '{code}' events logs --format jsonl | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert done.stdout.count("\n") == 1
