"""Questions through the real Codex CLI against a scripted loopback gateway."""

import json
import os
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from codex_binary import CURRENT, codex_binary
from codex_skyrl.errors import ModelError
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.codex_exec import ask_codex
from setup_gateway import Play, Script, api, call, error, events, message, page, playing


class Small(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    stage: str
    line: int


def asked(tmp_path: Path, script: Script, limit_s: float = 60.0) -> tuple[Answer[Small], list[str]]:
    home, checkout = tmp_path / "home", tmp_path / "checkout"
    home.mkdir()
    checkout.mkdir()
    (checkout / "note.txt").write_text("eval at 12\n")
    with playing(script) as server:
        (home / "config.toml").write_text(
            f'model = "gpt-5.5"\nmodel_provider = "taotoken"\n[model_providers.taotoken]\nname = "TaoToken"\n'
            f'base_url = "{server.url}/v1"\nenv_key = "TAOTOKEN_API_KEY"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
        )
        env = {**os.environ, "CODEX_HOME": str(home), "TAOTOKEN_API_KEY": "planted-key"}
        answer = ask_codex("Why?", Small, codex_binary(CURRENT), env, "TAOTOKEN_API_KEY", checkout, "en", limit_s)
        return answer, [body for _, _, _, body in server.heard]


def test_a_command_is_run_read_only_then_the_answer_comes(tmp_path: Path) -> None:
    """Codex reads a file of the checkout by itself; the key is not in the command's environment."""

    def script(endpoint: str, body: str) -> Play | None:
        if "function_call_output" not in body:
            return events(call("cat note.txt; env | grep -c planted-key; touch x"))
        return events(message('{"stage": "eval", "line": 12}'))

    answer, heard = asked(tmp_path, api(answer=script))
    assert answer.value == Small(stage="eval", line=12)
    assert answer.output_tokens is not None
    output = next(body for body in heard if "function_call_output" in body)
    assert "eval at 12" in output
    assert "\\n0\\n" in output
    assert not (tmp_path / "checkout" / "x").exists()
    assert json.loads(heard[0])["text"]["format"]["schema"]["additionalProperties"] is False


def test_what_does_not_fit_the_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not fit the schema"):
        asked(tmp_path, api(answer=lambda endpoint, body: events(message('{"stage": 3}'))))


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (error(401, "no"), "refuses the key"),
        (page(), "other than a Responses stream"),
        (error(500, "x"), "its own fault"),
    ],
)
def test_failures_are_told_in_our_words(tmp_path: Path, play: Play, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        asked(tmp_path, api(answer=lambda endpoint, body: play))


def test_the_time_limit_is_ours(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="did not end within 3 s"):
        asked(tmp_path, api(answer=lambda endpoint, body: Play(200, b"", wait_s=20.0)), limit_s=3.0)
