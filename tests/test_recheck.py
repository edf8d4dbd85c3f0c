"""An answer pasted by hand is checked as one that came over the API: by id, by file:line, in JSON or in prose."""

from pathlib import Path

import pytest

from codex_skyrl.analyse import Read, read
from codex_skyrl.errors import InputError
from codex_skyrl.recheck import Rechecked, known_from, own_diagnosis, recheck
from mini_checkout import v0
from report.answers import honest, known, that

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Read:
    checkout = v0(tmp_path_factory.mktemp("checkout"))
    return read([str(ROOT / "sample_logs/init_cache_miss")], ROOT, None, checkout_at=checkout)


def checked(text: str, material: Read) -> Rechecked:
    return recheck(text, known_from(material, "en", {}), material)


def test_a_whole_answer_in_json_or_in_a_fence(material: Read) -> None:
    found, report = honest("init_cache_miss", "en")
    for text in (report.model_dump_json(), f"Here it is:\n```json\n{report.model_dump_json()}\n```\n"):
        result = recheck(text, found)
        assert result.report is not None
        assert result.all_verified, [c.problems for c in result.every]


def test_prose_that_cites_ids_and_places(material: Read) -> None:
    pull = that(known("init_cache_miss"), "the slowest image pull")
    text = f"""# Why it is slow

- Pulls went up: 0 in step 1, 27 in step 2 [E3].
- One pull took 319.9s (sample_logs/init_cache_miss/k8s_events.json:{pull.line_start}).
- The queue is bounded at verl/workers/agentic/codeact.py:48, `asyncio.Queue(maxsize=self.max_parallel_agents)`.
- The evaluator sleeps 30 s in `time.sleep(30)` (codeact.py:37)

To confirm, look at the pulls [E3]:

```sh
# read-only
kubectl get events -A --field-selector reason=Pulled
```
"""
    result = checked(text, material)
    assert [c.problems for c in result.every] == [[], [], [], [], []]
    assert result.every[-1].commands == ["kubectl get events -A --field-selector reason=Pulled"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Pulls went up to 37 [E3].", "37 is in none"),
        ("Disks are slow.", "cites nothing"),
        ("Pulls went up [E99].", "E99 is not in the evidence"),
        ('The registry says "toomanyrequests: rate limit exceeded" [E2].', "the quoted words are not in E2"),
        (
            "It is bounded at codeact.py:48, `Queue(maxsize=self.max_eval_parallel_agents)` [C10].",
            "the quoted words are not in C10",
        ),
        ("A line at sample_logs/init_cache_miss/rollout.log:3 says 4242 s.", "4242"),
        ("A line at sample_logs/init_cache_miss/rollout.log:99999999 says so.", "cites nothing"),
        ("A line at ../../../etc/passwd:1 says so.", "cites nothing"),
        ("Delete them [E3]:\n```\nkubectl delete pods --all\n```", "not known to be read-only"),
    ],
)
def test_prose_that_does_not_hold(material: Read, text: str, said: str) -> None:
    result = checked(text, material)
    problems = [p for c in result.every for p in c.problems]
    assert not result.all_verified
    assert problems
    assert any(said in p for p in problems), problems


def test_a_line_that_no_evidence_covers_is_read_where_it_lies(material: Read) -> None:
    """By its own words: `rollout.log:1` is cited nowhere in the diagnosis."""
    lines = (ROOT / "sample_logs/init_cache_miss/rollout.log").read_text().splitlines()
    right = f'It begins with "{lines[2]}" (rollout.log:3).'
    wrong = f'It begins with "{lines[2]}" (rollout.log:4).'
    assert checked(right, material).all_verified
    assert not checked(wrong, material).all_verified


def test_a_report_without_an_answer_is_named() -> None:
    found = known("healthy").diagnosis
    with pytest.raises(InputError, match=r"x\.json: holds no answer of a model"):
        own_diagnosis(found.model_dump_json(by_alias=True), "x.json")
    assert own_diagnosis("some prose", "x.md") is None
