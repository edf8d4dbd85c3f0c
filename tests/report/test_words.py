from typing import get_args

import pytest
from rich.cells import cell_len

from codex_skyrl.report import phrases, words
from codex_skyrl.report.model import Bottleneck, Cause, Verdict
from codex_skyrl.text import Lang, Text

ANY_CAUSE: tuple[Cause, ...] = ("mixed", "none")
CAUSES_OF: dict[Bottleneck, tuple[Cause, ...]] = {
    "init": ("few_workers", "image_pull", "cache_miss", "container_start", "sandbox_errors"),
    "run": (
        "few_workers",
        "llm_saturated",
        "kv_cache_full",
        "llm_routing",
        "llm_stall",
        "env_slow",
        "max_iterations",
    ),
    "eval": ("few_workers", "test_time", "eval_timeout", "eval_poll", "patch_apply"),
    "saturated": ("few_workers",),
    "sync": ("thread_cap", "blocked_loop", "llm_wakeup", "barrier", "hang"),
    "supply": ("few_workers", "small_batch"),
    "straggler": ("straggler", "slow_rank"),
    "trainer": ("training_side",),
}
LABELS = [value for value in vars(words).values() if isinstance(value, Text)]


def test_every_bottleneck_and_cause_has_a_name() -> None:
    assert set(words.BOTTLENECKS) == set(get_args(Bottleneck))
    assert set(words.CAUSES) == set(get_args(Cause))


def test_no_label_is_empty_in_either_language() -> None:
    everything = [*LABELS, *words.BOTTLENECKS.values(), *words.CAUSES.values(), *words.QUESTIONS.values()]
    assert all(label.en.strip() and label.zh.strip() for label in everything)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_any_verdict_fits_one_line_of_80_columns(lang: Lang) -> None:
    for bottleneck in get_args(Bottleneck):
        for cause in CAUSES_OF.get(bottleneck, ()) + ANY_CAUSE:
            verdict = Verdict(bottleneck=bottleneck, cause=cause, confidence=0.99, summary="", naive="")
            assert cell_len(phrases.verdict_line(verdict, lang)) <= 80
