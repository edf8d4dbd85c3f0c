"""From the command line to a model and back: what is sent, kept, masked, checked; over the API and through the real Codex."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import cli_runner
from codex_binary import CURRENT, codex_binary
from codex_skyrl.report.model import Diagnosis
from gateway import chat, gateway
from mini_checkout import v0
from setup_gateway import api, call, events, message, playing
from story import batch, play, write_log

KEY = "sk-" + "loopback" * 4


def run(*arguments: str, cwd: Path, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    done = cli_runner.run(*arguments, cwd=cwd, **{"CODEX_HOME": str(cwd / "home"), "TAOTOKEN_API_KEY": KEY, **env})
    assert done.returncode == code, done.stderr
    assert KEY not in done.stdout + done.stderr
    return done


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with logs in it."""
    root = v0(tmp_path / "skyrl")
    (root / "logs").mkdir()
    write_log(root / "logs" / "rollout.log", play(batch(4, 6, lambda i: {"init_s": 90.0, "sandbox_s": 80.0}), 4, 8))
    return root


def ids(prompt: str) -> list[str]:
    return re.findall(r"(?m)^([EC]\d+) \[", prompt)


def answer_from(prompt: str, quote: str | None = None) -> dict[str, Any]:
    """An answer that cites the first piece of evidence of the prompt, by its own sentence."""
    name, says = re.findall(r"(?m)^([EC]\d+) \[[^\]]*\] (.+)$", prompt)[0]
    claims = [
        {
            "text": "This is what limits it.",
            "citations": [{"evidence": name, "quote": quote or says}],
            "commands": ["nvidia-smi"],
        }
    ]
    return {
        "bottleneck": "init", "cause": "container_start", "summary": "Look at the first stage.",
        "answers": [{"question": n, "claims": claims} for n in range(1, 7)],
        "experiment": {"knob": "max_parallel_agents", "from_value": "64", "to_value": "32", "steps": 2, "compare": ["makespan_s"], "predicted": "less"},
    }  # fmt: skip


def packed(checkout: Path, *more: str) -> str:
    return run("pack", "--lang", "en", *more, cwd=checkout).stdout


def test_pack_prints_exactly_what_is_sent(checkout: Path) -> None:
    prompt = packed(checkout)
    with gateway([chat(json.dumps(answer_from(prompt)))]) as server:
        run("diagnose", "--engine", "api", "--lang", "en", "--model", "m", "--base-url", server.base_url, cwd=checkout)
        [(_, _, body)] = [r for r in server.requests if r[0].endswith("/responses")][:1]
    assert body["input"][0]["content"] == prompt
    assert "async def pipeline(self):" in prompt
    done = run("pack", "--budget-tokens", "4000", "--lang", "en", cwd=checkout)
    assert re.search(r"About [\d,]+ of 4,000 tokens .* Left out: ", done.stderr)
    assert len(done.stdout) < len(prompt)


def test_the_same_question_is_asked_once_and_kept(checkout: Path, tmp_path: Path) -> None:
    state = tmp_path / "kept"
    reply = chat(json.dumps(answer_from(packed(checkout))))
    with gateway([reply]) as server:
        asked = [
            "diagnose",
            "--engine",
            "api",
            "--lang",
            "en",
            "--model",
            "m",
            "--base-url",
            server.base_url,
            "--wire-api",
            "chat",
            "--format",
            "json",
        ]
        first = Diagnosis.model_validate_json(run(*asked, cwd=checkout, XDG_STATE_HOME=str(state)).stdout)
        again = Diagnosis.model_validate_json(run(*asked, cwd=checkout, XDG_STATE_HOME=str(state)).stdout)
        assert len(server.requests) == 1
        run(*asked, "--no-cache", cwd=checkout, XDG_STATE_HOME=str(state))
        assert len(server.requests) == 2
        run(*asked, "--budget-tokens", "4000", cwd=checkout, XDG_STATE_HOME=str(state))
        assert len(server.requests) == 3
    assert first.report is not None
    assert again.report is not None
    assert first.report.answers == again.report.answers
    assert "--no-cache asks again" in again.report.notes[-1]
    kept = sorted((state / "codex-skyrl" / "exchanges").iterdir())
    assert len(kept) == 3
    assert KEY not in kept[0].read_text()
    done = run("report", "verify", str(kept[0]), "--lang", "en", cwd=checkout)
    assert "6 of 6 claims verified" in done.stdout


