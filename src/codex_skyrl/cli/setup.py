"""`codex-skyrl setup`: find out what the gateway can do, show the change, write it, prove it."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import Consoles, consoles, resolve_lang
from codex_skyrl.errors import ConfigError
from codex_skyrl.text import Lang, Text

if TYPE_CHECKING:
    from codex_skyrl.setup.codex import Codex
    from codex_skyrl.setup.plan import Settled
    from codex_skyrl.setup.probe import Base

_DEFAULT_URL = "https://taotoken.net/api"


@click.command(epilog="Example: codex-skyrl setup --dry-run")
@click.option("--base-url", help=f"The gateway's API address; asked for when missing (published: {_DEFAULT_URL}).")
@click.option("--model", help="Model id; asked for when missing, from the gateway's own list.")
@click.option("--provider", default="taotoken", show_default=True, help="Id of the provider table.")
@click.option("--env-key", default="TAOTOKEN_API_KEY", show_default=True, help="Variable that holds the key.")
@click.option("--wire-api", type=click.Choice(["auto", "responses", "chat"]), default="auto", show_default=True)
@click.option("--activate/--no-activate", default=True, show_default=True, help="Make it the active provider.")
@click.option("--config", type=click.Path(), help="File to edit; default: config.toml in CODEX_HOME or ~/.codex.")
@click.option("--codex", "binary", help="Codex binary; default: the one on PATH.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@click.option("--replace-provider", is_flag=True, help="Consent to change an existing provider of that id.")
@click.option("--no-smoke", is_flag=True, help="Write without asking the gateway or Codex.")
@click.option("--undo", "go_back", is_flag=True, help="Put the last backup back, byte for byte.")
@options.lang
def setup(
    base_url: str | None, model: str | None, provider: str, env_key: str, wire_api: str, activate: bool, config: str | None,
    binary: str | None, dry_run: bool, yes: bool, replace_provider: bool, no_smoke: bool, go_back: bool, lang: Lang | None,
) -> None:  # fmt: skip
    """Write the TaoToken provider into the Codex configuration and prove that it works.

    Only the provider's own keys (and model, model_provider with --activate) change; every other byte stays.
    """
    from codex_skyrl.setup.codex import codex_home, find_codex
    from codex_skyrl.setup.document import read_document
    from codex_skyrl.setup.edit import edited
    from codex_skyrl.setup.files import real_target, replace_file, undo
    from codex_skyrl.setup.plan import can_speak, changes_of, conflicts

    env = dict(os.environ)
    chosen = resolve_lang(lang, env)
    show = consoles(env, sys.stdout, sys.stderr)
    path = Path(config) if config else codex_home(env) / "config.toml"
    if go_back:
        undo(path)
        _say(show, chosen, f"{path} is as it was before.", f"{path} 已恢复原样。")
        return
    ask = _Asks(show, chosen, may_ask=sys.stdin.isatty() and not yes)
    real_target(path)
    document = read_document(path)
    url = base_url or ask.text(Text("Base URL", "Base URL"), _DEFAULT_URL, "--base-url")
    codex = find_codex(env, binary)
    plan = _settle(show, chosen, url, model, env_key, wire_api, codex, no_smoke, env, ask)
    if not can_speak(plan.wire, codex):
        raise ConfigError(
            'wire_api = "chat" keeps Codex 0.95 and newer from starting.', where="--wire-api", fix="Use responses."
        )
    changes = changes_of(plan, provider, env_key, activate=activate)
    if not replace_provider:
        _consent(conflicts(document.values or {}, provider, changes), provider, ask, path)
    result = edited(document, changes)
    if result is document:
        _say(show, chosen, f"{path} already says so; it is untouched.", f"{path} 已是如此，未做改动。")
    else:
        show.out.print(_diff(document.text, result.text, path), soft_wrap=True)
        if dry_run:
            return
        ask.confirm(Text("Write this?", "写入吗？"))
        backup = replace_file(path, document.raw if document.exists else None, result.raw)
        _say(
            show,
            chosen,
            f"Written. Backup: {backup} (codex-skyrl setup --undo)",
            f"已写入。备份：{backup}（codex-skyrl setup --undo 可恢复）",
        )
    _finish(show, chosen, path, provider, env_key, codex, no_smoke, env)


class _Asks:
    """Questions to a person, where there is one."""

    def __init__(self, show: Consoles, lang: Lang, *, may_ask: bool) -> None:
        self._show, self._lang, self.may_ask = show, lang, may_ask

    def text(self, what: Text, default: str | None, option: str) -> str:
        if not self.may_ask:
            raise ConfigError("is missing.", where=option, fix="Give it, or run setup in a terminal.")
        return str(click.prompt(what.to(self._lang), default=default, err=True))

    def one_of(self, what: Text, names: list[str], option: str) -> str:
        if not self.may_ask:
            raise ConfigError("is missing.", where=option, fix=f"Served here: {', '.join(names[:12])}")
        return str(click.prompt(what.to(self._lang), type=click.Choice(names), err=True))

    def confirm(self, what: Text) -> None:
        if self.may_ask and not click.confirm(what.to(self._lang), default=True, err=True):
            raise click.Abort


def _settle(
    show: Consoles, lang: Lang, url: str, model: str | None, env_key: str, wire_api: str, codex: Codex | None, no_smoke: bool,
    env: dict[str, str], ask: _Asks,
) -> Settled:  # fmt: skip
    """Base URL, model and wire: from the gateway's answers, or as given with --no-smoke."""
    from codex_skyrl.setup.choose import choose
    from codex_skyrl.setup.plan import Settled
    from codex_skyrl.setup.probe import clean_base, probe
    from codex_skyrl.setup.shells import export_hint, shell_of

    if no_smoke:
        wire = "responses" if wire_api == "auto" else wire_api
        return Settled(clean_base(url), model or ask.text(Text("Model id", "模型 id"), None, "--model"), wire)
    key = env.get(env_key, "").strip()
    if not key:
        hint = export_hint(shell_of(env), env_key).to(lang)
        raise ConfigError(
            f"is not set in this process.\n{hint}\n", where=env_key, fix="Or write without proof: --no-smoke"
        )
    found = probe(url, key, model)
    _show_probe(show, lang, found.bases)
    named = model
    if named is None and found.served:
        named = ask.one_of(Text("Model", "模型"), list(found.served), "--model")
    elif named is not None and found.served and named not in found.served:
        raise ConfigError(
            f"the gateway does not serve {named!r}.", where="--model", fix=f"Served: {', '.join(found.served[:12])}"
        )
    choice = choose(found, codex)
    if choice.wire is None or choice.base_url is None:
        raise ConfigError(choice.why.to(lang))
    wire = choice.wire if wire_api == "auto" else wire_api
    if wire not in found.wires:
        raise ConfigError(f"the gateway does not answer on it: {choice.why.to(lang)}.", where=f"--wire-api {wire}")
    _say(
        show,
        lang,
        f"Chosen: {wire} at {choice.base_url}; {choice.why.en}.",
        f"选定：{choice.base_url} 上的 {wire}；{choice.why.zh}。",
    )
    return Settled(choice.base_url, named or ask.text(Text("Model id", "模型 id"), None, "--model"), wire)


