"""Decides whether a model is asked, says which and why, and asks it. `auto` never fails because of a model."""

import os
from pathlib import Path
from typing import Literal

from codex_skyrl.cli.console import Consoles
from codex_skyrl.errors import CodexSkyrlError, ConfigError
from codex_skyrl.llm.provider import ENV_KEY, Key, Provider, Wanted, key_of, resolve_provider
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.setup.codex import codex_home, find_codex
from codex_skyrl.text import Lang, Text


def ask_codex_model(diagnosis: Diagnosis, show: Consoles, wanted: Wanted, binary: str | None) -> Diagnosis:
    """The diagnosis with the answer of a model asked through Codex, with the user's own Codex configuration.

    Raises:
        CodexSkyrlError: when there is no Codex, or it fails.
    """
    from codex_skyrl.consult import consult_codex

    codex = find_codex(os.environ, binary)
    if codex is None:
        raise ConfigError("there is no Codex on PATH.", where="--engine codex", fix="npm install -g @openai/codex")
    show.talk.print(
        Text(f"Asking through Codex {codex.shown} ...", f"正在通过 Codex {codex.shown} 询问……").to(diagnosis.lang)
    )
    return consult_codex(diagnosis, codex.path, os.environ, wanted.env_key or ENV_KEY, Path.cwd())


def ask_model(diagnosis: Diagnosis, engine: Literal["auto", "api"], show: Consoles, wanted: Wanted) -> Diagnosis:
    """The diagnosis, with the model's checked answer when one was asked.

    Raises:
        CodexSkyrlError: with `api`, when the model cannot be asked.
    """
    lang = diagnosis.lang
    try:
        provider, key = _configured(wanted)
    except CodexSkyrlError as problem:
        return _without(diagnosis, engine, show, problem)
    show.talk.print(
        Text(
            f"Asking {provider.model} at {provider.base_url} (from {provider.told_by}) ...",
            f"正在询问 {provider.base_url} 上的 {provider.model}（来自 {provider.told_by}）……",
        ).to(lang)
    )
    from codex_skyrl.consult import consult

    try:
        return consult(diagnosis, provider, key)
    except CodexSkyrlError as problem:
        return _without(diagnosis, engine, show, problem)


def _configured(wanted: Wanted) -> tuple[Provider, Key]:
    provider = resolve_provider(wanted, os.environ, codex_home(os.environ))
    if provider is None:
        raise ConfigError("no model API is configured.", fix="Give --base-url and --model, or run: codex-skyrl setup")
    key = key_of(provider, os.environ)
    if key is None:
        raise ConfigError(
            "the key is not set in this shell.", where=provider.env_key, fix=f"export {provider.env_key}=..."
        )
    return provider, key


def _without(diagnosis: Diagnosis, engine: str, show: Consoles, problem: CodexSkyrlError) -> Diagnosis:
    """With `auto` the offline diagnosis stands by itself, and the user hears why."""
    if engine == "api":
        raise problem
    show.talk.print(_no_model(problem, diagnosis.lang))
    return diagnosis


def _no_model(problem: CodexSkyrlError, lang: Lang) -> str:
    return Text(f"Offline diagnosis, no model was asked: {problem}", f"离线诊断，未询问模型：{problem}").to(lang)