def test_masked_on_the_way_out_and_restored_in_the_report(checkout: Path) -> None:
    log = checkout / "logs" / "rollout.log"
    log.write_text(log.read_text().replace("repo__project", "acme__rocket"))
    prompt = packed(checkout, "--mask")
    assert "acme" not in prompt
    line = next(text for text in re.findall(r"(?m)^   > (.*)$", prompt) if "REPO_1-" in text)
    name = next(
        i for i in ids(prompt) if f"{i} [" in prompt and line in prompt.split(f"\n{i} [")[1].split("\n" + "E")[0]
    )
    body = answer_from(prompt)
    for part in body["answers"]:
        part["claims"][0]["citations"] = [{"evidence": name, "quote": line}]
    with gateway([chat(json.dumps(body))]) as server:
        asked = [
            "diagnose",
            "--engine",
            "api",
            "--lang",
            "en",
            "--model",
            "m",
            "--base-url",
            server.base_url,
            "--mask",
            "--format",
            "json",
        ]
        found = Diagnosis.model_validate_json(run(*asked, cwd=checkout).stdout)
        assert "acme" not in json.dumps([r[2] for r in server.requests])
    assert found.report is not None
    claims = [c for a in found.report.answers for c in a.claims]
    assert [c.problems for c in claims] == [[]] * 6
    assert "acme__rocket" in claims[0].citations[0].quote


@pytest.mark.parametrize(("quote", "verified"), [(None, 6), ("words that stand nowhere", 0)])
def test_a_pasted_answer_is_checked_like_any_other(checkout: Path, quote: str | None, verified: int) -> None:
    answer = answer_from(packed(checkout), quote)
    (checkout / "answer.json").write_text(json.dumps(answer))
    done = run(
        "report", "verify", "answer.json", "--format", "json", "--lang", "en", cwd=checkout, code=0 if verified else 1
    )
    assert json.loads(done.stdout)["verified"] == verified
    said = run("report", "verify", "answer.json", "--lang", "en", cwd=checkout, code=0 if verified else 1).stdout
    assert f"{verified} of 6 claims verified" in said


def test_prompts_with_context_are_packs_too(checkout: Path) -> None:
    assert run("prompts", "show", "workers", "--with-context", "--lang", "en", cwd=checkout).stdout == packed(
        checkout, "--prompt", "workers"
    )
    assert "{{ evidence }}" in run("prompts", "show", "workers", "--lang", "en", cwd=checkout).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pack", "--prompt", "nope"], "no prompt named 'nope'"),
        (["pack", "--budget-tokens", "300"], "--budget-tokens: the prompt alone takes"),
        (["report", "verify", "none.md"], "none.md"),
        (["report", "verify", "logs/rollout.log", "--diagnosis", "logs/rollout.log"], "is no report of"),
    ],
)
def test_bad_input_is_one_sentence(checkout: Path, arguments: list[str], said: str) -> None:
    done = run(*arguments, "--lang", "en", cwd=checkout, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_real_codex_reads_a_file_and_then_reports(checkout: Path, tmp_path: Path) -> None:
    """`diagnose --engine codex`: the pack on stdin, a read command in the checkout, the report checked as any other."""
    prompt = packed(checkout)

    def script(endpoint: str, body: str) -> Any:
        done = body.count('"function_call_output"')
        if done < 2:
            read = "sed -n 48,49p verl/workers/agentic/codeact.py; env | grep -c loopback"
            return events(call("touch made" if done else read, f"c{done}"))
        return events(message(json.dumps(answer_from(prompt))))

    home = tmp_path / "codex"
    home.mkdir()
    with playing(api(answer=script)) as server:
        (home / "config.toml").write_text(
            f'model = "gpt-5.5"\nmodel_provider = "taotoken"\n[model_providers.taotoken]\nname = "TaoToken"\nbase_url = "{server.url}/v1"\n'
            'env_key = "TAOTOKEN_API_KEY"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
        )
        done = run("diagnose", "--engine", "codex", "--codex", codex_binary(CURRENT), "--lang", "en", "--format", "json",
                   cwd=checkout, CODEX_HOME=str(home))  # fmt: skip
        heard = [body for _, _, _, body in server.heard if "function_call_output" in body]
    found = Diagnosis.model_validate_json(done.stdout)
    assert found.engine == "codex"
    assert found.report is not None
    assert all(c.verified for a in found.report.answers for c in a.claims)
    assert "Codex runs: " in done.stderr
    assert "sed -n 48,49p" in done.stderr
    assert "ready = asyncio.Queue(maxsize=self.max_parallel_agents)" in heard[0]
    assert "\\n0\\n" in heard[0]
    assert not (checkout / "made").exists()
