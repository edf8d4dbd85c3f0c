"""The real Codex CLI, current and of the chat era, against a loopback gateway: proof, failures in our words, no leftovers."""

import os
import time
from pathlib import Path

import pytest

from codex_binary import CHAT_ERA, CURRENT, codex_binary
from codex_skyrl.processes import run
from codex_skyrl.setup.codex import Codex, find_codex
from codex_skyrl.setup.smoke import Smoke, smoke_through_codex
from setup_gateway import Play, Script, api, error, page, playing

CONFIG = """\
model = "m1"
model_provider = "{active}"
[model_providers.taotoken]
name = "TaoToken"
base_url = "{url}"
env_key = "TAOTOKEN_API_KEY"
wire_api = "{wire}"
[model_providers.older]
name = "Older"
base_url = "{url}"
env_key = "TAOTOKEN_API_KEY"
wire_api = "{wire}"
"""


@pytest.fixture(scope="module", params=[CURRENT, CHAT_ERA])
def codex(request: pytest.FixtureRequest) -> Codex:
    found = find_codex(dict(os.environ), codex_binary(request.param))
    assert found is not None
    assert found.shown == request.param
    return found


@pytest.fixture(scope="module")
def current() -> Codex:
    found = find_codex(dict(os.environ), codex_binary(CURRENT))
    assert found is not None
    return found


def smoked(codex: Codex, tmp_path: Path, script: Script, wire: str = "responses", active: str = "taotoken", limit_s: float = 60.0, **env: str) -> Smoke:  # fmt: skip
    with playing(script) as server:
        path = tmp_path / "config.toml"
        path.write_text(CONFIG.format(url=f"{server.url}/v1", wire=wire, active=active))
        return smoke_through_codex(codex, path, "taotoken", {**os.environ, "TAOTOKEN_API_KEY": "k", **env}, limit_s)


def test_an_answer_with_the_nonce_through_this_provider_is_proof(codex: Codex, tmp_path: Path) -> None:
    smoke = smoked(codex, tmp_path, api())
    assert smoke.passed
    assert (smoke.provider, smoke.model) == ("taotoken", "m1")


def test_chat_works_only_with_a_codex_of_the_chat_era(codex: Codex, tmp_path: Path) -> None:
    smoke = smoked(codex, tmp_path, api(wires=("chat",)), wire="chat")
    assert smoke.passed == codex.knows_chat
    if not smoke.passed:
        assert "needs /responses" in smoke.what.en


def test_an_answer_through_another_provider_is_no_proof(current: Codex, tmp_path: Path) -> None:
    smoke = smoked(current, tmp_path, api(), active="older")
    assert not smoke.passed
    assert "'older'" in smoke.what.en


def test_an_answer_without_the_nonce_is_no_proof(current: Codex, tmp_path: Path) -> None:
    deaf = api(answer=lambda endpoint, body: api()("/v1/responses", "no nonce") if endpoint == "responses" else None)
    assert not smoked(current, tmp_path, deaf).passed


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (error(401, "no"), "refuses the key"),
        (page(), "other than a Responses stream"),
        (Play(404, b"404 page not found", "text/plain"), "no /responses"),
    ],
)
def test_codex_words_get_our_cause(current: Codex, tmp_path: Path, play: Play, said: str) -> None:
    smoke = smoked(current, tmp_path, api(answer=lambda endpoint, body: play))
    assert not smoke.passed
    assert said in smoke.what.en
    assert smoke.codex_words


def test_a_missing_variable_is_named(current: Codex, tmp_path: Path) -> None:
    assert "variable is not set" in smoked(current, tmp_path, api(), TAOTOKEN_API_KEY="").what.en


def test_our_time_limit_ends_the_whole_process_group(current: Codex, tmp_path: Path) -> None:
    begun = time.monotonic()
    smoke = smoked(current, tmp_path, api(answer=lambda endpoint, body: Play(200, b"", wait_s=20.0)), limit_s=4.0)
    assert time.monotonic() - begun < 15
    assert "did not end within 4 s" in smoke.what.en
    left = run(["ps", "-eo", "args"], dict(os.environ), None, 10.0).stdout
    assert "codex-skyrl-smoke-" not in left
