"""Where base URL, model and key come from, in which order, and what is wrong with those that cannot work."""

from pathlib import Path

import pytest

from codex_skyrl.errors import ConfigError
from codex_skyrl.llm.provider import Key, Provider, Wanted, key_of, resolve_provider

CODEX = """
model = "some-model"
model_provider = "taotoken"
[model_providers.taotoken]
name = "TaoToken"
base_url = "https://gateway.example/api/v1/"
env_key = "MY_KEY"
wire_api = "responses"
"""


def provider(tmp_path: Path, config: str | None = None, wanted: Wanted | None = None, **env: str) -> Provider | None:
    if config is not None:
        (tmp_path / "config.toml").write_text(config, encoding="utf-8")
    return resolve_provider(wanted or Wanted(), env, tmp_path)


def test_the_codex_configuration(tmp_path: Path) -> None:
    found = provider(tmp_path, CODEX)
    assert found == Provider(
        "https://gateway.example/api/v1", "some-model", "responses", "MY_KEY", str(tmp_path / "config.toml")
    )


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    assert provider(tmp_path, "\ufeff" + CODEX) is not None


def test_options_go_before_environment_before_codex(tmp_path: Path) -> None:
    by_env = provider(tmp_path, CODEX, CODEX_SKYRL_BASE_URL="http://b", CODEX_SKYRL_MODEL="m2")
    assert by_env is not None
    assert (by_env.base_url, by_env.model) == ("http://b", "m2")
    by_option = provider(tmp_path, CODEX, Wanted("http://a", "m1", "chat", "K"), CODEX_SKYRL_BASE_URL="http://b")
    assert by_option == Provider("http://a", "m1", "chat", "K", "--base-url")


def test_nothing_configured_is_none_and_foreign_variables_are_not_taken(tmp_path: Path) -> None:
    assert provider(tmp_path, OPENAI_BASE_URL="http://other", OPENAI_API_KEY="x") is None


def test_another_active_provider_counts_only_with_a_key_variable(tmp_path: Path) -> None:
    other = 'model = "m"\nmodel_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "http://x"\n'
    assert provider(tmp_path, other) is None
    assert provider(tmp_path, other + 'env_key = "X_KEY"\n') is not None


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("model = ", "not valid TOML"),
        ('[model_providers.taotoken]\nbase_url = "http://x"\n', "no model id"),
        ('model = "m"\n[model_providers.taotoken]\nbase_url = "gateway.example"\n', "must begin with http"),
    ],
)
def test_what_cannot_work_is_said(tmp_path: Path, config: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        provider(tmp_path, config)


def test_keys_that_no_gateway_would_take(tmp_path: Path) -> None:
    found = provider(tmp_path, CODEX)
    assert found is not None
    assert key_of(found, {}) is None
    assert key_of(found, {"MY_KEY": "  "}) is None
    assert key_of(found, {"MY_KEY": "good"}) == Key("good")
    for bad in ("good\n", " good", '"good"', "Bearer good", "gööd"):
        with pytest.raises(ConfigError, match="MY_KEY") as caught:
            key_of(found, {"MY_KEY": bad})
        assert "good" not in str(caught.value)


def test_a_key_never_shows() -> None:
    assert "secret" not in repr(Key("secret"))
