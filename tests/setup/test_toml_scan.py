"""Every statement and every problem of TOML text, with their places."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codex_skyrl.setup.toml_scan import scan

TEXT = """\
model = "m"  # comment with "quotes" and [brackets]
a.b."c d" = 'x # y'
multi = \"\"\"
[not.a.table]
key = 1
\"\"\"
list = [
  "]",  # ]
  { x = "}" },
]

[t."quo.ted"]
when = 1979-05-27 07:32:00Z
[[array]]
n = 0x1F
"""


def test_statements_with_their_places_and_values() -> None:
    found = scan(TEXT)
    assert found.problems == ()
    assert [(s.kind, s.path, s.line) for s in found.statements] == [
        ("key", ("model",), 1),
        ("key", ("a", "b", "c d"), 2),
        ("key", ("multi",), 3),
        ("key", ("list",), 7),
        ("table", ("t", "quo.ted"), 12),
        ("key", ("t", "quo.ted", "when"), 13),
        ("array", ("array",), 14),
        ("key", ("array", "n"), 15),
    ]
    assert [TEXT[s.begin : s.end] for s in found.statements[:2]] == ['"m"', "'x # y'"]


@pytest.mark.parametrize(
    ("line", "reason", "mended"),
    [
        ("model = “m”", "typographic", 'model = "m"'),
        ('path = "C:\\WINDOWS"', "backslash", "path = 'C:\\WINDOWS'"),
        ("model = gpt", "must stand in quotes", 'model = "gpt"'),
        ("[model_providers.淘令牌]", "must be quoted", '[model_providers."淘令牌"]'),
        ("model", "'=' was expected", None),
        ('model = "m', "never closed", None),
        ("a = 1 b = 2", "nothing more", None),
        ("list = [1, 2", "never closed", None),
        ("\ufeff[table]", "byte order mark", "[table]"),
        ("[table", "']' was expected", None),
    ],
)
def test_each_problem_with_its_line_and_the_corrected_one(line: str, reason: str, mended: str | None) -> None:
    found = scan(f"ok = 1\n{line}\nafter = 2\n")
    [problem] = found.problems
    assert problem.line == 2
    assert reason in problem.reason
    assert problem.mended == mended
    if "list" not in line:
        assert ("after",) in [s.path[-1:] for s in found.statements]


def test_all_problems_are_found_not_only_the_first() -> None:
    assert [p.line for p in scan("a = x\nb = 1\nc = y\nd = “z”\n").problems] == [1, 3, 4]


KEYS = st.text("abc", min_size=1, max_size=3)
VALUES = st.recursive(
    st.one_of(
        st.integers(-99, 99), st.booleans(), st.text(max_size=6), st.floats(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, st.one_of(VALUES, st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)), max_size=5))
def test_what_tomlkit_writes_scans_without_problems(values: dict[str, object]) -> None:
    import tomlkit

    text = tomlkit.dumps(values)
    found = scan(text)
    assert found.problems == ()
    for statement in found.statements:
        if statement.kind == "key":
            tomllib.loads("x = " + text[statement.begin : statement.end])


@given(st.text(alphabet="ab=[]{}\"'\\\n#., \ufeff淘1", max_size=60))
def test_no_text_stops_it(text: str) -> None:
    scan(text)
