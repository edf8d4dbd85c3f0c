"""The command line: one file per command, imported only when it is asked for, and the one place where errors end.

Owns names, help lines and exit codes; holds nothing worth testing without a terminal.
"""

import gc
import importlib
import os
import sys
from typing import Any

import click

from codex_skyrl import __version__
from codex_skyrl.errors import CodexSkyrlError

INTERRUPTED = 130
_YOUNG = 50_000  # objects: events come by the million and hold no cycles, so looking for some is mostly in vain

# name -> (module that holds the click command of that name, help line of the list)
_COMMANDS = {
    "diagnose": ("codex_skyrl.cli.diagnose", "Find the bottleneck of a rollout from its logs, with evidence."),
    "whatif": ("codex_skyrl.cli.whatif", "Replay the steps with one knob changed: how would the step time change?"),
    "compare": ("codex_skyrl.cli.compare", "Compare two runs: better or worse, and did the bottleneck move?"),
    "watch": ("codex_skyrl.cli.watch", "Follow the logs of a running job: depths, verdict so far, alarms."),
    "collect": ("codex_skyrl.cli.collect", "Take this node's logs into a small bundle that diagnose reads elsewhere."),
    "trace": ("codex_skyrl.cli.trace", "Write a run as a trace file for Perfetto."),
    "events": ("codex_skyrl.cli.events", "Show what is understood in log files, line by line."),
    "setup": ("codex_skyrl.cli.setup", "Write the Codex configuration for a gateway, and prove it."),
    "check": ("codex_skyrl.cli.check", "Check the Codex configuration: which provider is used, and what is wrong."),
    "pack": ("codex_skyrl.cli.pack", "Print exactly what would be sent to a model, and its size in tokens."),
    "report": ("codex_skyrl.cli.report", "Check a model's answer that was pasted by hand, or kept."),
    "prompts": ("codex_skyrl.cli.prompts", "List or show the prompt pack, by hand or rendered with a diagnosis."),
    "completion": ("codex_skyrl.cli.completion", "Print the completion script of a shell."),
    "schema": ("codex_skyrl.cli.schema", "Print the JSON schema of the diagnosis."),
}


class LazyGroup(click.Group):
    """Lists commands by name and loads the one that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(importlib.import_module(_COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="codex-skyrl")
def group() -> None:
    """Find out, with evidence, why a SkyRL-v0 rollout pipeline is slow.

    Start with: codex-skyrl diagnose PATH...   (log files, folders or globs; none: the usual places)
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; every error of ours becomes one message and an exit code."""
    gc.set_threshold(_YOUNG)
    try:
        group.main(args=arguments, prog_name="codex-skyrl", standalone_mode=False)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(INTERRUPTED)
    except CodexSkyrlError as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(problem.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: `codex-skyrl ... | head`
        sys.exit(0)
