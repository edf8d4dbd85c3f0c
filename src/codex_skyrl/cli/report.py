"""`codex-skyrl report verify`: checks an answer of a model that was pasted by hand, or kept."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.errors import InputError
from codex_skyrl.text import Lang

if TYPE_CHECKING:
    from codex_skyrl.analyse import Read
    from codex_skyrl.report.known import Known

_LARGEST = 16 << 20


@click.group()
def report() -> None:
    """Work with reports that exist already."""


@report.command("verify", epilog="Example: codex-skyrl report verify answer.md logs/")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@options.paths
@click.option("--diagnosis", "known_in", type=click.Path(exists=True, dir_okay=False),
              help="A report of `diagnose --format json` to check against, instead of logs.")  # fmt: skip
@options.checkout
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@options.lang
def verify_report(
    file: str, paths: tuple[str, ...], known_in: str | None, checkout: str | None, form: str, lang: Lang | None
) -> None:
    """Check the answer in FILE ("-": stdin) against the logs at PATH.

    FILE holds a model's answer (JSON, or Markdown that cites evidence ids or file:line), a report with a model's
    answer, or an exchange that was kept; the last two need no PATH. Exit code 0: everything holds; 1: something does not.
    """
    from codex_skyrl.recheck import Rechecked, own_diagnosis, recheck
    from codex_skyrl.report.recheck_view import as_json, view

    chosen = resolve_lang(lang, os.environ)
    text = _text_of(file)
    own = own_diagnosis(text, file)
    if own is not None:
        from codex_skyrl.recheck import known_from_report
        from codex_skyrl.report.verify import verify

        known = known_from_report(own[0])
        found = Rechecked(known, verify(own[1], known), ())
    else:
        found = recheck(text, *_known(paths, known_in, checkout, chosen))
    if form == "json":
        click.echo(json.dumps(as_json(found.report, found.every), indent=2, ensure_ascii=False))
    else:
        console = consoles(os.environ, sys.stdout, sys.stderr).out
        console.print(view(found.known.diagnosis, found.report, found.claims), crop=False)
    if not found.all_verified:
        raise SystemExit(1)


def _known(
    paths: tuple[str, ...], known_in: str | None, checkout: str | None, lang: Lang
) -> "tuple[Known, Read | None]":
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.recheck import known_from, known_from_report
    from codex_skyrl.report.model import Diagnosis

    if known_in is None:
        material = read_shown(paths, consoles(os.environ, sys.stdout, sys.stderr).talk, checkout)
        return known_from(material, lang, os.environ), material
    try:
        diagnosis = Diagnosis.model_validate_json(Path(known_in).read_bytes())
    except ValueError as error:
        raise InputError("is no report of `diagnose --format json`.", where=known_in) from error
    return known_from_report(diagnosis), None


def _text_of(file: str) -> str:
    data = sys.stdin.buffer.read(_LARGEST + 1) if file == "-" else Path(file).read_bytes()[: _LARGEST + 1]
    if len(data) > _LARGEST:
        raise InputError("is larger than 16 MB, no answer is.", where=file)
    return data.decode("utf-8-sig", errors="replace")
