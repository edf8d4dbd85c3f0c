"""`codex-skyrl compare`: what changed between two runs, and whether it helped."""

import os
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.errors import InputError
from codex_skyrl.text import Lang, Text


@click.command(epilog="Example: codex-skyrl compare before/ after/ --max-step-time-regression 5%")
@click.argument("before")
@click.argument("after")
@click.option("--experiment", "experiments", multiple=True, metavar="KNOB=VALUE",
              help="What was done, where no setting shows it (image_cache=all_hit); its prediction is scored.")  # fmt: skip
@click.option(
    "--max-step-time-regression", "limit", metavar="PERCENT", help="Exit with 1 when AFTER is slower by more than this."
)
@click.option("--format", "form", type=click.Choice(["text", "json", "md", "markdown"]), default="text")
@options.checkout
@options.lang
@options.quiet
def compare(
    before: str,
    after: str,
    experiments: tuple[str, ...],
    limit: str | None,
    form: str,
    checkout: str | None,
    lang: Lang | None,
    quiet: bool,
) -> None:
    """Compare two runs: BEFORE and AFTER are each a folder of logs, one log, or a report of `diagnose --format json`.

    Exit code 0, or 1 when step time rose by more than --max-step-time-regression and that is no accident of few steps.
    """
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.comparing import Side, compared, side_of
    from codex_skyrl.report.comparison_view import comparison_markdown, view

    most = _percent(limit)
    chosen = resolve_lang(lang, os.environ)
    show = consoles(os.environ, sys.stdout, sys.stderr, quiet=quiet)

    def side(argument: str) -> Side:
        return side_of(argument, chosen, Path.cwd(), lambda path: read_shown([path], show.talk, checkout))

    found = compared(side(before), side(after), experiments, chosen, options.state_folder())
    if form == "json":
        click.echo(found.model_dump_json(indent=2))
    elif form == "text":
        show.out.print(view(found), crop=False)
    else:
        click.echo(comparison_markdown(found), nl=False)
    step = found.step_time
    if most is not None and step.judgement == "worse" and (step.change_pct is None or step.change_pct > most):
        said = Text(f"Step time rose by more than {most:g} %.", f"step 时间上升超过 {most:g} %。")
        show.errors.print(said.to(chosen))
        raise SystemExit(1)
    if most is not None and step.judgement == "cannot_tell":
        said = Text(
            "Too few or too uneven steps to judge the limit; not counted as a regression.",
            "step 太少或差异太大，无法判断是否超限；不算变慢。",
        )
        show.talk.print(said.to(chosen))


def _percent(text: str | None) -> float | None:
    """`5%` or `5`."""
    if text is None:
        return None
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise InputError(
            f"{text!r} is no percentage.", where="--max-step-time-regression", fix="Give a number such as 5%."
        )
    return value
