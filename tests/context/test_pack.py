"""A pack holds what decides, in the mission's order, within its budget, without secrets; and it is always the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codex_skyrl.analyse import Read, analyse, pack_material, read
from codex_skyrl.context.pack import Pack, pack
from codex_skyrl.context.tokens import tokens_of
from codex_skyrl.errors import InputError
from codex_skyrl.text import Lang
from mini_checkout import v0

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return v0(tmp_path / "checkout")


def packed(
    checkout: Path, sample: str = "init_cache_miss", budget: int = 24_000, lang: Lang = "en", env: dict[str, str] | None = None
) -> Pack:  # fmt: skip
    material: Read = read([str(SAMPLES / sample)], SAMPLES.parent, None, checkout_at=checkout)
    diagnosis = analyse(material, lang)
    return pack("diagnose", diagnosis, pack_material(material, diagnosis, env or {}), budget)


def test_sections_come_in_the_missions_order(checkout: Path) -> None:
    prompt = packed(checkout).prompt
    at = [prompt.index(f"=== {n}. ") for n in (1, 2, 3, 4)]
    assert at == sorted(at)
    assert at[0] < prompt.index("init_queue: maximum depth") < at[1]
    assert at[1] < prompt.index("ready = asyncio.Queue(maxsize=self.max_parallel_agents)") < at[2]
    assert at[2] < prompt.index("#running-req") < at[3]
    assert at[3] < prompt.index("Successfully pulled image")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("budget", [4_400, 5_000, 24_000])
def test_it_stays_within_its_budget_and_says_what_it_left_out(checkout: Path, budget: int, lang: Lang) -> None:
    found = packed(checkout, budget=budget, lang=lang)
    assert found.tokens == tokens_of(found.prompt) <= budget
    assert all(one.what in found.prompt for one in found.left_out)
    assert bool(found.left_out) is (budget < 5_500)
    for name in found.diagnosis.verdict.evidence:
        assert f"\n{name} [" in found.prompt


def test_whole_functions_and_the_settings_of_the_workers_are_in_it(checkout: Path) -> None:
    found = packed(checkout)
    [function] = [e for e in found.diagnosis.evidence if e.says == "function Group.pipeline"]
    for line in function.quote.split("\n"):
        assert f"> {line}".rstrip() in found.prompt
    quotes = {(e.source, e.line_start): e.quote for e in found.diagnosis.evidence if e.says.startswith("setting: ")}
    assert quotes["verl/trainer/config/ppo_trainer.yaml", 7] == "max_eval_parallel_agents: -1"
    assert any("max_parallel_agents=$MAX_PARALLEL_AGENTS" in quote for quote in quotes.values())


def test_it_is_the_same_every_time(checkout: Path) -> None:
    """Also in another process, whose sets are in another order."""
    code = (
        "import sys; from pathlib import Path; from codex_skyrl.analyse import *; from codex_skyrl.context.pack import pack\n"
        "m = read([sys.argv[1]], Path(sys.argv[2]), None, checkout_at=Path(sys.argv[3])); d = analyse(m, 'en')\n"
        "sys.stdout.buffer.write(pack('diagnose', d, pack_material(m, d, {}), 5000).prompt.encode())"
    )
    place = [str(SAMPLES / "init_cache_miss"), str(SAMPLES.parent), str(checkout)]
    prompts = {
        subprocess.run(
            [sys.executable, "-c", code, *place],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert prompts == {packed(checkout, budget=5_000).prompt.encode()}


def test_secrets_of_code_settings_and_environment_stay(checkout: Path) -> None:
    token = "hf_" + "Kq8" * 11
    script = checkout / "examples/sky/run.sh"
    script.write_text(script.read_text().replace("AGENTS=64", f"AGENTS=64 # {token}"))
    (checkout / ".env").write_text("TEAM_PHRASE=correct-Horse9-battery\n")
    code = checkout / "verl/workers/agentic/codeact.py"
    code.write_text(code.read_text().replace('"""Three queues."""', '"""correct-Horse9-battery sesame-opens-9"""'))
    found = packed(checkout, env={"MY_SERVICE_TOKEN": "sesame-opens-9"})
    shown = found.prompt + found.diagnosis.model_dump_json()
    assert "[redacted]" in shown
    for secret in (token, "correct-Horse9-battery", "sesame-opens-9"):
        assert secret not in shown


def test_a_budget_below_the_prompt_itself_is_named(checkout: Path) -> None:
    with pytest.raises(InputError, match=r"--budget-tokens: the prompt alone takes [\d,]+ tokens of 900"):
        packed(checkout, budget=900)


def test_tokens_are_never_fewer_than_a_tokenizer_counts() -> None:
    """Counts of the vocabularies cl100k / o200k, the larger one, taken once."""
    counted = {
        "12:00:31 - openhands:INFO: codeact.py:1203 - Initializing runtime for instance django__django-11099, trajectory 3": 37,
        "            max_parallel_agents=self.config.max_parallel_agents // self.device_mesh.size(0),": 19,
        "The queue is bounded, so a slow evaluator holds the agents before it.": 14,
        "队列有界，所以评测慢会挡住前面的 agent。": 24,
    }
    for text, tokens in counted.items():
        assert tokens <= tokens_of(text) <= 2 * tokens
