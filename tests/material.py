"""Short cuts from files to what the rooms make of them, as tests need them."""

from pathlib import Path

from codex_skyrl.analyse import Read, analyse, read
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.text import Lang


def material(*paths: Path) -> Read:
    return read([str(p) for p in paths], Path.cwd(), None)


def diagnosis(*paths: Path, lang: Lang = "en") -> Diagnosis:
    return analyse(material(*paths), lang)
