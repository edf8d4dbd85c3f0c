"""Every fault of a configuration gets its code, its place and a fix; nothing secret is repeated."""

from pathlib import Path

import pytest

from codex_skyrl.setup.codex import Version
from codex_skyrl.setup.document import document_of, read_document
from codex_skyrl.setup.edit import edited
from codex_skyrl.setup.effective import Layers, effective_of
from codex_skyrl.setup.finding import Finding
from codex_skyrl.setup.findings import findings_of, project_findings

GOOD = """\
model = "m1"
model_provider = "taotoken"

[model_providers.taotoken]
name = "TaoToken"
base_url = "https://gw.example/v1"
env_key = "TAOTOKEN_API_KEY"
wire_api = "responses"
"""
ENV = {"TAOTOKEN_API_KEY": "key"}
NOW: Version = (0, 171, 0)
CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "field"


def found(text: str | bytes, env: dict[str, str] | None = None, codex: Version | None = NOW) -> list[Finding]:
    raw = text if isinstance(text, bytes) else text.encode()
    return findings_of(document_of(Path("config.toml"), raw), ENV if env is None else env, codex)


def codes(text: str | bytes, **more: object) -> dict[str, int | None]:
    return {f.code: f.line for f in found(text, **more)}  # type: ignore[arg-type]


def test_a_good_file_has_no_findings() -> None:
    assert found(GOOD) == []
    assert effective_of(document_of(Path("c"), GOOD.encode()).values or {}).provider == "taotoken"


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (changed('"responses"', '"chat"'), "wire_api_chat_removed", 8),
        (changed('"responses"', '"Responses"'), "wire_api_unknown", 8),
        (GOOD + '[model_providers.other]\nname = "O"\nbase_url = "https://o/v1"\nenv_key = "O"\nwire_api = "chat"\n', "wire_api_chat_removed", 13),
        (changed("https://gw.example/v1", "https://gw.example"), "base_url_missing_v1", 6),
        (changed("/v1", "/v1?utm_source=x"), "base_url_has_query", 6),
        (changed("/v1", "/v1/chat/completions"), "base_url_is_endpoint", 6),
        (changed("/v1", "/v1/v1"), "base_url_doubled_v1", 6),
        (changed("https://", ""), "base_url_no_scheme", 6),
        (changed('base_url = "https://gw.example/v1"\n', ""), "base_url_missing", 4),
        (changed('env_key = "TAOTOKEN_API_KEY"\n', ""), "no_auth_binding", 4),
        (changed("TAOTOKEN_API_KEY", "$TAOTOKEN_API_KEY"), "env_key_not_a_name", 7),
        (changed('wire_api', 'experimental_bearer_token = "x"\nwire_api'), "auth_conflict", 4),
        (changed('env_key = "TAOTOKEN_API_KEY"', "requires_openai_auth = true"), "official_login_to_third_party", 7),
        (changed('name = "TaoToken"', 'name = ""'), "provider_name_empty", 5),
        (changed('model_provider = "taotoken"', 'model_provider = "TaoToken"'), "provider_id_not_found", 2),
        (changed('model_provider = "taotoken"\n', ""), "old_provider_active", None),
        (changed('model = "m1"', 'model = "m1"\nprofile = "x"'), "legacy_profile_selector", 2),
        (GOOD + '[model_providers.openai]\nname = "x"\nbase_url = "https://x/v1"\nenv_key = "X"\n', "reserved_provider_id", 9),
        (GOOD + '[mcp_servers.docs]\ncommand = "npx"\nmodel_reasoning_effort = "high"\n', "root_key_inside_table", 11),
        (GOOD.replace("[model_providers.taotoken]", "[taotoken]"), "provider_table_misplaced", 4),
        ('[model_provider.taotoken]\nname = "T"\n', "provider_table_misplaced", 1),
        (GOOD + "[features]\na = 1\n[features]\n", "duplicate_definition", 9),
        (GOOD.replace('"m1"', "“m1”"), "toml_syntax", 1),
        (GOOD.encode("utf-16"), "file_is_utf16", 1),
        (b'model = "\xff"\n', "file_is_not_utf8", 1),
        ('model = "m"\n\ufeff[features]\n', "bom_inside_file", 2),
    ],
)  # fmt: skip
def test_each_fault_at_its_line(text: str | bytes, code: str, line: int | None) -> None:
    assert codes(text).get(code, "missing") == line


def test_chat_is_fine_for_a_codex_that_speaks_it() -> None:
    assert "wire_api_chat_removed" not in codes(changed('"responses"', '"chat"'), codex=(0, 94, 0))
    assert "wire_api_chat_removed" in codes(changed('"responses"', '"chat"'), codex=None)


@pytest.mark.parametrize(
    ("env", "code"),
    [({}, "env_key_empty_or_missing"), ({"TAOTOKEN_API_KEY": " "}, "env_key_empty_or_missing"), ({"TAOTOKEN_API_KEY": "k\n"}, "env_key_padded"), ({"TAOTOKEN_API_KEY": "Bearer k"}, "env_key_padded")],
)  # fmt: skip
def test_the_variable_in_this_process(env: dict[str, str], code: str) -> None:
    assert code in codes(GOOD, env=env)


