"""The prompt pack: its templates, and their rendering. Log text goes in as data inside fences it cannot close."""

import re

from codex_skyrl.context.shipped import shipped
from codex_skyrl.errors import InputError
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.text import Lang

_SUFFIX = ".md.j2"
_TICKS = re.compile(r"`{3,}")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def prompt_text(name: str, lang: Lang) -> str:
    """A template as it is shipped, front matter included.

    Raises:
        InputError: when there is no such prompt.
    """
    path = shipped("prompts") / lang / f"{name}{_SUFFIX}"
    if not path.is_file():
        raise InputError(f"there is no prompt named {name!r}.", fix=f"There are: {', '.join(prompt_names(lang))}")
    return path.read_text(encoding="utf-8")


def prompt_names(lang: Lang) -> list[str]:
    """The prompts that ship, `diagnose` first."""
    names = sorted(p.name.removesuffix(_SUFFIX) for p in (shipped("prompts") / lang).glob(f"*{_SUFFIX}"))
    return sorted(names, key=lambda name: name != "diagnose")


def skill_text(lang: Lang) -> str:
    """The front page of the pack as a Codex skill."""
    return (shipped("prompts") / lang / "SKILL.md").read_text(encoding="utf-8")


def purpose_of(name: str, lang: Lang) -> str:
    """The purpose that a prompt's front matter states."""
    lines = prompt_text(name, lang).splitlines()
    return next((line.removeprefix("purpose: ") for line in lines if line.startswith("purpose: ")), "")


def frame_of(name: str, diagnosis: Diagnosis) -> str:
    """The template of a prompt, without front matter."""
    return _FRONT_MATTER.sub("", prompt_text(name, diagnosis.lang))


def render_frame(frame: str, evidence: str, diagnosis: Diagnosis) -> str:
    """A template with this diagnosis and this evidence in it; the evidence stands in a fence that it cannot close."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(frame).render(d=diagnosis, evidence=evidence, fence=fence_for(evidence))


def fence_for(text: str) -> str:
    """A run of backticks longer than any in the text."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=3)
    return "`" * (longest + 1)