def _show_probe(show: Consoles, lang: Lang, bases: tuple[Base, ...]) -> None:
    for base in bases:
        for name, judged in (
            ("/models", base.models),
            ("/responses", base.responses),
            ("/chat/completions", base.chat),
        ):
            fix = f" -> {judged.fix.to(lang)}" if judged.fix.to(lang) else ""
            show.out.print(
                f"{'ok' if judged.ok else '--'}  {base.url}{name}: {judged.what.to(lang)}{fix}", soft_wrap=True
            )


def _consent(differs: list[str], provider: str, ask: _Asks, path: Path) -> None:
    """An existing provider of that id is changed only with the user's word."""
    if not differs:
        return
    if not ask.may_ask:
        raise ConfigError(
            f"a provider {provider!r} with another {' and '.join(differs)} is already there.",
            where=str(path),
            fix="Consent with --replace-provider, or choose another --provider id.",
        )
    listed = ", ".join(differs)
    ask.confirm(
        Text(f"Change {listed} of the existing provider {provider}?", f"修改已有 provider {provider} 的 {listed} 吗？")
    )


def _diff(before: str, after: str, path: Path) -> str:
    from codex_skyrl.context.redact import redact

    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="", n=1)
    return redact("\n".join(lines))


def _finish(
    show: Consoles,
    lang: Lang,
    path: Path,
    provider: str,
    env_key: str,
    codex: Codex | None,
    no_smoke: bool,
    env: dict[str, str],
) -> None:
    """The key's variable, and one request through Codex itself."""
    from codex_skyrl.setup.shells import export_hint, shell_of
    from codex_skyrl.setup.smoke import smoke_through_codex

    if not env.get(env_key, "").strip():
        show.out.print(export_hint(shell_of(env), env_key).to(lang), soft_wrap=True)
        return
    if no_smoke:
        return
    if codex is None:
        _say(show, lang, "No Codex on PATH: not tried through it.", "PATH 上没有 Codex，未通过它验证。")
        return
    smoke = smoke_through_codex(codex, path, provider, env)
    if smoke.passed:
        _say(show, lang, f"Proven: {smoke.what.en}.", f"已验证：{smoke.what.zh}。")
        return
    words = f" ({smoke.codex_words})" if smoke.codex_words else ""
    raise ConfigError(
        f"written, but Codex does not work with it: {smoke.what.to(lang)}{words}.",
        where=str(path),
        fix="codex-skyrl setup --undo puts the old file back.",
    )


def _say(show: Consoles, lang: Lang, en: str, zh: str) -> None:
    show.out.print(Text(en, zh).to(lang), soft_wrap=True)
