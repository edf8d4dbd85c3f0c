"""`codex-skyrl prompts`: lists the prompt pack, shows a prompt as it is, or rendered with a diagnosis."""

import os
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text


@click.group()
def prompts() -> None:
    """The prompt pack: works by hand in Codex, or rendered with a diagnosis."""


@prompts.command("list")
@options.lang
def list_prompts(lang: Lang | None) -> None:
    """Names and purposes."""
    from codex_skyrl.context.prompt import prompt_names, purpose_of

    chosen = resolve_lang(lang, os.environ)
    for name in prompt_names(chosen):
        click.echo(f"{name:12} {purpose_of(name, chosen)}")


@prompts.command("show")
@click.argument("name")
@options.paths
@options.lang
def show_prompt(name: str, paths: tuple[str, ...], lang: Lang | None) -> None:
    """Print prompt NAME; with PATHs, rendered with what their logs show (exactly what would be sent)."""
    from codex_skyrl.context.prompt import prompt_text, render_prompt

    chosen = resolve_lang(lang, os.environ)
    if not paths:
        click.echo(prompt_text(name, chosen), nl=False)
        return
    from codex_skyrl.analyse import analyse, read

    rendered = render_prompt(name, analyse(read(paths, Path.cwd(), options.ray_root()), chosen))
    click.echo(rendered, nl=False)
    low, high = len(rendered) // 5, len(rendered) // 2
    said = Text(
        f"{len(rendered):,} characters; between {low:,} and {high:,} tokens, by the model's tokenizer",
        f"{len(rendered):,} 个字符；约 {low:,} 到 {high:,} 个 token，取决于模型的分词器",
    )
    consoles(os.environ, sys.stdout, sys.stderr).talk.print(said.to(chosen))
