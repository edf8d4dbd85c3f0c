"""Renders a prompt template with a diagnosis. Log text goes in as data inside fences it cannot close, redacted."""

import re

from codex_skyrl.context.redact import redact
from codex_skyrl.context.shipped import shipped
from codex_skyrl.errors import InputError
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.report.neutral import neutral
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


def purpose_of(name: str, lang: Lang) -> str:
    """The purpose that a prompt's front matter states."""
    lines = prompt_text(name, lang).splitlines()
    return next((line.removeprefix("purpose: ") for line in lines if line.startswith("purpose: ")), "")


def render_prompt(name: str, diagnosis: Diagnosis) -> str:
    """The prompt with this diagnosis in it, without front matter, every secret taken out."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = _FRONT_MATTER.sub("", prompt_text(name, diagnosis.lang))
    evidence = "\n".join(_evidence_lines(diagnosis))
    return redact(environment.from_string(template).render(d=diagnosis, evidence=evidence, fence=fence_for(evidence)))


def fence_for(text: str) -> str:
    """A run of backticks longer than any in the text."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=3)
    return "`" * (longest + 1)


def _evidence_lines(diagnosis: Diagnosis) -> list[str]:
    lines = []
    for e in diagnosis.evidence:
        place = e.source if e.line_start is None else f"{e.source}:{e.line_start}"
        lines.append(f"{e.id} [{place}] {neutral(e.says)}")
        if e.quote:
            lines.append(f"   > {neutral(e.quote)}")
    return lines
