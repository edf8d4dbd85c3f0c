"""Options and arguments that several commands share, and where they look by default."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

paths: Decorator = click.argument("paths", nargs=-1, metavar="[PATH]...")
lang: Decorator = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default=None, help="Language; default: the locale's."
)
quiet: Decorator = click.option("-q", "--quiet", is_flag=True, help="No progress and no hints on stderr.")
checkout: Decorator = click.option(
    "--checkout", type=click.Path(exists=True, file_okay=False), default=None,
    help="SkyRL checkout to read the code of; default: the one around the current folder, if any.",
)  # fmt: skip
budget: Decorator = click.option(
    "--budget-tokens", type=click.IntRange(min=1), default=24_000, show_default=True,
    help="Tokens (estimated from above) that the prompt may take; the default leaves a model of 32k room to answer.",
)  # fmt: skip
mask: Decorator = click.option(
    "--mask", is_flag=True,
    help="Replace hosts, addresses, users, folders and repository names in the prompt; they come back in the report.",
)  # fmt: skip


def folder(option: str | None) -> Path | None:
    """A folder option as a path."""
    return None if option is None else Path(option)


def ray_root() -> Path:
    """Ray's current session folder of this machine (RAY_TMPDIR honoured)."""
    from codex_skyrl.logs.discover import latest_ray_session

    return latest_ray_session(os.environ)


def state_folder() -> Path:
    """Where exchanges and predictions are kept, and what was learned of gateways (XDG_STATE_HOME on Linux)."""
    from platformdirs import user_state_path

    return user_state_path("codex-skyrl", appauthor=False)
