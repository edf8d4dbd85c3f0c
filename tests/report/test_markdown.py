import re
from collections.abc import Callable

import pytest

from codex_skyrl.report.markdown import code, fence, prose, to_markdown
from codex_skyrl.text import Lang
from report.samples import SAMPLES, hang, init_bound, poisoned


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_looks_as_agreed(name: str, lang: Lang, matches_golden: Callable[[str, str], None]) -> None:
    matches_golden(f"{name}.{lang}.md", to_markdown(SAMPLES[name](lang)))


@pytest.mark.parametrize("name", SAMPLES)
def test_no_field_can_carry_control_characters_or_html(name: str) -> None:
    text = to_markdown(poisoned(SAMPLES[name]("en"), "\x1b\u202e<b>\x9b"))
    assert not set(text) & set("\x1b\u202e\x9b")
    outside = re.sub(r"^(`{3,})\w+\n.*?\n\1$|(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<b>", outside)


def test_content_cannot_close_its_fence() -> None:
    block = fence("a\n````\n# not a heading")
    assert block.splitlines()[0] == "`````text"
    assert block.splitlines()[-1] == "`````"


def test_a_fence_counts_what_is_shown_not_what_was_given() -> None:
    assert fence("`\ufe0f`\ufe0f`").splitlines()[0] == "````text"


def test_content_cannot_close_its_code_span() -> None:
    assert code("a`b``c") == "```a`b``c```"
    assert code("`x`") == "`` `x` ``"
    assert code("two\nlines") == "`two lines`"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<img src=x>", r"\<img src=x>"),
        ("[a](b) *c* _d_", r"\[a\](b) \*c\* \_d\_"),
        ("init_queue 64 -> 32 & more", "init_queue 64 -> 32 & more"),
        ("> quote\n# title", "\\> quote\n\\# title"),
        ("__init__", r"\_\_init\_\_"),
        ("a | b", r"a \| b"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("1.2 s", "1.2 s"),
        ("-41%", "-41%"),
        ("title\n---", "title\n\\---"),
        ("see @someone #12", "see @<!-- -->someone #<!-- -->12"),
        ("&lt;", r"\&lt;"),
        ("\x1b[0m", r"\\x1b\[0m"),
    ],
)
def test_foreign_prose_is_never_markup(text: str, escaped: str) -> None:
    assert prose(text) == escaped


def test_table_rows_keep_their_columns() -> None:
    sample = init_bound("en")
    odd = sample.matrix[0].model_copy(update={"row": "init | run\nhigh"})
    table = to_markdown(sample.model_copy(update={"matrix": [odd]})).split("## Diagnosis matrix")[1]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)
    assert len(rows) == 3


def test_log_text_stays_inside_its_fence() -> None:
    text = to_markdown(hang("en"))
    inside = re.search(r"^(`{4,})text\n(.*?)\n\1$", text, re.DOTALL | re.MULTILINE)
    assert inside is not None
    assert "``` ~~~" in inside[2]
    assert "\x1b" not in text
