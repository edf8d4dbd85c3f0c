"""Edits touch their own keys and nothing else, in every style a file may be written in."""

import difflib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import assume, given
from hypothesis import strategies as st

from codex_skyrl.errors import ConfigError
from codex_skyrl.setup.document import document_of
from codex_skyrl.setup.edit import edited

PROVIDER = ("model_providers", "taotoken")
WANTED = {
    ("model",): "m1",
    ("model_provider",): "taotoken",
    (*PROVIDER, "name"): "TaoToken",
    (*PROVIDER, "base_url"): "https://gw.example/v1",
    (*PROVIDER, "env_key"): "TAOTOKEN_API_KEY",
    (*PROVIDER, "wire_api"): "responses",
}

FILES = {
    "empty": "",
    "only a comment": "# mine\n",
    "no line end": 'model = "old"',
    "a team's file": '# do not touch\nmodel = "old"            # picked\nmodel_provider = "taotoken"\n\n[model_providers.taotoken]\nname = "TaoToken"\nbase_url = "https://gw.example/v1"   # keep\nenv_key = "TAOTOKEN_API_KEY"\nwire_api = "chat"            # worked\n',
    "only tables": "# about the server\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"docs\",\n]\n",
    "dotted": 'model_providers.taotoken.name = "T"\nmodel_providers.taotoken.base_url = "https://old"\n[features]\nx = true\n',
    "inline": 'model_providers = { old = { name = "Old", base_url = "https://old" }, taotoken = { name = "T" } }\n',
    "inline provider": '[model_providers]\ntaotoken = { name = "T", base_url = "https://old" } # here\n',
    "sub table first": '[model_providers.taotoken.http_headers]\nX-A = "1"\n',
    "arrays of tables": '[[hooks]]\nname = "a"\n\n[[hooks]]\nname = "b"\n',
    "indented": '  model = "old"\n\n  [model_providers.taotoken]\n    name = "T"\n    # end\n\n[z]\n',
    "quoted keys": '"model" = "old"\n[model_providers."tao.v1"]\nname = "x"\n[projects."/home/u/a b"]\ntrust_level = "trusted"\n',
    "multi-line": 'notes = """\n[model_providers.taotoken]\nmodel = "no"\n"""\n[x]\ny = \'\'\'a\nb\'\'\'\n',
    "chinese": '# 保存\nmodel = "旧"\n[model_providers."淘令牌"]\nname = "淘令牌"\n',
    "profiles": 'model = "old"\n[profiles.a]\nmodel = "p"\nmodel_provider = "q"\n',
    "blank end": 'model = "old"\n\n\n\n',
    "windows paths": "model = 'old'\n[projects.'c:\\users\\u']\ntrust_level = \"trusted\"\n",
    "trailing comment": '[model_providers.taotoken]\nname = "T"\n# last words',
    "dates and numbers": "when = 1979-05-27T07:32:00Z\nbig = 1_000\nhex = 0xFF\nnan = nan\n[a.b.c]\nd = 1.5e3\n",
    "literal provider": "model_provider = 'other'\n[model_providers.other]\nname = 'Other'\nbase_url = 'https://other/v1'\n",
}  # fmt: skip


def after(text: str, *, newline: str = "\n", bom: bool = False) -> str:
    raw = (("\ufeff" if bom else "") + text.replace("\n", newline)).encode()
    return edited(document_of(Path("config.toml"), raw), WANTED).raw.decode()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [False, True])
def test_only_own_keys_change(name: str, newline: str, bom: bool) -> None:
    before = ("\ufeff" if bom else "") + FILES[name].replace("\n", newline)
    result = after(FILES[name], newline=newline, bom=bom)
    values = tomlkit.parse(result.removeprefix("\ufeff")).unwrap()
    assert values["model"] == "m1"
    assert values["model_providers"]["taotoken"]["wire_api"] == "responses"
    assert result.count("\ufeff") == bom
    if newline == "\r\n" and "\n" in FILES[name]:
        assert "\n" not in result.replace("\r\n", "")
    bare = (before.removeprefix("\ufeff").splitlines(), result.removeprefix("\ufeff").splitlines())
    for line in difflib.ndiff(*bare):
        if line.startswith("- "):
            assert any(word in line for word in ("model", "taotoken", "base_url", "wire_api", "name")), line


@pytest.mark.parametrize("name", FILES)
def test_a_second_run_changes_nothing(name: str) -> None:
    once = document_of(Path("config.toml"), after(FILES[name]).encode())
    assert edited(once, WANTED) is once


def test_a_value_is_replaced_in_place_with_its_comment_kept() -> None:
    result = after(FILES["a team's file"])
    assert 'wire_api = "responses"            # worked' in result
    assert 'model = "m1"            # picked' in result
    changed = [
        line for line in difflib.ndiff(FILES["a team's file"].splitlines(), result.splitlines()) if line[0] in "+-"
    ]
    assert len(changed) == 4


def test_root_keys_go_before_the_first_table_and_its_comment() -> None:
    assert after(FILES["only tables"]).startswith(
        'model = "m1"\nmodel_provider = "taotoken"\n\n# about the server\n[mcp'
    )


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="nothing was changed"):
        after("model = \n")


NAMES = st.text("abcxyz", min_size=1, max_size=4)
SIMPLE = st.one_of(st.text(max_size=8), st.integers(-9, 9), st.booleans(), st.lists(st.integers(0, 9), max_size=3))
TABLES = st.dictionaries(NAMES, st.one_of(SIMPLE, st.dictionaries(NAMES, SIMPLE, max_size=3)), max_size=4)
DOCUMENTS = st.dictionaries(NAMES, st.one_of(SIMPLE, TABLES, st.lists(st.dictionaries(NAMES, SIMPLE, min_size=1, max_size=2), min_size=1, max_size=3)), max_size=6)  # fmt: skip


@given(
    DOCUMENTS,
    st.lists(st.sampled_from(["# a comment", "", "   ", '# model = "no"']), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)
def test_random_documents_keep_every_line_and_value(
    values: dict[str, object], between: list[str], newline: str
) -> None:
    text = "\n".join([*between, tomlkit.dumps(values)])
    before = document_of(Path("config.toml"), text.replace("\n", newline).encode())
    assume(before.values is not None)
    result = edited(before, WANTED)
    assert not [
        line
        for line in difflib.ndiff(before.text.split("\n"), result.text.split("\n"))
        if line.startswith("- ") and line.strip("- \r")
    ]
    after_values = dict(result.values or {})
    for owned in ("model", "model_provider", "model_providers"):
        after_values.pop(owned)
    assert repr(after_values) == repr(dict(before.values or {}))
    assert edited(result, WANTED) is result
