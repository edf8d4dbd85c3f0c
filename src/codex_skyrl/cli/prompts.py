"""`codex-skyrl prompts`: lists the prompt pack, shows a prompt as it is, or rendered with a diagnosis."""

import os

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import resolve_lang
from codex_skyrl.text import Lang, Text


@click.group()
def prompts() -> None:
    """The prompt pack: works by hand in Codex, or rendered with a diagnosis."""


@prompts.command("list", epilog="Example: codex-skyrl prompts list")
@options.lang
def list_prompts(lang: Lang | None) -> None:
    """Names and purposes."""
    from codex_skyrl.context.prompt import prompt_names, purpose_of

    chosen = resolve_lang(lang, os.environ)
    for name in prompt_names(chosen):
        click.echo(f"{name:12} {purpose_of(name, chosen)}")


@prompts.command("show", epilog="Example: codex-skyrl prompts show init-high logs/")
@click.argument("name")
@options.paths
@click.option("--with-context", is_flag=True, help="Render it with what the logs show; without PATH: the usual places.")
@options.budget
@options.mask
@options.checkout
@options.lang
def show_prompt(
    name: str, paths: tuple[str, ...], with_context: bool, budget_tokens: int, mask: bool, checkout: str | None,
    lang: Lang | None,
) -> None:  # fmt: skip
    """Print prompt NAME; with PATHs, rendered with what their logs show (exactly what would be sent)."""
    from codex_skyrl.context.prompt import prompt_text

    if paths or with_context:
        from codex_skyrl.cli.pack import print_pack

        print_pack(name, paths, budget_tokens, checkout, lang, mask=mask, quiet=False)
    else:
        click.echo(prompt_text(name, resolve_lang(lang, os.environ)), nl=False)


@prompts.command("install", epilog="Example: codex-skyrl prompts install --lang zh")
@options.lang
def install(lang: Lang | None) -> None:
    """Install the prompt pack as a Codex skill, in CODEX_HOME/skills/codex-skyrl.

    Codex lists it from then on; `$codex-skyrl` in a prompt brings it in. Files that are not ours are never overwritten.
    """
    from codex_skyrl.context.prompt import prompt_names, prompt_text, skill_text
    from codex_skyrl.setup.codex import codex_home
    from codex_skyrl.setup.skill import install_skill, skill_folder

    chosen = resolve_lang(lang, os.environ)
    home = codex_home(os.environ)
    files = {f"{name}.md": prompt_text(name, chosen) for name in prompt_names(chosen)}
    changed = install_skill(home, {"SKILL.md": skill_text(chosen), **files})
    folder = skill_folder(home)
    said = Text(
        f"{len(changed)} files written to {folder}. In Codex, $codex-skyrl brings the skill in."
        if changed
        else f"{folder} is up to date.",
        f"已在 {folder} 写入 {len(changed)} 个文件。在 Codex 里输入 $codex-skyrl 即可使用。"
        if changed
        else f"{folder} 已是最新。",
    )
    click.echo(said.to(chosen))
