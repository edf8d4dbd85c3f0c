#!/usr/bin/env python3
"""Writes docs/cli.md: the help of every command, as the program prints it. `dev.py docs` runs this; a test compares."""

from collections.abc import Iterator
from pathlib import Path

import click

from codex_skyrl.cli import group

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
_WIDTH = 100


def text() -> str:
    """The whole reference."""
    head = "# Commands\n\nMade from `--help` by `python3 dev.py docs`; do not edit.\n"
    return "\n".join([head, *_sections(group, "codex-skyrl", None)])


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(
        command, info_name=name.rsplit(maxsplit=1)[-1], parent=parent, max_content_width=_WIDTH, terminal_width=_WIDTH
    )
    context.help_option_names = ["-h", "--help"]
    yield f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            assert found is not None
            yield from _sections(found, f"{name} {sub}", context)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
