"""`codex-skyrl pack`: prints exactly what would be sent to a model, and what it costs."""

import os
import sys

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text


@click.command(epilog="Example: codex-skyrl pack logs/ --budget-tokens 12000 > prompt.txt")
@options.paths
@click.option("--prompt", "name", default="diagnose", show_default=True, help="Name of the prompt; see: prompts list")
@options.budget
@options.mask
@options.checkout
@options.lang
@options.quiet
def pack(
    paths: tuple[str, ...],
    name: str,
    budget_tokens: int,
    mask: bool,
    checkout: str | None,
    lang: Lang | None,
    quiet: bool,
) -> None:
    """Print the prompt that `diagnose` would send for PATH, secrets taken out; send nothing.

    The number of tokens, and what was left out for space, are told on stderr.
    """
    print_pack(name, paths, budget_tokens, checkout, lang, mask=mask, quiet=quiet)


def print_pack(
    name: str,
    paths: tuple[str, ...],
    budget_tokens: int,
    checkout: str | None,
    lang: Lang | None,
    *,
    mask: bool,
    quiet: bool,
) -> None:
    """The rendered prompt on stdout, its size and what was left out on stderr."""
    from codex_skyrl.analyse import analyse, pack_material
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.context.mask import Masker
    from codex_skyrl.context.pack import pack as pack_prompt

    chosen = resolve_lang(lang, os.environ)
    show = consoles(os.environ, sys.stdout, sys.stderr, quiet=quiet)
    material = read_shown(paths, show.talk, checkout)
    diagnosis = analyse(material, chosen)
    packed = pack_prompt(name, diagnosis, pack_material(material, diagnosis, os.environ), budget_tokens)
    click.echo(Masker().mask(packed.prompt) if mask else packed.prompt, nl=False)
    left = ", ".join(f"{one.what} ({one.tokens:,})" for one in packed.left_out)
    said = Text(
        f"About {packed.tokens:,} of {packed.budget:,} tokens (estimated from above)."
        + (f" Left out: {left}" if left else ""),
        f"约 {packed.tokens:,} 个 token，预算 {packed.budget:,}（按上限估计）。" + (f"略去：{left}" if left else ""),
    )
    show.talk.print(said.to(chosen), soft_wrap=True)
