"""Recorded answers of real gateways and CDNs, judged without a network."""

import json
from pathlib import Path

import pytest

from codex_skyrl.setup.judge import judge, model_ids

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "field"


def test_an_error_in_any_shape_is_read() -> None:
    for body in (
        {"error": "flat"},
        {"error": {"message": "nested"}},
        {"error": {"error": {"message": "twice"}}},
        {"error": [{"message": "in a list"}]},
    ):
        judged = judge("chat", 200, {}, json.dumps(body).encode())
        assert judged.kind == "late_error"
        assert any(word in judged.what.en for word in ("flat", "nested", "twice", "in a list"))


def test_at_most_200_characters_of_a_body_are_shown() -> None:
    judged = judge("chat", 500, {}, json.dumps({"error": {"message": "x" * 5_000}}).encode())
    assert judged.what.en.count("x") == 200


def test_lists_of_models() -> None:
    assert model_ids(b'{"data": [{"id": "a"}, {"id": "b"}, {}]}') == ["a", "b"]
    assert model_ids(b'[{"id": "a"}]') == ["a"]
    assert model_ids(b"<html>") == model_ids(b'{"data": 3}') == []


def headers_of(file: Path) -> tuple[int, dict[str, str]]:
    first, *rest = file.read_text().split("\n")
    pairs = (line.strip().partition(": ") for line in rest if ": " in line)
    return int(first.split()[1]), {name.lower(): value for name, _, value in pairs}


@pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not at hand")
@pytest.mark.parametrize(
    ("name", "kind", "retry"),
    [("challenge", "cdn_challenge", False), ("block", "cdn_block", False), ("520", "origin_error", True)],
)
def test_field_case_of_cdn_pages(name: str, kind: str, retry: bool) -> None:
    status, headers = headers_of(CASES / "K1-15" / f"{name}_headers.txt")
    judged = judge("responses", status, headers, (CASES / "K1-15" / f"{name}_body.html").read_bytes())
    assert (judged.kind, judged.retry) == (kind, retry)
    assert "PLACEHOLDER-SIN" in judged.what.en
    assert "<" not in judged.what.en


@pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not at hand")
def test_field_case_of_no_channel() -> None:
    status, headers = headers_of(CASES / "K1-13" / "probe_headers.txt")
    judged = judge("responses", status, headers, (CASES / "K1-13" / "probe_body.json").read_bytes(), "gpt-5.1-high")
    assert (judged.kind, judged.retry) == ("model_not_served", False)
    assert "request id: 2099" in judged.what.en
    assert "model_reasoning_effort" in judged.fix.en
    other = judge("responses", status, headers, (CASES / "K1-13" / "probe_en_body.json").read_bytes())
    assert other.kind == "request_had_no_model"
