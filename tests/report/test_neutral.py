import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.report.neutral import neutral


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("a\rb\x08\x7f\x00", r"a\x0db\x08\x7f\x00"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("pay\u200bload\ufeff", "pay<U+200B>load<U+FEFF>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("half\udc80", "half<U+DC80>"),
        ("a\u2028b", "a<U+2028>b"),
        ("\u3164\U000e0101", "<U+3164><U+E0101>"),
        ("a\tb\r\nc", "a    b\nc"),
    ],
)
def test_what_could_mislead_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert neutral(text) == shown


def test_ordinary_text_of_any_script_stays() -> None:
    text = "init_queue 很高 – naïve “quotes” … Ωμέγα ⚠ 🚀 [bold]"
    assert neutral(text) == text


def test_the_emoji_selector_is_dropped() -> None:
    assert neutral("⚠\ufe0f") == "⚠"


@given(st.text())
def test_nothing_hidden_or_controlling_is_left_and_it_is_stable(text: str) -> None:
    shown = neutral(text)
    assert all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in shown)
    assert neutral(shown) == shown
    shown.encode("utf-8")
