"""Steps that are over are packed, and nothing is lost by it."""

from pathlib import Path

import pytest

from codex_skyrl.analyse import analyse, read
from codex_skyrl.logs.event import Event, Kind, Lifecycle, When
from codex_skyrl.pipeline import record, steps
from codex_skyrl.pipeline.record import Record
from story import batch, play, write_log


def test_a_diagnosis_is_the_same_with_few_and_with_all_steps_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path / "x.log", *[play(batch(4, 4, lambda i: {"init_s": 60.0 + i}), 4, 4)] * 9)
    expected = analyse(read(["x.log"], tmp_path, None), "en")
    for module in (record, steps):
        monkeypatch.setattr(module, "MOST_OPEN", 2)
    material = read(["x.log"], tmp_path, None)
    records = [r for step in material.run.steps for r in step.records]
    assert sum(1 for r in records if r._packed) >= 3
    assert analyse(material, "en") == expected


def test_a_late_line_opens_what_was_packed() -> None:
    one = Record("x", "", 0)
    taken = Lifecycle(Kind.INIT_STARTED, "a", 0)
    one.feed(Event("x", 1, "", When(5.0, 6.0), taken), taken, 1)
    one.put_away()
    one.move(100.0)
    assert one.trajectories["a", 0].init.taken_s == 105.5
    late = Lifecycle(Kind.RUN_STARTED, "a", 0)
    one.feed(Event("x", 2, "", When(110.0, 111.0), late), late, 2)
    one.put_away()
    assert one.trajectories["a", 0].init.taken_s == 105.5
    assert one.trajectories["a", 0].run.taken_s == 110.5
    assert one.moments(Kind.INIT_STARTED).times.tolist() == [105.5]
