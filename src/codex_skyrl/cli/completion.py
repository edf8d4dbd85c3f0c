"""`codex-skyrl completion`: the script that completes commands and options in a shell, as click makes it."""

import click
from click.shell_completion import get_completion_class

from codex_skyrl.errors import InputError

_VARIABLE = "_CODEX_SKYRL_COMPLETE"


@click.command(epilog='Example: eval "$(codex-skyrl completion bash)", in ~/.bashrc')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    from codex_skyrl.cli import group

    made = get_completion_class(shell)
    if made is None:
        raise InputError("there is no completion for this shell.", where=shell)
    click.echo(made(group, {}, "codex-skyrl", _VARIABLE).source())
