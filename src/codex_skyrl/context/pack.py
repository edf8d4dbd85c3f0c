"""Chooses what a model gets to read: evidence, code and figures in the mission's order, under a budget of tokens.

Deterministic: the same material and budget give the same pack. Parts are taken whole, the most telling first, and shown
in reading order: queues over time, workers and their code, the LLM server, containers. What did not fit is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from codex_skyrl.checkout.facts import Checkout
from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.context import parts as p
from codex_skyrl.context.parts import Part
from codex_skyrl.context.prompt import frame_of, render_frame
from codex_skyrl.context.redact import redact_for_sending
from codex_skyrl.context.tokens import tokens_of
from codex_skyrl.errors import InputError
from codex_skyrl.report.model import Diagnosis, Evidence
from codex_skyrl.text import Text

_LEAST = 2_000  # tokens of material, below which a pack says nothing
_SECTIONS = {
    p.QUEUES: Text("1. Queues and steps over time", "1. 队列与 step 的时间序列"),
    p.WORKERS: Text("2. Workers, settings and the code that waits", "2. worker、设置与会等待的代码"),
    p.SERVER: Text("3. LLM server", "3. LLM 服务"),
    p.STORES: Text("4. Containers, images, storage, network", "4. 容器、镜像、存储、网络"),
}


@dataclass(frozen=True, slots=True)
class Material:
    """What a pack is made from, beside the diagnosis.

    `used` are the settings of the run, `around` log lines near the evidence by (source, line), `secrets` values to take
    out whatever their form.
    """

    checkout: Checkout | None = None
    used: Knobs = field(default_factory=Knobs)
    around: Mapping[tuple[str, int], str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part that did not fit."""

    what: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A prompt ready to be sent. `diagnosis` knows all evidence the prompt shows, figures and whole functions included."""

    prompt: str
    tokens: int
    budget: int
    diagnosis: Diagnosis
    own: frozenset[str]  # ids of evidence that only the pack brought
    left_out: tuple[LeftOut, ...]


def pack(name: str, diagnosis: Diagnosis, material: Material, budget_tokens: int) -> Pack:
    """The prompt `name` with as much material as fits.

    Raises:
        InputError: when the prompt alone is larger than the budget, or there is no such prompt.
    """
    diagnosis = _redacted(diagnosis, material.secrets)
    figures = p.figures_as_evidence(diagnosis)
    settings, functions = [], []
    if material.checkout is not None:
        settings = p.settings_as_evidence(material.checkout, material.used, diagnosis)
        codes = [e.id for e in (*diagnosis.evidence, *settings) if e.kind == "code"]
        functions = p.functions_as_evidence(material.checkout, diagnosis, 1 + len(codes))
        settings = [_without_secrets(e, material.secrets) for e in settings]
        functions = [(_without_secrets(e, material.secrets), rank) for e, rank in functions]
    frame = frame_of(name, diagnosis)
    room = budget_tokens - tokens_of(render_frame(frame, "", diagnosis))
    if room < _LEAST:
        raise InputError(
            f"the prompt alone takes {budget_tokens - room:,} tokens of {budget_tokens:,}.", where="--budget-tokens",
            fix=f"Give at least {budget_tokens - room + _LEAST:,}.",
        )  # fmt: skip
    every = [
        *p.series_parts(diagnosis), *p.figure_parts(figures), *p.evidence_parts(diagnosis, material.around),
        *p.setting_parts(settings), *p.function_parts(functions),
    ]  # fmt: skip
    while True:  # the list of what was left out takes room as well
        taken, left = _fit(every, room)
        rendered = render_frame(frame, _laid_out(taken, left, diagnosis), diagnosis)
        prompt = redact_for_sending(rendered, material.secrets)
        excess = tokens_of(prompt) - budget_tokens
        if excess <= 0 or not taken:
            break
        room -= excess
    shown = {i for part in taken for i in part.ids}
    extra = [e for e in (*figures, *settings, *(e for e, _ in functions)) if e.id in shown]
    whole = diagnosis.model_copy(update={"evidence": [*diagnosis.evidence, *extra]})
    return Pack(prompt, tokens_of(prompt), budget_tokens, whole, frozenset(e.id for e in extra), _named(left))


def _redacted(diagnosis: Diagnosis, secrets: frozenset[str]) -> Diagnosis:
    """An answer quotes what it was shown, so the evidence it is checked against must be the redacted one."""
    return diagnosis.model_copy(update={"evidence": [_without_secrets(e, secrets) for e in diagnosis.evidence]})


def _without_secrets(e: Evidence, secrets: frozenset[str]) -> Evidence:
    return e.model_copy(update={"quote": redact_for_sending(e.quote, secrets)}) if e.quote else e


def lines_around(diagnosis: Diagnosis, each_side: int = 2) -> set[tuple[str, int]]:
    """Places near the verdict's log evidence, for the reader of logs."""
    cited = set(diagnosis.verdict.evidence)
    found = set()
    for e in diagnosis.evidence:
        if e.id in cited and e.kind == "log" and e.line_start is not None:
            found |= {(e.source, n) for n in range(max(1, e.line_start - each_side), e.line_start + each_side + 1)}
    return found


def _fit(parts: Iterable[Part], room: int) -> tuple[list[Part], list[Part]]:
    """The parts taken, and those left out. A longer form replaces the short one when the difference fits."""
    taken: dict[str, Part] = {}
    left: list[Part] = []
    for part in sorted(parts, key=lambda part: (part.rank, part.section, part.order)):
        short = taken.get(part.instead_of) if part.instead_of else None
        if part.instead_of and short is None:
            continue
        cost = tokens_of(part.text) - (tokens_of(short.text) if short else 0)
        if cost <= room:
            room -= cost
            taken[part.instead_of or part.what] = part
        elif not part.instead_of:
            left.append(part)
    return list(taken.values()), left


def _laid_out(taken: Sequence[Part], left: Sequence[Part], diagnosis: Diagnosis) -> str:
    lines: list[str] = []
    for number, title in _SECTIONS.items():
        own = sorted((part for part in taken if part.section == number), key=lambda part: part.order)
        if own:
            lines += [f"=== {title.to(diagnosis.lang)}", *(part.text for part in own), ""]
    if left:
        names = "; ".join(f"{one.what} ({one.tokens:,})" for one in _named(left))
        lines.append(
            Text(f"Left out for space (tokens): {names}", f"因篇幅略去（token 数）：{names}").to(diagnosis.lang)
        )
    return "\n".join(lines).rstrip("\n")


def _named(left: Sequence[Part]) -> tuple[LeftOut, ...]:
    """Each by name; single pieces of evidence as one item."""
    single = [part for part in left if part.ids == (part.what,)]
    named = [LeftOut(part.what, tokens_of(part.text)) for part in left if part.ids != (part.what,)]
    if single:
        ids = ", ".join(part.what for part in single)
        named.append(LeftOut(ids, sum(tokens_of(part.text) for part in single)))
    return tuple(named)
