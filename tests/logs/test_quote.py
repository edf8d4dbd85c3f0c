"""Cited lines come back as they stand, wherever chunks are cut and however the file is packed."""

import gzip
from pathlib import Path

import pytest
import zstandard

from codex_skyrl.logs import chunks, ranges
from codex_skyrl.logs.quote import quotes
from codex_skyrl.logs.scan import Scanner


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
@pytest.mark.parametrize("size", [100, 4_096, 1 << 18])
def test_lines_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: object, size: int) -> None:
    assert callable(pack)
    monkeypatch.setattr(chunks, "CHUNK", size)
    path = tmp_path / "x.log"
    path.write_bytes(pack(b"".join(b"line %d \x1b[1mbold\x1b[0m\x07\n" % n for n in range(1, 3_001))))
    wanted = [1, 2, 700, 701, 3_000]
    found = quotes([("x", n) for n in (*wanted, 3_001)], {"x": path})
    assert found == {("x", n): f"line {n} bold" for n in wanted}


@pytest.mark.parametrize("processes", [1, 2])
def test_landmarks_lead_to_the_same_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int) -> None:
    monkeypatch.setattr(chunks, "CHUNK", 3_000)
    monkeypatch.setattr(ranges, "_RANGE", 20_000)
    monkeypatch.setattr(ranges, "_BIG", 1)
    path = tmp_path / "x.log"
    path.write_text("".join(f"line {n} of many\n" for n in range(1, 9_001)))
    scanner = Scanner([path], ["x"], processes=processes)
    assert not list(scanner.events())
    [report] = scanner.reports
    assert len(report.landmarks) > 5
    places = [("x", n) for n in (1, 2, *(before + k for before, _ in report.landmarks for k in (0, 1, 2)), 9_000) if n]
    assert quotes(places, {"x": path}, {"x": report.landmarks}) == {(x, n): f"line {n} of many" for x, n in places}


def test_an_unknown_or_missing_source_gives_nothing(tmp_path: Path) -> None:
    assert quotes([("x", 1), ("y", 1)], {"x": tmp_path / "none"}) == {}
