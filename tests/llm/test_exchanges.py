"""Exchanges are found again by the very same question only, are private, bounded, and damage does no harm."""

import stat
from pathlib import Path

from codex_skyrl.llm.exchanges import Exchange, Exchanges, key_of_exchange, read_exchange


def exchange(key: str, at: str = "2026-01-31T12:00:00.000Z") -> Exchange:
    return Exchange(at, key, "api m http://x", "why?", {"a": 1}, "m", 3, None, ["n"], {"b": 2})


def test_found_again_and_private(tmp_path: Path) -> None:
    kept = Exchanges(tmp_path / "state" / "exchanges")
    key = key_of_exchange("api m u", "why?", {})
    assert kept.find(key) is None
    path = kept.keep(exchange(key))
    assert kept.find(key) == read_exchange(path) == exchange(key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700


def test_another_question_has_another_key() -> None:
    keys = {
        key_of_exchange(asked, prompt, schema)
        for asked in ("api m u", "codex m u")
        for prompt in ("why?", "why ?")
        for schema in ({}, {"x": 1})
    }
    assert len(keys) == 8


def test_the_newest_counts_and_the_oldest_go(tmp_path: Path) -> None:
    kept = Exchanges(tmp_path)
    for n in range(205):
        kept.keep(exchange(f"{n % 3:064x}", f"2026-01-31T12:{n // 60:02}:{n % 60:02}.000Z"))
    assert len(list(tmp_path.iterdir())) == 200
    found = kept.find(f"{0:064x}")
    assert found is not None
    assert found.at == "2026-01-31T12:03:24.000Z"


def test_a_damaged_or_strange_file_is_passed_over(tmp_path: Path) -> None:
    kept = Exchanges(tmp_path)
    key = key_of_exchange("a", "b", {})
    kept.keep(exchange(key)).write_text('{"at": 1')
    assert kept.find(key) is None
