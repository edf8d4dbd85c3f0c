"""Each layer that containers, collectors, Ray and terminals put around a line, taken off."""

import json

import pytest

from codex_skyrl.logs.formats import Stamp
from codex_skyrl.logs.unwrap import Wrapped, strip_ansi, unwrap

NOON = 1_747_742_400.0  # 2025-05-20T12:00:00Z


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("plain", Wrapped("plain")),
        ("\x1b[92m12:00:00 - openhands:INFO\x1b[0m: x", Wrapped("12:00:00 - openhands:INFO: x")),
        ("(WorkerDict pid=7) text", Wrapped("text", "WorkerDict pid=7")),
        ("\x1b[36m(WorkerDict pid=7, ip=10.0.0.8)\x1b[0m text", Wrapped("text", "WorkerDict pid=7@10.0.0.8")),
        ("(pid=7) not an actor", Wrapped("(pid=7) not an actor")),
        ("text [repeated 5x across cluster]", Wrapped("text", times=5)),
        ("text [repeated 5x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 ...)", Wrapped("text", times=5)),
        ("2025-05-20T12:00:00.250Z text", Wrapped("text", stamp=Stamp(NOON + 0.25, True, 0.001, True))),
        ("2025-05-20T20:00:00+08:00 text", Wrapped("text", stamp=Stamp(NOON, True, 1.0, True))),
        ("2025-05-20T12:00:00.1Z stdout F text", Wrapped("text", stamp=Stamp(NOON + 0.1, True, 0.001, True))),
        ("2025-05-20T12:00:00.1Z stderr P te", Wrapped("te", stamp=Stamp(NOON + 0.1, True, 0.001, True), partial=True)),
        ("May 20 12:00:00 text", Wrapped("text", stamp=Stamp(43200.0, False, 1.0))),
        ("2025-05-20 12:00:00.123 | INFO | x - loguru is no wrapper", Wrapped("2025-05-20 12:00:00.123 | INFO | x - loguru is no wrapper")),
    ],
)  # fmt: skip
def test_one_layer(line: str, wanted: Wrapped) -> None:
    assert unwrap(line, syslog=True) == [wanted]


def test_layers_within_layers() -> None:
    [found] = unwrap(
        "2025-05-20T12:00:00Z stdout F \x1b[36m(WorkerDict pid=7)\x1b[0m text [repeated 2x across cluster]"
    )
    assert found == Wrapped("text", "WorkerDict pid=7", Stamp(NOON, True, 1.0, True), 2)


def test_a_time_within_a_time_keeps_the_outer_one() -> None:
    [found] = unwrap("2025-05-20T12:00:00Z stdout F May 20 20:00:00 (W pid=7) text")
    assert found == Wrapped("text", "W pid=7", Stamp(NOON, True, 1.0, True))
    record = json.dumps({"log": "May 20 20:00:00 text\n", "time": "2025-05-20T12:00:00Z"})
    assert unwrap(record) == [Wrapped("text", stamp=Stamp(NOON, True, 1.0, True))]


def test_docker_json_file() -> None:
    line = json.dumps({"log": "(A pid=1) \u001b[92mone\u001b[0m\n", "stream": "stdout", "time": "2025-05-20T12:00:00Z"})
    assert unwrap(line) == [Wrapped("one", "A pid=1", Stamp(NOON, True, 1.0, True))]
    part = json.dumps({"log": "no end", "time": "2025-05-20T12:00:00Z"})
    assert unwrap(part)[0].partial
    assert unwrap(line[:-9])[0].damaged
    assert unwrap('{"level": "info", "message": "not docker"}')[0].text.startswith('{"level"')


def test_of_a_redrawn_bar_only_the_last_state_stays() -> None:
    bar = "\rRun:   0%|  | 0/8 [00:00<?]\rRun:  50%|# | 4/8 [00:10<?]\rRun: 100%|##| 8/8 [00:20<00:00, 2.5s/it]"
    assert [w.text for w in unwrap(bar)] == ["Run: 100%|##| 8/8 [00:20<00:00, 2.5s/it]"]
    assert [w.text for w in unwrap(bar + "\rreal line")] == ["Run: 100%|##| 8/8 [00:20<00:00, 2.5s/it]", "real line"]


def test_lines_glued_together_are_cut_apart() -> None:
    found = unwrap("Run: 100%|##| 8/8 [00:20<00:00, 2.5s/it](W pid=7) 12:00:00 - openhands:INFO: x(W pid=8) other")
    assert [(w.process, w.text) for w in found] == [
        ("", "Run: 100%|##| 8/8 [00:20<00:00, 2.5s/it]"),
        ("W pid=7", "12:00:00 - openhands:INFO: x"),
        ("W pid=8", "other"),
    ]


def test_titles_and_cursor_movements_are_escapes_too() -> None:
    assert strip_ansi("a\x1b]0;title\x07b\x1b[2Kc\x1b[1;31md") == "abcd"
