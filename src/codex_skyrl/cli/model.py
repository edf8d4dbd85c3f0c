"""Decides whether a model is asked, says which and why, and asks it. `auto` never fails because of a model."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from codex_skyrl.analyse import Read, pack_material
from codex_skyrl.cli.console import Consoles
from codex_skyrl.cli.options import state_folder
from codex_skyrl.consult import Engine, consult, known_of
from codex_skyrl.context.mask import Masker
from codex_skyrl.context.pack import pack
from codex_skyrl.errors import CodexSkyrlError, ConfigError
from codex_skyrl.llm.answer import Answer
from codex_skyrl.llm.exchanges import Exchanges
from codex_skyrl.llm.forms import KnownForms
from codex_skyrl.llm.provider import ENV_KEY, Key, Provider, Wanted, key_of, resolve_provider
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.wire import WireReport
from codex_skyrl.setup.codex import codex_home, find_codex
from codex_skyrl.text import Lang, Text


@dataclass(frozen=True, slots=True)
class Asking:
    """How a model is asked: the budget of the pack, masked or not, with kept answers or not."""

    budget_tokens: int
    mask: bool
    cached: bool


def ask_codex_model(
    diagnosis: Diagnosis, material: Read, asking: Asking, show: Consoles, wanted: Wanted, binary: str | None
) -> Diagnosis:
    """The diagnosis with the answer of a model asked through Codex, with the user's own Codex configuration.

    Raises:
        CodexSkyrlError: when there is no Codex, or it fails.
    """
    from codex_skyrl.llm.codex_exec import ask_codex

    codex = find_codex(os.environ, binary)
    if codex is None:
        raise ConfigError("there is no Codex on PATH.", where="--engine codex", fix="npm install -g @openai/codex")
    lang = diagnosis.lang
    said = Text(f"Asking through Codex {codex.shown} ...", f"正在通过 Codex {codex.shown} 询问……").to(lang)
    root = Path(material.checkout.root) if material.checkout is not None else Path.cwd()
    runs = Text("Codex runs", "Codex 正在执行").to(lang)

    def progress(command: str) -> None:
        show.talk.print(f"  {runs}: {neutral(command)}", soft_wrap=True)

    def ask(prompt: str) -> Answer[WireReport]:
        show.talk.print(said)
        key = wanted.env_key or ENV_KEY
        return ask_codex(prompt, WireReport, codex.path, os.environ, key, root, lang, progress=progress)

    identity = f"{codex.shown} {_configuration_of_codex()} {root}"
    return _consult(diagnosis, material, asking, Engine("codex", identity, ask))


def _configuration_of_codex() -> str:
    """A digest of the user's Codex configuration: with another one the answer may be another."""
    try:
        return sha256((codex_home(os.environ) / "config.toml").read_bytes()).hexdigest()
    except OSError:
        return "-"


def ask_model(
    diagnosis: Diagnosis, material: Read, engine: Literal["auto", "api"], asking: Asking, show: Consoles, wanted: Wanted
) -> Diagnosis:
    """The diagnosis, with the model's checked answer when one was asked.

    Raises:
        CodexSkyrlError: with `api`, when the model cannot be asked.
    """
    lang = diagnosis.lang
    try:
        provider, key = _configured(wanted)
    except CodexSkyrlError as problem:
        return _without(diagnosis, engine, show, problem)

    def ask(prompt: str) -> Answer[WireReport]:
        from codex_skyrl.llm.ask import ask as ask_api

        show.talk.print(
            Text(
                f"Asking {provider.model} at {provider.base_url} (from {provider.told_by}) ...",
                f"正在询问 {provider.base_url} 上的 {provider.model}（来自 {provider.told_by}）……",
            ).to(lang)
        )
        return ask_api(prompt, WireReport, provider, key, forms=KnownForms(state_folder() / "forms.json"))

    try:
        return _consult(diagnosis, material, asking, Engine("api", f"{provider.model} {provider.base_url}", ask))
    except CodexSkyrlError as problem:
        return _without(diagnosis, engine, show, problem)


def _consult(diagnosis: Diagnosis, material: Read, asking: Asking, engine: Engine) -> Diagnosis:
    packed = pack("diagnose", diagnosis, pack_material(material, diagnosis, os.environ), asking.budget_tokens)
    known = known_of(packed.diagnosis, material.checkout, material.knobs)
    masker = Masker() if asking.mask else None
    return consult(packed, known, engine, Exchanges(state_folder() / "exchanges"), masker=masker, cached=asking.cached)


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
