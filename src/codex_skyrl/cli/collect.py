"""`codex-skyrl collect`: a node's logs as a small bundle that `diagnose` reads on another machine."""

import os
import platform
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text


@click.command(
    epilog="Example: codex-skyrl collect logs/ -o node1.tar.zst; elsewhere: codex-skyrl diagnose node*.tar.zst"
)
@options.paths
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The bundle; default: NODE.tar.zst.")
@click.option("--node", help="Name of this machine in the report; default: its host name.")
@options.lang
@options.quiet
def collect(paths: tuple[str, ...], output: str | None, node: str | None, lang: Lang | None, quiet: bool) -> None:
    """Write what the logs at PATH say into a bundle: events in columns and the lines a report may cite, secrets taken out.

    Run it on each node; diagnose NODE1.tar.zst NODE2.tar.zst ... then judges them as one run. PATH as for diagnose.
    """
    from codex_skyrl.collecting import collect as collect_into
    from codex_skyrl.errors import InputError
    from codex_skyrl.remote.bundle import SUFFIX
    from codex_skyrl.report.figures import count, size

    chosen = resolve_lang(lang, os.environ)
    show = consoles(os.environ, sys.stdout, sys.stderr, quiet=quiet)
    name = node or platform.node() or "node"
    out = Path(output or f"{name}{SUFFIX}")
    if not out.name.endswith(SUFFIX):
        raise InputError(f"a bundle's name ends in {SUFFIX}.", where=str(out), fix=f"Use -o {out}{SUFFIX}")
    told = collect_into(paths, Path.cwd(), options.ray_root(), name, out)
    for path, why in told.left:
        said = Text(f"{path}: left out, it cannot be read: {why}", f"{path}：无法读取，已略过：{why}")
        show.talk.print(said.to(chosen), soft_wrap=True, style="yellow")
    share = told.read_bytes / max(1, told.bundle_bytes)
    said = Text(
        f"{out}: {count(told.events)} events of {told.sources} log{'s' * (told.sources != 1)}, {size(told.bundle_bytes)} for {size(told.read_bytes)} "
        f"(1/{share:,.0f}). Carry it over and run: codex-skyrl diagnose {out.name}",
        f"{out}：{told.sources} 个日志的 {count(told.events)} 个事件，{size(told.read_bytes)} 压成 {size(told.bundle_bytes)}"
        f"（1/{share:,.0f}）。拷走后运行：codex-skyrl diagnose {out.name}",
    )
    click.echo(said.to(chosen))
