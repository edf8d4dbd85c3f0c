import io
from collections.abc import Mapping

import pytest

from codex_skyrl.cli.console import WIDTH_WITHOUT_TERMINAL, consoles, resolve_lang
from codex_skyrl.text import Lang


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("env", "lang"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LC_ALL": "en_GB.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LC_ALL": "C", "LANGUAGE": "zh_CN"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, "zh"),
        ({"LANGUAGE": "zh"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_language_from_the_locale(env: Mapping[str, str], lang: Lang) -> None:
    assert resolve_lang(None, env) == lang


def test_the_option_goes_before_the_locale() -> None:
    assert resolve_lang("en", {"LANG": "zh_CN.UTF-8"}) == "en"


def test_results_and_talk_go_to_their_own_streams_without_markup() -> None:
    out, err = io.StringIO(), io.StringIO()
    made = consoles({}, out, err)
    made.out.print("[bold]result[/bold] :boom:")
    made.talk.print("reading")
    assert out.getvalue() == "[bold]result[/bold] :boom:\n"
    assert err.getvalue() == "reading\n"


def test_quiet_silences_talk_but_not_errors() -> None:
    err = io.StringIO()
    made = consoles({}, io.StringIO(), err, quiet=True)
    made.talk.print("reading")
    made.errors.print("broken")
    assert err.getvalue() == "broken\n"


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)])
def test_no_color_is_obeyed_on_a_terminal(env: Mapping[str, str], coloured: bool) -> None:
    out = Terminal()
    consoles({"TERM": "xterm", **env}, out, io.StringIO()).out.print("x", style="red")
    assert ("\x1b[31m" in out.getvalue()) is coloured


def test_no_colours_without_a_terminal() -> None:
    out = io.StringIO()
    consoles({"TERM": "xterm"}, out, io.StringIO()).out.print("x", style="bold red")
    assert out.getvalue() == "x\n"


@pytest.mark.parametrize(
    ("env", "width"), [({}, WIDTH_WITHOUT_TERMINAL), ({"COLUMNS": "72"}, 72), ({"COLUMNS": "wide"}, 100)]
)
def test_width_without_a_terminal(env: Mapping[str, str], width: int) -> None:
    assert consoles(env, io.StringIO(), io.StringIO()).out.width == width


def test_a_console_with_a_small_alphabet_does_not_fail() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252", newline="\n")
    consoles({}, stream, io.StringIO()).out.print("瓶颈")
    stream.flush()
    assert raw.getvalue() == b"\\u74f6\\u9888\n"
