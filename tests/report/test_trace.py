"""The trace, checked by SQL: counts and totals of its spans are ours, no worker does two things at once, counters end at zero."""

import json
import sqlite3
from pathlib import Path

import pytest

from codex_skyrl.analyse import read
from codex_skyrl.diagnosis.facts import Case, case_of
from codex_skyrl.report.model import STAGES
from codex_skyrl.report.trace import trace_of
from material import material
from story import batch, play, write_log

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"


def tables(case: Case) -> sqlite3.Connection:
    """Spans, counters and names of the trace as three tables, after a round trip through JSON."""
    events = json.loads(json.dumps(trace_of(case)))["traceEvents"]
    db = sqlite3.connect(":memory:")
    db.execute("create table span (name, cat, pid, tid, ts integer, dur integer)")
    db.execute("create table counter (name, pid, ts integer, key, value)")
    db.execute("create table name (kind, pid, tid, name)")
    for e in events:
        if e["ph"] == "X":
            db.execute(
                "insert into span values (?,?,?,?,?,?)", [e[k] for k in ("name", "cat", "pid", "tid", "ts", "dur")]
            )
        elif e["ph"] == "C":
            for key, value in e["args"].items():
                db.execute("insert into counter values (?,?,?,?,?)", (e["name"], e["pid"], e["ts"], key, value))
        else:
            db.execute("insert into name values (?,?,?,?)", (e["name"], e["pid"], e["tid"], e["args"]["name"]))
    return db


@pytest.fixture(params=["init_cache_miss", "eval_few_workers", "played"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    if request.param == "played":
        found = material(write_log(tmp_path / "rollout.log", play(batch(8, 4, lambda i: {"tests_s": 90.0}), 4, 2)))
    else:
        found = read([str(SAMPLES / request.param)], SAMPLES.parent, None)
    return case_of(found.run, found.knobs)


def test_counts_and_totals_are_ours(case: Case) -> None:
    db = tables(case)
    for stage in STAGES:
        visits = [t.visit(stage) for s in case.steps for p in s.pipelines for t in p.trajectories()]
        services = [s for v in visits if (s := v.service_s) is not None]
        waits = [w for v in visits if (w := v.wait_s)]
        for category, ours in ((f"{stage} service", services), (f"{stage} wait", waits)):
            [(count, total)] = db.execute("select count(*), coalesce(sum(dur), 0) from span where cat = ?", [category])
            assert count == len(ours), category
            assert total / 1e6 == pytest.approx(sum(ours), abs=1e-3), category


def test_no_lane_does_two_things_at_once_and_lanes_are_no_more_than_workers(case: Case) -> None:
    db = tables(case)
    twice = db.execute(
        "select a.name, b.name from span a join span b on a.pid = b.pid and a.tid = b.tid and a.rowid < b.rowid "
        "where a.ts < b.ts + b.dur - 1000 and b.ts < a.ts + a.dur - 1000"
    ).fetchall()
    assert twice == []
    for n, stage in enumerate(STAGES, 1):
        most = max(p.workers.of(stage) or 0 for s in case.steps for p in s.pipelines)
        where = "tid / 1000 = ? and pid in (select pid from name where kind = 'process_name' and name like '%workers')"
        [(lanes,)] = db.execute(f"select count(distinct tid) from span where {where}", [n])
        assert 0 < lanes <= most + 2  # stamps are whole seconds: an end and the next begin may cross


def test_every_lane_is_named_and_depths_end_at_zero(case: Case) -> None:
    db = tables(case)
    unnamed = "select count(*) from span s where not exists (select 1 from name n where n.kind = 'thread_name' and n.pid = s.pid and n.tid = s.tid)"
    assert db.execute(unnamed).fetchone() == (0,)
    for stage in STAGES:
        last = db.execute(
            "select value from counter where name = ? order by ts desc, rowid desc limit 1", [f"{stage}_queue depth"]
        )
        assert last.fetchone() == (0,)


def test_times_begin_at_zero(case: Case) -> None:
    db = tables(case)
    [(first, shortest)] = db.execute("select min(ts), min(dur) from span")
    assert 0 <= first < 60 * 1_000_000
    assert shortest >= 0