def test_a_pasted_key_is_named_and_never_repeated() -> None:
    for number in range(50):
        key = f"sk-{number:02d}" + "Planted9" * 4
        for finding in found(changed("TAOTOKEN_API_KEY", key)):
            for text in (finding.what, finding.fix):
                assert key not in text.en + text.zh
        assert "env_key_is_a_secret" in codes(changed("TAOTOKEN_API_KEY", key))


def test_every_syntax_problem_with_caret_and_corrected_line() -> None:
    problems = [f for f in found('model = gpt\nx = 1\npath = "C:\\Win"\n') if f.code == "toml_syntax"]
    assert [(f.line, f.column) for f in problems] == [(1, 9), (3, 11)]
    assert "        ^" in problems[0].what.en
    assert 'model = "gpt"' in problems[0].fix.en
    assert "path = 'C:\\Win'" in problems[1].fix.en


@pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not at hand")
@pytest.mark.parametrize(
    ("file", "wanted", "env"),
    [
        ("K1-01/config.toml", {"wire_api_chat_removed": 9}, ENV),
        ("K1-03/config.toml", {"no_auth_binding": 4}, ENV),
        ("K1-05/config.toml", {"root_key_inside_table": 14, "old_provider_active": None}, ENV),
        ("K1-07/config_utf16le.toml", {"file_is_utf16": 1}, ENV),
        ("K1-07/config_bom_midfile.toml", {"bom_inside_file": 2}, ENV),
        ("K1-07/config.toml", {}, {"OLD_KEY": "k"}),
        ("K1-11/config_dot.toml", {"provider_id_not_found": 1}, ENV),
        ("K1-11/config_zh_bare.toml", {"toml_syntax": 3}, ENV),
        ("K1-11/config_zh_quoted.toml", {}, ENV),
        ("K1-17/config.toml", {"env_key_empty_or_missing": 7}, {"TAOTOKEN_API_KEY": ""}),
    ],
)
def test_field_cases(file: str, wanted: dict[str, int | None], env: dict[str, str]) -> None:
    document = read_document(CASES / file)
    got = {f.code: f.line for f in findings_of(document, env, (0, 149, 0))}
    assert got == wanted


@pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not at hand")
def test_field_case_duplicates_are_all_found_and_show_no_secret() -> None:
    findings = findings_of(read_document(CASES / "K1-09" / "config.toml"), ENV, NOW)
    said = [f.what.en for f in findings if f.code == "duplicate_definition"]
    assert len(said) == 3
    assert any("mcp_servers.mail.http_headers" in s and "9, 11" in s for s in said)
    assert any("features" in s and "4, 17" in s for s in said)
    assert any("14, 20" in s for s in said)
    assert not any("SECRET" in f.what.en + f.fix.en for f in findings)


def test_a_dot_in_a_provider_id_is_explained() -> None:
    [finding] = [
        f
        for f in found('model_provider = "tao.v1"\n[model_providers.tao.v1]\nname = "T"\n')
        if f.code == "provider_id_not_found"
    ]
    assert '[model_providers."tao.v1"]' in finding.fix.en


def test_what_stands_over_the_file_decides() -> None:
    values = document_of(Path("c"), GOOD.encode()).values or {}
    over = Layers({"model_provider": "x"}, "p", {"model_provider": "y", "model": "m2"})
    assert effective_of(values, over).provider == "x"
    assert "-c" in effective_of(values, over).decided_by.en
    profiled = effective_of(values, Layers({}, "p", {"model_provider": "y", "model": "m2"}))
    assert (profiled.provider, profiled.model) == ("y", "m2")
    assert "p.config.toml" in profiled.decided_by.en
    assert "built-in default" in effective_of({}).decided_by.en


def test_a_projects_own_provider_is_ignored_and_said_so() -> None:
    assert [f.code for f in project_findings(document_of(Path(".codex/config.toml"), GOOD.encode()))] == [
        "project_provider_ignored"
    ]
    assert project_findings(document_of(Path(".codex/config.toml"), b"model = 'm'\n")) == []


@pytest.mark.skipif(not CASES.is_dir(), reason="the field cases are not at hand")
def test_field_case_writes_change_only_what_they_must() -> None:
    wire = {("model_providers", "taotoken", "wire_api"): "responses"}
    before = read_document(CASES / "K1-01" / "config.toml")
    lines = [edited(before, wire).text.splitlines(), before.text.splitlines()]
    assert [n for n, (a, b) in enumerate(zip(*lines, strict=True), 1) if a != b] == [9]
    root = edited(read_document(CASES / "K1-05" / "config.toml"), {("model_provider",): "taotoken"})
    assert effective_of(root.values or {}).provider == "taotoken"
    assert root.text.splitlines()[1] == 'model_provider = "taotoken"'
    bound = edited(
        read_document(CASES / "K1-03" / "config.toml"), {("model_providers", "custom", "env_key"): "TAOTOKEN_API_KEY"}
    )
    assert findings_of(bound, ENV, NOW) == []
    windows = edited(read_document(CASES / "K1-07" / "config.toml"), {("model_provider",): "taotoken", **wire})
    assert windows.raw.startswith(b"\xef\xbb\xbfmodel")
    assert windows.raw.count(b"\n") == windows.raw.count(b"\r\n")
    assert windows.raw.count(b"\xef\xbb\xbf") == 1
