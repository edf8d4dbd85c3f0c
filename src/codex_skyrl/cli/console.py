"""The two consoles and the language: what every command prints with. Results go to stdout, talk to stderr.

Environment and streams are passed in. Knows no command and no report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TextIO

from rich.console import Console

from codex_skyrl.text import Lang

WIDTH_WITHOUT_TERMINAL = 100
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


@dataclass(frozen=True, slots=True)
class Consoles:
    """`out` carries the result, `talk` progress and hints (silent with --quiet), `errors` is never silent."""

    out: Console
    talk: Console
    errors: Console


def consoles(env: Mapping[str, str], stdout: TextIO, stderr: TextIO, *, quiet: bool = False) -> Consoles:
    """Consoles on the two streams; colours only on a terminal and never with a non-empty NO_COLOR."""
    return Consoles(
        out=_console(env, stdout),
        talk=_console(env, stderr, quiet=quiet),
        errors=_console(env, stderr),
    )


def resolve_lang(option: Lang | None, env: Mapping[str, str]) -> Lang:
    """The language asked for, else the locale's: Chinese for zh*, English for all others.

    As in gettext, LANGUAGE (its first entry) goes before LC_ALL, LC_MESSAGES and LANG, but not where these
    ask for the C locale.
    """
    if option is not None:
        return option
    locale = next((env[name] for name in _LOCALE_VARIABLES if env.get(name)), "")
    preferred = env.get("LANGUAGE", "").split(":")[0]
    chosen = locale if locale in ("C", "POSIX") else preferred or locale
    return "zh" if chosen.lower().startswith("zh") else "en"


def _console(env: Mapping[str, str], stream: TextIO, *, quiet: bool = False) -> Console:
    _never_fail(stream)
    return Console(
        file=stream,
        quiet=quiet,
        no_color=bool(env.get("NO_COLOR")),
        width=None if stream.isatty() else _width(env),
        markup=False,
        emoji=False,
        highlight=False,
        _environ=env,
    )


def _width(env: Mapping[str, str]) -> int:
    columns = env.get("COLUMNS", "")
    return int(columns) if columns.isascii() and columns.isdigit() and int(columns) > 0 else WIDTH_WITHOUT_TERMINAL


def _never_fail(stream: TextIO) -> None:
    """A console that cannot show a character (say, GBK or cp1252) gets an escape instead of a traceback."""
    if isinstance(stream, TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
        stream.reconfigure(errors="backslashreplace")
