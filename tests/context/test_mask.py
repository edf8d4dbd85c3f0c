"""Names are hidden behind stand-ins and come back exactly; what tells nothing stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.context.mask import Masker

HIDDEN = {
    "ip=10.0.3.17)": "10.0.3.17",
    "https://runtime.corp.example.com/start": "runtime.corp.example.com",
    "/home/alice/proj/logs/rollout.log": "alice",
    "user=bob": "bob",
    "assigned runtime-pods/x to gpu-node-7": "gpu-node-7",
    '"host": "kube-a1"': "kube-a1",
    "on ip-10-0-3-4.ec2.internal": "ip-10-0-3-4",
    "alice@corp.example.com": "alice",
    "git@github.com:acme/secret-repo.git": "acme",
    "image sweb.eval.x86_64.scikit-learn_s_scikit-learn-11099": "scikit",
    "instance django__django-11099, trajectory 3": "django",
    "/data/models/qwen3": "/data/models",
    "at fe80::1ff:fe23:4567:890a": "fe23",
}


@pytest.mark.parametrize("text", HIDDEN)
def test_hidden_and_restored(text: str) -> None:
    masker = Masker()
    masked = masker.mask(text)
    assert HIDDEN[text] not in masked
    assert masker.restore(masked) == text


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:30000/generate", "ready = asyncio.Queue(maxsize=self.max_parallel_agents)", "12:00:31 step 0.5.1",
        "verl/workers/agentic/codeact.py:1203", "self.config.io", "E3 [rollout.log:12]", "trajectory 3, 41 s",
        "kubectl get events > /dev/null",
    ],
)  # fmt: skip
def test_ordinary_text_stays(text: str) -> None:
    assert Masker().mask(text) == text


def test_one_name_has_one_stand_in_and_what_looks_like_one_is_kept() -> None:
    masker = Masker()
    masked = masker.mask("REPO_1: django__django-1 and django__django-2, psf__requests-7")
    assert masked == "REPO_1: REPO_2-1 and REPO_2-2, REPO_3-7"
    assert masker.restore("REPO_2-1 is not REPO_1, nor REPO_9") == "django__django-1 is not REPO_1, nor REPO_9"


@given(st.text(alphabet="ab1_-./:@ =\n", max_size=80), st.sampled_from(sorted(HIDDEN)))
def test_masking_can_always_be_undone(around: str, name: str) -> None:
    text = f"{around} {name} {around}"
    masker = Masker()
    assert masker.restore(masker.mask(text)) == text
