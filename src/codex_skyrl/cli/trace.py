"""`codex-skyrl trace`: a run as a trace file for Perfetto or chrome://tracing."""

import json
import os
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text


@click.command(epilog="Example: codex-skyrl trace logs/ -o trace.json, then open it at https://ui.perfetto.dev")
@options.paths
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help='File to write ("-": stdout).')
@options.lang
@options.quiet
def trace(paths: tuple[str, ...], output: str, lang: Lang | None, quiet: bool) -> None:
    """Write what every worker did, as Chrome trace events: a process per rank, a lane per worker, depths as counters."""
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.errors import InputError
    from codex_skyrl.report.trace import trace_of

    show = consoles(os.environ, sys.stdout, sys.stderr, quiet=quiet)
    material = read_shown(paths, show.talk)
    whole = trace_of(material.case)
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"
    if output == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}.", where=output) from error
    spans = sum(1 for e in whole["traceEvents"] if e["ph"] == "X")
    said = Text(f"{spans:,} spans written to {output}.", f"已将 {spans:,} 个 span 写入 {output}。")
    show.talk.print(said.to(resolve_lang(lang, os.environ)))
