"""`codex-skyrl events`: what was understood in each source, by kind, with place and time, and what was not."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.logs.event import Event, Lifecycle, moment_text
from codex_skyrl.text import Lang


@click.command(epilog="Example: codex-skyrl events logs/rollout.log --format jsonl")
@options.paths
@click.option(
    "--format", "form", type=click.Choice(["table", "jsonl"]), default="table", help="jsonl: one event a line."
)
@options.lang
def events(paths: tuple[str, ...], form: str, lang: Lang | None) -> None:
    """Show what is understood in PATH (files, folders or globs; none: the usual places)."""
    from codex_skyrl.analyse import events_of
    from codex_skyrl.cli.console import consoles, resolve_lang
    from codex_skyrl.report.event_table import EventTable

    env = os.environ
    chosen = resolve_lang(lang, env)
    show = consoles(env, sys.stdout, sys.stderr)
    for listing in events_of(paths, Path.cwd(), options.ray_root()):
        if form == "jsonl":
            for event in listing.events:
                click.echo(json.dumps(_record(event, listing.shift_s()), ensure_ascii=False))
            continue
        table = EventTable(chosen)
        for event in listing.events:
            table.add(event)
        show.out.print(table.view(listing.reports, listing.shift_s()), crop=False)


def _record(event: Event, shift_s: float) -> dict[str, object]:
    """One event as data; an open end of its time interval is left out."""
    body = event.body
    kind = body.kind.value if isinstance(body, Lifecycle) else type(body).__name__.lower()
    fields = body._asdict() if isinstance(body, Lifecycle) else asdict(body)
    fields.pop("kind", None)
    record = {
        "source": event.source,
        "line": event.line,
        "process": event.process,
        "earliest": moment_text(event.when.earliest + shift_s),
        "latest": moment_text(event.when.latest + shift_s),
        "count": event.times,
        "kind": kind,
        **fields,
    }
    return {name: value for name, value in record.items() if value not in (None, "")}
