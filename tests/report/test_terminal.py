import io
import re
from collections.abc import Callable

import pytest
from rich.cells import cell_len
from rich.console import Console

from codex_skyrl.report.model import Diagnosis, Missing, Step
from codex_skyrl.report.terminal import render
from codex_skyrl.text import Lang
from report.samples import SAMPLES, hang, healthy, init_bound, poisoned, unknown

LANGS: tuple[Lang, ...] = ("en", "zh")
POISON = "\x1b\x07\u202e\u200b\r\x9b"
CASES = [(name, lang) for name in SAMPLES for lang in LANGS]


def shown(diagnosis: Diagnosis, width: int = 80, *, colour: bool = False, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    console = Console(
        file=stream,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        markup=True,
        emoji=True,
    )
    render(diagnosis, console)
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize(("name", "lang"), CASES)
def test_looks_as_agreed(name: str, lang: Lang, matches_golden: Callable[[str, str], None]) -> None:
    matches_golden(f"{name}.{lang}.txt", shown(SAMPLES[name](lang)))


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize(("name", "lang"), CASES)
def test_no_line_is_wider_than_the_terminal(name: str, lang: Lang, width: int) -> None:
    for line in shown(SAMPLES[name](lang), width).splitlines():
        assert cell_len(line) <= width, line


@pytest.mark.parametrize("lang", LANGS)
def test_tables_become_sentences_where_they_do_not_fit(lang: Lang) -> None:
    text = shown(healthy(lang), 40)
    assert all(cell_len(line) <= 40 for line in text.splitlines())
    assert {"en": "Max depth: 6; ", "zh": "最大深度: 6; "}[lang] in " ".join(text.split())


@pytest.mark.parametrize(("name", "lang"), CASES)
def test_colours_change_no_word_and_lines_end_without_spaces(name: str, lang: Lang) -> None:
    plain = shown(SAMPLES[name](lang))
    coloured = shown(SAMPLES[name](lang), colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert all(line == line.rstrip() for line in plain.splitlines())


@pytest.mark.parametrize(("name", "lang"), CASES)
def test_colours_are_those_that_read_on_dark_and_light(name: str, lang: Lang) -> None:
    codes = re.findall(r"\x1b\[([0-9;]*)m", shown(SAMPLES[name](lang), colour=True))
    used = {code for group in codes for code in group.split(";")}
    # bold, underline, red, green, magenta, reset: no dim (2), no black, white, yellow, cyan or bright colours
    assert used <= {"0", "1", "4", "31", "32", "35"}


def test_foreign_text_cannot_reach_the_terminal_as_commands_or_markup() -> None:
    text = shown(hang("en"))
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert r"\x1b[31m[bold]RetryError[/bold]" in text
    assert ":boom:" in text
    assert "<U+202E>" in text


@pytest.mark.parametrize(("name", "lang"), CASES)
def test_no_field_can_carry_control_or_hidden_characters(name: str, lang: Lang) -> None:
    text = shown(poisoned(SAMPLES[name](lang), POISON))
    assert not set(text) & set(POISON)
    assert r"\x1b\x07<U+202E><U+200B>\x0d\x9b" in text


def test_the_verdict_is_the_first_line_and_comes_with_its_next_step() -> None:
    lines = shown(init_bound("en")).splitlines()
    assert lines[0] == "Bottleneck: initialisation (init). Cause: image pulls. Very likely (91%)."
    assert any(line.startswith("Try first: ") for line in lines[:10])


def test_sections_come_in_the_agreed_order() -> None:
    text = shown(hang("en"))
    order = ("Why", "What the deepest", "Steps", "Queues", "Stages", "Diagnosis matrix", "What is missing")
    places = [text.index(f"\n{title}") for title in (*order, "Read", "What the model says", "Engine")]
    assert places == sorted(places)


def test_a_place_is_never_shortened() -> None:
    long = "/mnt/shared/experiments/2026-11-30/skyrl/worker-00/session_latest/logs/rollout.log"
    sample = init_bound("en")
    evidence = sample.evidence[1].model_copy(update={"source": long, "line_start": 18_233, "line_end": None})
    text = shown(sample.model_copy(update={"evidence": [sample.evidence[0], evidence]}))
    assert f"{long}:18233" in re.sub(r"\n +", "", text)


def test_an_unknown_figure_is_a_dash_not_a_zero() -> None:
    row = next(line for line in shown(hang("en")).splitlines() if line.startswith("  eval  "))
    assert row.split() == ["eval", *["–"] * 8]


def test_unverified_claims_are_marked_in_words() -> None:
    text = shown(hang("en"))
    assert "- [UNVERIFIED] 48 requests are queued" in text
    assert "- [verified] Step 7 has no end line" in text
    assert "It DISAGREES" in text


def test_no_model_section_without_a_model() -> None:
    assert "What the model says" not in shown(init_bound("en"))


def test_commands_stand_on_their_own_lines() -> None:
    lines = [line.strip() for line in shown(unknown("en")).splitlines()]
    assert "kubectl get events -n runtime-pods -o json > k8s_events.json" in lines


def test_advice_in_words_is_wrapped_as_prose() -> None:
    how = "Ask the operator of the cluster for the kubelet log of each node that ran a sandbox in step 12."
    text = shown(unknown("en").model_copy(update={"missing": [Missing(what="kubelet logs", how=how)]}))
    assert "\\\n" not in text
    assert how in " ".join(text.split())


def test_many_steps_are_cut_to_the_ends_and_the_slowest() -> None:
    sample = healthy("en")
    slow = [*sample.steps]
    slow[20] = Step(step=21, makespan_s=999, trajectories=32, failed=0)
    text = shown(sample.model_copy(update={"steps": slow}))
    assert "999 s" in text
    assert "20 faster steps between them are left out" in text


def test_bars_fall_back_to_ascii_where_the_encoding_has_no_blocks() -> None:
    text = shown(healthy("zh"), encoding="gbk")
    assert "█" not in text
    assert "####" in text
