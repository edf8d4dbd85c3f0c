"""A claim counts only when its citation stands verbatim in the evidence and its figures are ours."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codex_skyrl.report.known import Known
from codex_skyrl.report.model import Evidence
from codex_skyrl.report.verify import verify_claim
from codex_skyrl.report.wire import WireCitation, WireClaim
from codex_skyrl.text import Lang
from report.samples import init_bound

QUOTE = "12:00:31 - openhands:ERROR: codeact.py:1214 - Error initializing runtime for a__b-1, trajectory 0: 503"
EVIDENCE = [
    Evidence(id="E1", kind="log", source="rollout.log", line_start=52, line_end=52, quote=QUOTE, says="the first failed start"),
    Evidence(id="E2", kind="metric", source="computed", says="mean wait for run: 1,234 s; init busy 88%, a start takes 118.2 s"),
]  # fmt: skip


def known(lang: Lang = "en") -> Known:
    """Two pieces of evidence in a diagnosis that has no figures of its own for their words."""
    return Known(init_bound(lang).model_copy(update={"evidence": EVIDENCE}))


def claim(text: str, *citations: tuple[str, str]) -> WireClaim:
    return WireClaim(text=text, citations=[WireCitation(evidence=e, quote=q) for e, q in citations])


def problems(text: str, *citations: tuple[str, str]) -> list[str]:
    checked = verify_claim(claim(text, *citations), known())
    assert checked.verified is not bool(checked.problems)
    return checked.problems


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("a start failed", ("E1", "Error initializing runtime for a__b-1")),
        ("init workers are busy 88% of the time", ("E2", "init busy 88%")),
        ("a start takes 118 s", ("E2", "a start takes 118.2 s")),
        ("items wait 1234 s for run", ("E2", "mean wait for run:   1,234 s")),
        ("see line 52", ("E1", "codeact.py:1214")),
    ],
)
def test_what_is_cited_and_counted_rightly_is_verified(text: str, citation: tuple[str, str]) -> None:
    assert problems(text, citation) == []


@pytest.mark.parametrize(
    ("text", "citation", "said"),
    [
        ("a start failed", None, "cites nothing"),
        ("a start failed", ("E9", "anything"), "E9 is not in the evidence"),
        ("a start failed", ("E1", "Error initialising runtime"), "not in E1"),
        ("a start failed", ("E2", "Error initializing runtime"), "not in E2"),
        ("init is busy 98%", ("E2", "init busy 88%"), "98 is in none"),
        ("a start takes 118.3 s", ("E2", "a start takes 118.2 s"), "118.3 is in none"),
        ("yes", ("E1", " "), "not in E1"),
    ],
)
def test_what_is_not_stays_unverified(text: str, citation: tuple[str, str] | None, said: str) -> None:
    assert any(said in p for p in problems(text, *([citation] if citation else [])))


@given(st.integers(0, len(QUOTE) - 1), st.characters(min_codepoint=33, max_codepoint=126))
def test_a_changed_quotation_never_verifies(at: int, letter: str) -> None:
    changed = QUOTE[:at] + letter + QUOTE[at + 1 :]
    assume(changed != QUOTE and QUOTE[at] != " ")
    assert problems("a start failed", ("E1", changed)) != []


def test_problems_are_in_the_readers_language() -> None:
    assert verify_claim(claim("x"), known("zh")).problems == ["没有引用任何依据"]
