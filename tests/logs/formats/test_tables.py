"""Files that are one table: nvidia-smi in its forms, and Kubernetes events in theirs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.logs.event import ClusterEvent, GpuSample
from codex_skyrl.logs.formats import Row, gpu, kubernetes
from codex_skyrl.logs.formats.pulls import go_seconds


def rows(module: object, text: str) -> list[Row]:
    assert module in (gpu, kubernetes)
    assert module.sniff(text)  # type: ignore[attr-defined]
    table = module.Table()  # type: ignore[attr-defined]
    found = [row for number, line in enumerate(text.splitlines(), 1) for row in table.feed(number, line)]
    return [*found, *table.close()]


def test_nvidia_smi_csv() -> None:
    text = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n2025/05/20 12:00:00.250, 1, 87 %, 61234 MiB\n2025/05/20 12:00:05.000, 0, [N/A], [Not Supported]\n"
    [row] = rows(gpu, text)
    assert (row.line, row.body) == (2, GpuSample(1, 87.0, 61234.0))
    assert row.stamp is not None
    assert row.stamp.seconds % 86400 == 43200.25


def test_columns_in_any_order_and_without_units() -> None:
    text = "index, name, memory.used, utilization.gpu, timestamp\n3, A100, 5, 0, 2025/05/20 12:00:00\n"
    [row] = rows(gpu, text)
    assert row.body == GpuSample(3, 0.0, 5.0)


def test_dmon_with_repeated_headers() -> None:
    text = "#Time        gpu     sm    mem\n#HH:MM:SS    Idx      %      %\n 12:00:00      0     52     30\n#Time        gpu     sm    mem\n 12:00:01      1      -      0\n 12:00:02      1      9      0\n"
    found = rows(gpu, text)
    assert [r.body for r in found] == [GpuSample(0, 52.0, None), GpuSample(1, 9.0, None)]
    assert found[0].stamp is not None
    assert found[0].stamp.seconds == 43200.0


WIDE = (
    "LAST SEEN   TYPE      REASON    OBJECT      SUBOBJECT                  SOURCE            MESSAGE                                                                                     FIRST SEEN   COUNT   NAME\n"
    '5m          Normal    Pulled    pod/rt-1    spec.containers{runtime}   kubelet, node-4   Successfully pulled image "x/y" in 45.2s (1m10.5s including waiting). Image size: 9 bytes.   5m           1       rt-1.a\n'
    '4m          Normal    Pulled    pod/rt-2    spec.containers{runtime}   kubelet, node-4   Container image "x/y" already present on machine                                            4m           3       rt-2.a\n'
    "4m          Warning   FailedScheduling   pod/rt-3   x  default-scheduler   0/4 nodes are available\n"
)


def test_kubectl_wide() -> None:
    first, second, third = rows(kubernetes, WIDE)
    assert isinstance(first.body, ClusterEvent)
    assert (first.line, first.stamp) == (2, None)
    assert (first.body.reason, first.body.node, first.body.image) == ("Pulled", "node-4", "x/y")
    assert (first.body.cached, first.body.seconds, first.body.waiting_seconds) == (False, 45.2, 70.5)
    assert isinstance(second.body, ClusterEvent)
    assert (second.body.cached, second.body.count) == (True, 3)
    assert isinstance(third.body, ClusterEvent)
    assert (third.body.reason, third.body.warning) == ("FailedScheduling", True)


def event(name: str, **more: object) -> dict[str, object]:
    return {
        "kind": "Event", "type": "Warning", "reason": "Failed", "message": 'Failed to pull image "x": 429 {brace',
        "count": 2, "lastTimestamp": None, "eventTime": "2025-05-20T12:00:00.5Z",
        "involvedObject": {"kind": "Pod", "name": name}, "source": {"host": "n1"}, **more,
    }  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_kubernetes_json_however_it_is_printed(indent: int | None) -> None:
    text = json.dumps({"apiVersion": "v1", "items": [event("a"), event("b")], "kind": "List"}, indent=indent)
    found = rows(kubernetes, text)
    assert [r.body.object for r in found if isinstance(r.body, ClusterEvent)] == ["pod/a", "pod/b"]
    assert found[0].stamp is not None
    assert found[0].stamp.utc
    assert found[0].stamp.seconds % 86400 == 43200.5


def test_json_lines_a_plain_array_and_watch_records() -> None:
    for text in (
        json.dumps(event("a")) + "\n" + json.dumps(event("b")),
        json.dumps([event("a"), event("b")], indent=2),
        "\n".join(json.dumps({"type": "ADDED", "object": event(n)}) for n in "ab"),
    ):
        assert [r.body.object for r in rows(kubernetes, text) if isinstance(r.body, ClusterEvent)] == ["pod/a", "pod/b"]


def test_a_damaged_item_costs_only_itself() -> None:
    text = json.dumps({"items": [event("a"), event("b"), event("c")], "kind": "List"}, indent=1)
    damaged = text.replace('"name": "b"', '"name": b"')
    assert [r.body.object for r in rows(kubernetes, damaged) if isinstance(r.body, ClusterEvent)] == ["pod/a", "pod/c"]


def test_lines_that_begin_with_a_time() -> None:
    text = '2099-01-01T20:01:10Z Normal   Pulling   pod/rt-1  Pulling image "x/y"\n2099-01-01T20:01:15Z Warning  Failed    pod/rt-1  Failed to pull image "x/y": 429 Too Many Requests\n'
    first, second = rows(kubernetes, text)
    assert isinstance(first.body, ClusterEvent)
    assert (first.body.reason, first.body.image) == ("Pulling", "x/y")
    assert isinstance(second.body, ClusterEvent)
    assert second.body.warning
    assert second.stamp is not None
    assert second.stamp.seconds - first.stamp.seconds == 5.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "head", ["12:00:00 - openhands:INFO: x", '{"message": "x"}', "step:1 - a:1", "", "index of things, memory"]
)
def test_ordinary_logs_are_no_tables(head: str) -> None:
    assert not gpu.sniff(head)
    assert not kubernetes.sniff(head)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45.2s", 45.2), ("1m10.5s", 70.5), ("250ms", 0.25), ("1h0m1s", 3601.0), ("5 s", None), ("", None)],
)
def test_go_durations(text: str, seconds: float | None) -> None:
    assert go_seconds(text) == seconds


@given(
    st.lists(
        st.one_of(st.text(max_size=60), st.sampled_from([*WIDE.splitlines(), "{", "}", '"items": ['])), max_size=20
    )
)
def test_no_rows_stop_a_table(lines: list[str]) -> None:
    for table in (gpu.Table(), kubernetes.Table()):
        for number, line in enumerate(lines, 1):
            list(table.feed(number, line))
        list(table.close())
