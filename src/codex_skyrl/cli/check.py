"""`codex-skyrl check`: the provider Codex really uses, why, and everything wrong with the configuration."""

import json
import os
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text

_SEVERITY = {"error": Text("error", "错误"), "warning": Text("warning", "警告"), "info": Text("note", "提示")}
_NOTHING = Text("Nothing wrong was found in {path}.", "{path} 没有发现问题。")


@click.command(epilog="Example: codex-skyrl check")
@click.option("--config", type=click.Path(), help="File to check; default: config.toml in CODEX_HOME or ~/.codex.")
@click.option("-c", "overrides", multiple=True, metavar="KEY=VALUE", help="As given to Codex; stands over the file.")
@click.option("-p", "--profile", help="As given to Codex: NAME.config.toml beside the file stands over it.")
@click.option("--codex", "binary", help="Codex binary; default: the one on PATH.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@options.lang
def check(
    config: str | None, overrides: tuple[str, ...], profile: str | None, binary: str | None, form: str, lang: Lang | None
) -> None:  # fmt: skip
    """Check the Codex configuration. Changes nothing, asks no network. Exit code 1 when there is an error."""
    from codex_skyrl.setup.codex import codex_home, find_codex
    from codex_skyrl.setup.document import read_document
    from codex_skyrl.setup.effective import Layers, effective_of
    from codex_skyrl.setup.findings import findings_of, project_findings

    env = dict(os.environ)
    chosen = resolve_lang(lang, env)
    path = Path(config) if config else codex_home(env) / "config.toml"
    document = read_document(path)
    codex = find_codex(env, binary)
    over = read_document(path.with_name(f"{profile}.config.toml")) if profile else None
    layers = Layers(_overrides(overrides), profile, (over.values or {}) if over else {})
    found = findings_of(document, env, codex.version if codex else None)
    found += project_findings(read_document(Path.cwd() / ".codex" / "config.toml"))
    now = effective_of(document.values, layers) if document.values is not None else None
    if form == "json":
        effective = None if now is None else {
            "provider": now.provider, "base_url": now.base_url, "model": now.model, "wire_api": now.wire_api,
            "env_key": _shown_key(now.env_key), "decided_by": now.decided_by.to(chosen),
        }  # fmt: skip
        rows = [
            {"code": f.code, "severity": f.severity, "file": f.file, "line": f.line, "column": f.column,
             "what": f.what.to(chosen), "fix": f.fix.to(chosen)}
            for f in found
        ]  # fmt: skip
        click.echo(
            json.dumps({"schema_version": 1, "effective": effective, "findings": rows}, indent=2, ensure_ascii=False)
        )
    else:
        out = consoles(env, sys.stdout, sys.stderr).out
        if now is not None:
            out.print(_effective_line(now.provider, now.base_url, now.model, now.decided_by, chosen))
        for f in found:
            place = f.file if f.line is None else f"{f.file}:{f.line}:{f.column}"
            out.print(
                f"{_SEVERITY[f.severity].to(chosen)} {f.code}  {place}\n  {f.what.to(chosen)}\n  -> {f.fix.to(chosen)}",
                soft_wrap=True,
            )
        if not found:
            out.print(_NOTHING.to(chosen).format(path=path), soft_wrap=True)
    sys.exit(1 if any(f.severity == "error" for f in found) else 0)


def _overrides(given: tuple[str, ...]) -> dict[str, str]:
    """Root keys of `-c KEY=VALUE`, quotes around the value taken off as Codex does."""
    pairs = (text.partition("=") for text in given)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}


def _effective_line(provider: str, base_url: str | None, model: str | None, why: Text, lang: Lang) -> str:
    from codex_skyrl.context.redact import redact

    address = redact(base_url or "-")
    return Text(
        f"Codex uses provider {provider} ({address}), model {model or 'built-in default'}; decided by {why.en}.",
        f"Codex 使用 provider {provider}（{address}），模型 {model or '内置默认'}；由{why.zh}决定。",
    ).to(lang)


def _shown_key(name: str | None) -> str | None:
    """A key pasted into env_key is never printed."""
    from codex_skyrl.context.redact import MASK, redact

    return name if name is None or (redact(name) == name and not name.startswith("sk-")) else MASK
