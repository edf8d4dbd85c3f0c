"""Secrets go, everything else stays byte for byte. Secret-like strings are put together here, never written out."""

import pytest

from codex_skyrl.context.redact import MASK, redact

TAIL = "A1b2C3d4" * 4


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + TAIL,
        "sk-proj-" + TAIL,
        "ghp_" + TAIL,
        "github_pat_" + TAIL,
        "hf_" + TAIL,
        "glpat-" + TAIL,
        "AKIA" + "ABCDEFGH" * 2,
        "eyJ" + TAIL + "." + TAIL + "." + TAIL,
    ],
)
@pytest.mark.parametrize("around", ["{}", "key {} used", '"{}",', "(pid=7) OPENAI_API_KEY={}", "x={}&y=1"])
def test_secrets_are_masked(secret: str, around: str) -> None:
    shown = redact(around.format(secret))
    assert secret not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer " + TAIL, f"Authorization: {MASK}"),
        ("postgres://user:" + "hunter" + "2pass@db/x", f"postgres://user:{MASK}@db/x"),
        ("db_password = 'letmein" + "99'", f"db_password = '{MASK}'"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nnext", f"{MASK}\nnext"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc", MASK),
    ],
)
def test_each_form_keeps_what_is_around_it(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "line",
    [
        "12:00:00 - openhands:INFO: codeact.py:1203 - Initializing runtime for instance pallets__flask-5000, trajectory 0",
        "Pending task: <Task pending name='Task-69' coro=<run_one_agent()>>",
        "[2025-05-20 12:00:37] Decode batch. #running-req: 4, #token: 19160, token usage: 0.01, #queue-req: 0",
        "actor_rollout_ref.rollout.max_parallel_agents=$MAX_PARALLEL_AGENTS",
        "token usage: 0.97, max_tokens=32768, prompt_tokens: 12",
        "http://10.0.0.20:8000/runtime/PLACEHOLDER/alive",
        "OPENAI_API_KEY=$TAOTOKEN_API_KEY",
        'env_key = "TAOTOKEN_API_KEY"',
        "step:3 - timing_s/gen:1292.008563 - timing_per_token_ms/gen:0.1",
    ],
)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    assert redact(line) == line
