"""Columns and tables give back exactly what went in, and refuse what is not theirs."""

import math
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.event import (
    ClusterEvent,
    DepthSample,
    Event,
    Failure,
    GpuSample,
    Kind,
    Lifecycle,
    LlmSample,
    Progress,
    SandboxServer,
    StepMetrics,
    When,
)
from codex_skyrl.logs.scan import Scanner
from codex_skyrl.remote import table
from codex_skyrl.remote.columns import Broken, pack_numbers, unpack_numbers
from codex_skyrl.remote.table import events_in, table_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
BODIES = [
    Lifecycle(Kind.RUN_DONE, "a__b-1", 3, 99.1), Lifecycle(Kind.REPLY_PARSED), LlmSample("sglang", "decode", 13, 2, 0.04, 612.33, None, "TP0"),
    GpuSample(3, None, 117974.0), ClusterEvent("Pulled", "pod/x", "n1", "img", True, 1.25, None, 4, False, "text"), ClusterEvent("Failed"),
    SandboxServer("POST /start", 503, 0.1234567, "说"), StepMetrics(3, (("timing_s/gen", 12.5), ("x", -1e300))), DepthSample(None, 4, 0),
    Progress("Run", 1, 1_000_000_000_000), Failure("error", "ValueError: x", "", True), Failure("warning", ""),
]  # fmt: skip


def events(count: int) -> list[Event]:
    chance = random.Random(3)
    moments = [-math.inf, math.inf, 43_200.0, 43_201.0, 1.7e9 + 0.123456, 1e-12]
    return [
        Event(f"x{n % 3}.log", n * 7 + 1, chance.choice(["", "W pid=1"]), When(chance.choice(moments), chance.choice(moments)), chance.choice(BODIES), 1 + n % 5)
        for n in range(count)
    ]  # fmt: skip


def same(left: object, right: object) -> bool:
    """Equal, and of equal types to the last field."""
    return repr(left) == repr(right)


@given(
    st.lists(
        st.one_of(st.floats(), st.integers(-(2**50), 2**50).map(float), st.decimals(-1000, 1000, places=2).map(float))
    )
)
def test_numbers_come_back(values: list[float]) -> None:
    back = unpack_numbers(*pack_numbers(values))
    assert [repr(v + 0.0) for v in back] == [repr(v + 0.0) for v in values], "but for the sign of zero"


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_events_of_every_type_come_back(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "GROUP", 300)
    wanted = events(count)
    groups = list(table_of(wanted))
    assert len(groups) == -(-count // 300)
    assert same(list(events_in(groups)), wanted)


@pytest.mark.parametrize("sample", sorted(p.name for p in SAMPLES.iterdir() if p.is_dir()))
def test_the_samples_come_back_small(sample: str) -> None:
    for path in (SAMPLES / sample).glob("*.log"):
        wanted = list(Scanner([path]).events())
        groups = list(table_of(wanted))
        assert same(list(events_in(groups)), wanted)
        assert sum(map(len, groups)) < 25 * len(wanted) + 1_000


@given(st.binary(max_size=200), st.integers(0, 3))
def test_other_bytes_are_refused(noise: bytes, where: int) -> None:
    [group] = table_of(events(40))
    at = len(group) * where // 4
    for broken in (noise, group[:at], group[:at] + noise + group[at + len(noise) :]):
        with suppress(Broken):
            assert len(list(events_in([broken]))) <= 40
