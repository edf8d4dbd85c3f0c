"""Golden files of the renderers. To accept what they print now: `UPDATE_GOLDEN=1 pytest tests/report`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def matches_golden() -> Callable[[str, str], None]:
    """Compare a text with tests/report/golden/<name>, or write it there when UPDATE_GOLDEN is set."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.is_file(), f"{name} is missing: run UPDATE_GOLDEN=1 pytest tests/report"
        assert text == path.read_text(encoding="utf-8")

    return check
