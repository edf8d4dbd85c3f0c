"""`codex-skyrl events`: what was understood in each source, by kind, with place and time, and what was not."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.logs.event import Event, Lifecycle
from codex_skyrl.logs.scan import FileReport, Scanner
from codex_skyrl.text import Lang


@click.command()
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
    for scanner, found in events_of(paths, Path.cwd(), options.ray_root()):
        if form == "jsonl":
            for line in _json_lines(found):
                click.echo(line)
            continue
        table = EventTable(chosen)
        for event in found:
            table.add(event)
        show.out.print(table.view(_reports(scanner)), crop=False)


def _reports(scanner: Scanner) -> list[FileReport]:
    return scanner.reports


def _json_lines(found: Iterable[Event]) -> Iterator[str]:
    for event in found:
        yield json.dumps(_record(event), ensure_ascii=False)


def _record(event: Event) -> dict[str, object]:
    """One event as data; an open end of its time interval is null."""
    body = event.body
    ends = [None if abs(t) == float("inf") else round(t, 3) for t in event.when]
    kind = body.kind.value if isinstance(body, Lifecycle) else type(body).__name__.lower()
    fields = asdict(body) if is_dataclass(body) else {}
    fields.pop("kind", None)
    return {
        "source": event.source,
        "line": event.line,
        "process": event.process,
        "earliest": ends[0],
        "latest": ends[1],
        "count": event.count,
        "kind": kind,
        **{k: v for k, v in fields.items() if v not in (None, "")},
    }
