"""`codex-skyrl diagnose`: logs in, verdict with evidence out."""

import os
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from rich.console import Console

from codex_skyrl.cli import options
from codex_skyrl.cli.console import WIDTH_WITHOUT_TERMINAL, Consoles, consoles, resolve_lang
from codex_skyrl.errors import InputError
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.text import Lang, Text

if TYPE_CHECKING:
    from codex_skyrl.analyse import Read

Engine = Literal["auto", "offline", "api", "codex"]
Wire = Literal["auto", "responses", "chat"]


@click.command(epilog="Example: codex-skyrl diagnose logs/ --format html -o report.html")
@options.paths
@click.option("--engine", type=click.Choice(["auto", "offline", "api", "codex"]), default="auto",
              help="api: also ask a model; codex: ask it through the Codex CLI; auto: api when one is configured and its key is set.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json", "md", "markdown", "html"]), default="text")
@click.option("-o", "--output", type=click.Path(dir_okay=False, writable=True), help="Write the report to a file.")
@click.option("--ray", "cluster", is_flag=False, flag_value="auto", metavar="[ADDRESS]",
              help="Read the logs on every node of this Ray cluster, where they lie; default: the running one. PATH: on the nodes; none: their Ray sessions.")  # fmt: skip
@options.checkout
@options.lang
@options.quiet
@options.budget
@options.mask
@click.option("--no-cache", is_flag=True, help="Ask again even if this very question was answered before.")
@click.option("--base-url", help="Model API; default: CODEX_SKYRL_BASE_URL, else the Codex configuration.")
@click.option("--model", help="Model id; default: CODEX_SKYRL_MODEL, else the Codex configuration.")
@click.option("--wire-api", type=click.Choice(["auto", "responses", "chat"]), default=None)
@click.option("--codex", "binary", help="Codex binary for --engine codex; default: the one on PATH.")
@click.option("--env-key", help="Environment variable that holds the key (default TAOTOKEN_API_KEY).")
def diagnose(
    paths: tuple[str, ...], engine: Engine, form: str, output: str | None, lang: Lang | None, quiet: bool,
    base_url: str | None, model: str | None, wire_api: Wire | None, env_key: str | None, binary: str | None,
    checkout: str | None, cluster: str | None, budget_tokens: int, mask: bool, no_cache: bool,
) -> None:  # fmt: skip
    """Find the bottleneck stage of a SkyRL-v0 rollout.

    PATH: log files, folders or globs. Without any: logs/, outputs/, wandb/*/files/output.log below the current
    folder, else the current Ray session. Launch scripts in a named folder are read for worker counts.
    """
    from codex_skyrl.analyse import analyse
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.keeping import keep_report

    env = os.environ
    chosen = resolve_lang(lang, env)
    show = consoles(env, sys.stdout, sys.stderr, quiet=quiet)
    material = (
        read_shown(paths, show.talk, checkout)
        if cluster is None
        else _read_cluster(cluster, paths, show, checkout, chosen)
    )
    diagnosis = analyse(material, chosen)
    keep_report(options.state_folder(), diagnosis)
    if engine != "offline":
        from codex_skyrl.cli.model import Asking, ask_codex_model, ask_model
        from codex_skyrl.llm.provider import Wanted

        wanted = Wanted(base_url, model, wire_api, env_key)
        asking = Asking(budget_tokens, mask, not no_cache)
        if engine == "codex":
            diagnosis = ask_codex_model(diagnosis, material, asking, show, wanted, binary)
        else:
            diagnosis = ask_model(diagnosis, material, engine, asking, show, wanted)
    if form == "html":
        _write_html(diagnosis, material, output)
    else:
        _write(diagnosis, form, output, show.out)


def _read_cluster(address: str, paths: tuple[str, ...], show: Consoles, checkout: str | None, lang: Lang) -> "Read":
    """The logs of a cluster's nodes."""
    from codex_skyrl.analyse import Elsewhere, read_elsewhere
    from codex_skyrl.remote.cluster import read_cluster

    if Path(address).exists():
        raise InputError(
            f"{address} is a path, not the address of a cluster.", where="--ray",
            fix=f"Put paths in front: codex-skyrl diagnose {address} --ray",
        )  # fmt: skip

    def say(what: Text) -> None:
        show.talk.print(what.to(lang), soft_wrap=True, markup=False)

    sources, lost = read_cluster(address, paths, Path.cwd(), say)
    for one in lost:
        say(Text(f"{one.name}: {one.why.en}", f"{one.name}：{one.why.zh}"))
    return read_elsewhere(Elsewhere(tuple(sources), (), tuple(lost)), Path.cwd(), options.folder(checkout))


def _write_html(diagnosis: Diagnosis, material: "Read", output: str | None) -> None:
    """One file with charts; they need what was read, not only the diagnosis."""
    from codex_skyrl.report.html import to_html
    from codex_skyrl.whatif.predict import foretell

    _put(to_html(diagnosis, material.case, foretell(material.case, [])), output)


def _write(diagnosis: Diagnosis, form: str, output: str | None, console: Console) -> None:
    from codex_skyrl.report.markdown import to_markdown
    from codex_skyrl.report.terminal import render

    if form == "text" and output is None:
        render(diagnosis, console)
        return
    if form == "json":
        text = diagnosis.model_dump_json(by_alias=True, indent=2) + "\n"
    elif form in ("md", "markdown"):
        text = to_markdown(diagnosis)
    else:
        sheet = StringIO()
        render(diagnosis, Console(file=sheet, width=WIDTH_WITHOUT_TERMINAL, markup=False, highlight=False))
        text = sheet.getvalue()
    _put(text, output)


def _put(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")
