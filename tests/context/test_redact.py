"""Secrets go, everything else stays byte for byte. Secret-like strings are put together here, never written out."""

import random
import string
from pathlib import Path

import pytest

from codex_skyrl.context.redact import MASK, known_secrets, redact, redact_for_sending

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


ALNUM, HEX, UPPER = string.ascii_letters + string.digits, "0123456789abcdef", string.ascii_uppercase + string.digits


def _made(chance: random.Random, letters: str, length: int) -> str:
    return "".join(chance.choice(letters) for _ in range(length - 4)) + "a1B2"[:4].lower()


KINDS = {
    "openai": lambda r: "sk-" + "proj-" + _made(r, ALNUM, 40),
    "gateway": lambda r: "sk-" + _made(r, ALNUM, 48),
    "anthropic": lambda r: "sk-ant-" + "api03-" + _made(r, ALNUM, 60),
    "github": lambda r: "ghp_" + _made(r, ALNUM, 36),
    "github_fine": lambda r: "github_pat_" + _made(r, ALNUM, 60),
    "gitlab": lambda r: "glpat-" + _made(r, ALNUM, 20),
    "hugging_face": lambda r: "hf_" + _made(r, ALNUM, 34),
    "aws_id": lambda r: "AKIA" + "".join(r.choice(UPPER) for _ in range(16)),
    "google": lambda r: "AIza" + _made(r, ALNUM, 35),
    "slack": lambda r: "xoxb-" + _made(r, string.digits, 12) + "-" + _made(r, ALNUM, 24),
    "stripe": lambda r: "sk_live_" + _made(r, ALNUM, 24),
    "jwt": lambda r: "eyJ" + _made(r, ALNUM, 30) + "." + _made(r, ALNUM, 60) + "." + _made(r, ALNUM, 40),
    "npm": lambda r: "npm_" + _made(r, ALNUM, 36),
    "pypi": lambda r: "pypi-AgEIcHlwaS5vcmc" + _made(r, ALNUM, 60),
    "sendgrid": lambda r: "SG." + _made(r, ALNUM, 22) + "." + _made(r, ALNUM, 43),
    "docker": lambda r: "dckr_pat_" + _made(r, ALNUM, 27),
    "aliyun": lambda r: "LTAI" + _made(r, ALNUM, 20),
    "groq": lambda r: "gsk_" + _made(r, ALNUM, 52),
    "nvidia": lambda r: "nvapi-" + _made(r, ALNUM, 64),
    "databricks": lambda r: "dapi" + "".join(r.choice(HEX) for _ in range(32)),
    "zhipu": lambda r: "".join(r.choice(HEX) for _ in range(32)) + "." + "".join(r.choice(ALNUM) for _ in range(16)),
    "vault": lambda r: "hvs." + _made(r, ALNUM, 40),
    "mailchimp": lambda r: "".join(r.choice(HEX) for _ in range(32)) + "-us12",
}  # fmt: skip
SHOWN = (
    "12:00:01 - openhands:INFO: codeact.py:835 - using {} for the pull",
    "(WorkerDict pid=81, ip=10.0.0.2) RuntimeError: 401 for {}",
    '{{"asctime": "2025-06-10 12:00:01,123", "message": "sent {}"}}',
    "  api: {}",
    '  - name: REGISTRY\n    value: "{}"',
    "export WHATEVER={}",
    "uv run train.py trainer.note='{}' \\",
    "docker login -u bot --password-stdin <<< {}",
    "curl -H 'X-Thing: {}' http://10.0.0.20:8000",
    "https://example.test/x?v={}&y=1",
)
BARE = {
    "password: {}": lambda r: _made(r, ALNUM, 9),
    'db_password = "{}"': lambda r: "correct horse " + _made(r, ALNUM, 6),
    "REDIS_PASSWORD={}": lambda r: _made(r, ALNUM, 8),
    "postgres://app:{}@db.internal:5432/x": lambda r: _made(r, ALNUM, 12),
    "redis://:{}@10.0.0.3:6379/0": lambda r: _made(r, ALNUM, 12),
    "Authorization: Basic {}": lambda r: _made(r, ALNUM, 20) + "==",
    "'authorization': 'Bearer {}'": lambda r: _made(r, ALNUM, 30),
    "WANDB_API_KEY={}": lambda r: "".join(r.choice(HEX) for _ in range(40)),
    "wandb login {}": lambda r: "".join(r.choice(HEX) for _ in range(40)),
    "aws_secret_access_key = {}": lambda r: _made(r, ALNUM + "/+", 40),
    "AccountName=x;AccountKey={};EndpointSuffix=core": lambda r: _made(r, ALNUM, 86) + "==",
    "https://blob.test/a.tar?sv=2021&sig={}": lambda r: _made(r, ALNUM, 43) + "%3D",
    "curl -u admin:{} http://10.0.0.9/": lambda r: _made(r, ALNUM, 10),
    "sshpass -p {} ssh node7": lambda r: _made(r, ALNUM, 10),
    "machine reg.test login bot password {}": lambda r: _made(r, ALNUM, 12),
    '"auths": {{"reg.test": {{"auth": "{}"}}}}': lambda r: _made(r, ALNUM, 28) + "==",
    "https://hooks.slack.com/services/{}": lambda r: "T" + _made(r, UPPER, 8) + "/B" + _made(r, UPPER, 8) + "/" + _made(r, ALNUM, 24),
    "kubectl --token {} get pods": lambda r: _made(r, ALNUM, 40),
    "Cookie: session={}": lambda r: _made(r, ALNUM, 30),
    "ENCRYPTION_KEY: {}": lambda r: _made(r, ALNUM, 32),
    "registry_token: '{}'": lambda r: _made(r, ALNUM, 24),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_ten_of_each_shape_in_logs_yaml_and_scripts(kind: str) -> None:
    chance = random.Random(kind)
    for around in SHOWN:
        secret = KINDS[kind](chance)
        text = around.format(secret)
        shown = redact_for_sending(text)
        assert secret not in shown and secret[8:] not in shown, shown
        assert shown.startswith(text.split(secret)[0][:4])


@pytest.mark.parametrize("around", BARE)
def test_ten_of_each_that_only_its_surroundings_betray(around: str) -> None:
    chance = random.Random(around)
    for _ in range(10):
        secret = BARE[around](chance)
        shown = redact_for_sending(around.format(secret))
        assert secret not in shown, shown
        assert MASK in shown


@pytest.mark.parametrize("kind", ["RSA ", "OPENSSH ", "EC ", "", "PGP "])
def test_whole_private_keys(kind: str) -> None:
    block = " BLOCK" if kind == "PGP " else ""
    inside = "\n".join("MIIE" + _made(random.Random(n), ALNUM, 60) for n in range(4))
    text = (
        f"key: |\n  -----BEGIN {kind}PRIVATE KEY{block}-----\n{inside}\n-----END {kind}PRIVATE KEY{block}-----\nafter"
    )
    assert redact_for_sending(text) == f"key: |\n  {MASK}\nafter"


def test_a_key_inside_json_of_a_service_account() -> None:
    inside = "MIIE" + TAIL
    text = '{"private_key": "-----BEGIN PRIVATE KEY-----\\n' + inside + '\\n-----END PRIVATE KEY-----\\n", "x": 1}'
    shown = redact_for_sending(text)
    assert inside not in shown and '"x": 1' in shown


def test_values_of_the_environment_and_of_dot_env_go_whatever_they_look_like(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "ALLHANDS_API_KEY='plain-" + "words-here'\nSANDBOX_REMOTE_RUNTIME_API_URL=https://rt.test\nMODE=debug\n"
    )
    known = known_secrets({"MY_TOKEN": "zebra" + "crossing9", "PATH": "/usr/bin", "HOME_KEY": "/opt/x"}, tmp_path)
    shown = redact("sent plain-" + "words-here and zebra" + "crossing9 in debug at /usr/bin", known)
    assert shown == f"sent {MASK} and {MASK} in debug at /usr/bin"


@pytest.mark.parametrize(
    "line",
    [
        "pad_token: <|endoftext|>, eos_token_id: 151645, tokenizer.chat_template: default",
        "instance_key: instance\ninstance_id_key: instance.instance_id\nreward_fn_key: data_source",
        "commit 833633271 890b62a10 6f3ba3236c0d2f4f33ec9a8c2e9a1d4d5b6c7e8f merged",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "docker.io/xingyaoww/sweb.eval.x86_64.django_s_django-11099:latest",
        "[runtime session_id=3f2504e0-4f89-11d3-9a0c-0305e82c3301 runtime_id=unknown] Building",
        "cat: /etc/passwd: Permission denied",
        "if not passwd: raise ValueError(password)",
        "secretName: ${SECRET_NAME}",
        "password: ${DB_PASSWORD:-none}  api_key=os.environ['X_API_KEY']",
        "#token: 1234567890, gen throughput (token/s): 612.33",
        "SANDBOX_ENV_API_KEY=<your-key> HF_TOKEN=$HF_TOKEN",
        "key: value, sort_key=created_at, primary_key=instance_id",
        "mysqlclient-2.1 mysql -p",
        "scikit-learn__scikit-learn-10297, 3 task-sk-learn desk-12345678901234567890",
        "self.token_ids_per_step_key_padding = 4",
        "x: sk-learn flask-5000 Task-69 risk-assessment-2024-report",
    ],
)
def test_more_ordinary_text_stays(line: str) -> None:
    assert redact_for_sending(line) == line
