"""The HTML report in a real Chromium: no console error, no request, charts drawn, zoom and links work, log text stays text."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codex_skyrl.analyse import Read, analyse, read
from codex_skyrl.diagnosis.facts import case_of
from codex_skyrl.report.html import to_html
from codex_skyrl.report.model import STAGES
from codex_skyrl.text import Lang
from codex_skyrl.whatif.predict import predict
from material import material
from report.samples import hang
from story import batch, play, write_log

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"
CHROMIUM = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")


def page_of(found: Read, lang: Lang = "en") -> str:
    case = case_of(found.run, found.knobs, found.checkout)
    return to_html(analyse(found, lang), case, predict(case, [])[1])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playing:
        started = playing.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Seen:
    """A page that was opened, with everything it complained of or asked for."""

    def __init__(self, browser: Any, path: Path, **context: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = browser.new_context(**context).new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.querySelectorAll('#timeline .scatterlayer .trace').length > 0")


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "lang"), [(1280, "en"), (390, "zh")])
def test_opens_clean_draws_and_zooms(browser: Any, tmp_path: Path, width: int, lang: Lang, scheme: str) -> None:
    path = tmp_path / "report.html"
    path.write_text(page_of(read([str(SAMPLES / "init_cache_miss")], SAMPLES.parent, None), lang), encoding="utf-8")
    seen = Seen(browser, path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = seen.page
    assert seen.complaints == []
    assert seen.requests == [path.as_uri()]
    titles = page.eval_on_selector_all("#timeline .annotation-text", "all => all.map(one => one.textContent)")
    assert len(titles) == 7
    lanes = page.evaluate(
        "document.getElementById('timeline').data.filter(t => t.mode === 'lines' && t.name === 'init').map(t => t.x.length)"
    )
    assert lanes == [3 * 40]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ink = page.evaluate("document.getElementById('timeline').layout.font.color")
    assert ink == {"light": "#1b1f24", "dark": "#e6e9ed"}[scheme]
    before = page.evaluate("document.getElementById('timeline').layout.xaxis.range")
    page.focus("button[data-from]:nth-of-type(2)")
    page.keyboard.press("Enter")
    zoomed = page.evaluate(
        "[1, 3, 7].map(n => document.getElementById('timeline')._fullLayout['xaxis' + (n > 1 ? n : '')].range)"
    )
    assert zoomed[0] != before
    assert zoomed[0] == zoomed[1] == zoomed[2]
    page.click("#everything")
    assert page.evaluate("document.getElementById('timeline').layout.xaxis.range") != zoomed[0]


@needs_browser
def test_a_link_leads_to_the_quoted_line(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page_of(read([str(SAMPLES / "init_cache_miss")], SAMPLES.parent, None)), encoding="utf-8")
    page = Seen(browser, path, viewport={"width": 1280, "height": 900}).page
    link = page.locator("a[href^='#E']").first
    name = link.get_attribute("href")
    link.click()
    assert page.evaluate("location.hash") == name
    assert page.evaluate("document.querySelector(':target').getBoundingClientRect().top < innerHeight")
    links = page.eval_on_selector_all("a[href^='#']", "all => all.map(a => a.getAttribute('href'))")
    assert all(page.locator(f"[id='{href[1:]}']").count() == 1 for href in set(links))


@needs_browser
def test_scripts_in_a_log_stay_text(browser: Any, tmp_path: Path) -> None:
    story = play(batch(8, 4, lambda i: {"init_s": 90.0, "init_error": HOSTILE if i % 3 == 0 else None}), 4, 4)
    log = write_log(tmp_path / "rollout.log", story, story)
    path = tmp_path / "report.html"
    path.write_text(page_of(material(log)), encoding="utf-8")
    seen = Seen(browser, path, viewport={"width": 1280, "height": 900})
    assert seen.complaints == []
    assert seen.page.evaluate("window.hit") is None
    assert "<script>window.hit = 1</script>" in seen.page.inner_text("body")
    marks = "document.getElementById('timeline').data.filter(t => t.name === 'failed').flatMap(t => t.text)"
    assert any("&lt;script&gt;" in text for text in seen.page.evaluate(marks))


def test_one_file_with_nothing_to_load_and_every_answer_in_order() -> None:
    text = page_of(read([str(SAMPLES / "eval_few_workers")], SAMPLES.parent, None))
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", outside) == []
    at = [outside.index(f"<h2>{n}. ") for n in range(1, 7)]
    assert at == sorted(at)
    assert len(text.encode()) < 8_000_000
    assert all(f"{stage}_queue" in outside for stage in STAGES)


def test_a_models_part_is_marked_as_its_words_and_checked_ones() -> None:
    found = read([str(SAMPLES / "init_cache_miss")], SAMPLES.parent, None)
    case = case_of(found.run, found.knobs)
    told = hang("en").report
    text = to_html(analyse(found, "en").model_copy(update={"report": told}), case, [])
    assert told is not None
    for words in (
        "It DISAGREES",
        "[UNVERIFIED]",
        "[verified]",
        "The cited evidence E9 does not exist.",
        "max_parallel_agents 64 -&gt; 32",
    ):
        assert words in text
    linked = set(re.findall(r'href="#([EC]\d+)"', text))
    assert linked <= set(re.findall(r'id="([EC]\d+)"', text))


def test_a_big_run_stays_small_and_says_what_was_thinned(tmp_path: Path) -> None:
    """Two steps of 1,000 trajectories each."""
    story = play(batch(100, 10, lambda i: {"init_s": 5.0}), 32, 32)
    text = page_of(material(write_log(tmp_path / "rollout.log", story, story)))
    assert len(text.encode()) < 8_000_000
    assert "of 2,000 trajectories are drawn" in text


def test_a_run_without_steps_has_a_page_without_charts(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("step:1 - timing_s/gen:300.0 - timing_s/step:400.0\n")
    found = material(tmp_path / "x.log")
    case = case_of(found.run, found.knobs)
    text = to_html(analyse(found, "en"), case, [])
    assert "<h1>" in text
    assert "Plotly" not in text
