import shlex
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from codex_skyrl.report.wrap import breaks, command_lines, shorten


def lines(text: str, width: int) -> list[str]:
    cuts = [0, *breaks(text, width, width), len(text)]
    return [text[a:b].rstrip() for a, b in pairwise(cuts)]


def test_english_breaks_at_spaces() -> None:
    assert lines("run workers starve most of the step", 14) == ["run workers", "starve most of", "the step"]


def test_chinese_breaks_anywhere_but_before_closing_marks() -> None:
    assert lines("先解决镜像缓存，再看其他。", 14) == ["先解决镜像缓", "存，再看其他。"]


def test_an_opening_mark_does_not_end_a_line() -> None:
    assert lines("初始化慢（init）", 10) == ["初始化慢", "（init）"]


def test_a_figure_keeps_its_unit() -> None:
    assert lines("the median went to 118 s today", 22) == ["the median went to", "118 s today"]


def test_a_long_path_breaks_after_a_slash() -> None:
    assert lines("/data/experiments/rollout.log:18233", 20) == ["/data/experiments/", "rollout.log:18233"]


@given(st.text(alphabet="ab ，。（）中文-/.1s", max_size=60), st.integers(4, 30))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    text = text.strip()
    cuts = [0, *breaks(text, width, width), len(text)]
    assert cuts == sorted(cuts)
    assert all(cell_len(line) <= width for line in lines(text, width))


def test_shorten_cuts_once_between_words_and_keeps_both_ends() -> None:
    quote = "Successfully pulled image " + "x" * 10 + " after a very long time of waiting in 118 s"
    short = shorten(quote, 50)
    assert short.count("…") == 1
    assert cell_len(short) <= 50
    head, tail = short.split(" … ")
    assert quote.startswith(head + " ")
    assert quote.endswith(" " + tail)


def test_shorten_counts_line_feeds() -> None:
    assert len(shorten("line\n" * 100, 240).splitlines()) < 8


@given(st.text(alphabet="ab 中\n", max_size=200), st.integers(12, 80))
def test_shorten_never_exceeds_its_cells(text: str, cells: int) -> None:
    assert cell_len(shorten(text, cells)) <= cells


COMMANDS = [
    "kubectl get events -n pods -o json --field-selector type=Warning > events.json",
    "grep -n 'Successfully initialized runtime for' logs/rollout.log | tail -n 5",
    'awk -F "a b c d e f g" "{print \\"x y\\"}" some/long/path/to/a/file.log other.log',
    "echo one\\ two\\ three\\ four five six seven eight nine ten eleven twelve",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", [24, 40, 60])
def test_a_broken_command_still_means_the_same(command: str, width: int) -> None:
    broken = command_lines(command, width)
    assert len(broken) > 1
    assert all(line.endswith(" \\") for line in broken[:-1])
    assert shlex.split("\n".join(broken).replace("\\\n", "")) == shlex.split(command)


def test_a_command_that_fits_is_left_alone() -> None:
    assert command_lines("ls  -l", 80) == ["ls  -l"]


def test_a_comment_is_never_continued() -> None:
    assert command_lines("ls -l  # a comment of some length", 12) == [
        "ls -l \\",
        "  # a comment of some length",
    ]


@pytest.mark.parametrize("command", ["python -c 'import x and more", "bash run.sh some=thing other=thing \\"])
def test_a_line_that_continues_itself_is_left_alone(command: str) -> None:
    assert command_lines(command, 12) == [command]
