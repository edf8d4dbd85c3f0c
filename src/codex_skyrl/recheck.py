"""Checks an answer that came by hand (pasted, kept, or part of an old report) with the verifier that checks our own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codex_skyrl.analyse import Read, analyse, pack_material
from codex_skyrl.checkout.launch import Knobs
from codex_skyrl.consult import known_of
from codex_skyrl.context.pack import Material, pack
from codex_skyrl.context.redact import redact
from codex_skyrl.errors import InputError
from codex_skyrl.llm.validate import NoAnswerError, validated
from codex_skyrl.logs.quote import quotes
from codex_skyrl.report.known import Known, is_path_of
from codex_skyrl.report.mentions import NamedPlace, places_in
from codex_skyrl.report.model import Claim, Diagnosis, Evidence, ModelReport
from codex_skyrl.report.pasted import claims_in_markdown, json_in
from codex_skyrl.report.verify import verify, verify_claim
from codex_skyrl.report.wire import WireReport
from codex_skyrl.text import Lang

_EVERYTHING = 10_000_000  # tokens: no budget
_LONGEST_PLACE = 60  # lines that one file:first-last may span


@dataclass(frozen=True, slots=True)
class Rechecked:
    """Either a whole report, or claims of free text; `known` is what they were held against."""

    known: Known
    report: ModelReport | None
    claims: tuple[Claim, ...]

    @property
    def every(self) -> list[Claim]:
        found = [c for a in self.report.answers for c in a.claims] if self.report is not None else []
        return [*found, *self.claims]

    @property
    def all_verified(self) -> bool:
        """Every claim holds, and so do the summary and the experiment where there are any."""
        report = self.report
        whole = report is None or (
            not report.summary_problems and (report.experiment is None or report.experiment.verified)
        )
        return whole and all(claim.verified for claim in self.every)


def own_diagnosis(text: str, where: str) -> tuple[Diagnosis, WireReport] | None:
    """What a kept exchange or a report of `diagnose --format json` brings along: its diagnosis and the model's answer.

    Raises:
        InputError: when it is such a file but holds no model's answer, or is of another version.
    """
    fields = json_in(text)
    if fields is None or not ({"answer", "about"} <= fields.keys() or {"verdict", "evidence"} <= fields.keys()):
        return None
    try:
        if "about" in fields:
            return Diagnosis.model_validate(fields["about"]), WireReport.model_validate(fields["answer"])
        diagnosis = Diagnosis.model_validate(fields)
    except ValueError as error:
        raise InputError("is no report of this version of codex-skyrl.", where=where) from error
    if diagnosis.report is None:
        raise InputError(
            "holds no answer of a model to check.",
            where=where,
            fix="Give the answer, and this report with --diagnosis.",
        )
    return diagnosis, _wire(diagnosis.report, where)


def known_from(material: Read, lang: Lang, env: Mapping[str, str]) -> Known:
    """Everything the logs and the checkout show, numbered as every prompt numbers it."""
    diagnosis = analyse(material, lang)
    packed = pack("diagnose", diagnosis, pack_material(material, diagnosis, env), _EVERYTHING)
    return known_of(packed.diagnosis, material.checkout, material.knobs)


def known_from_report(diagnosis: Diagnosis) -> Known:
    """The same from a report alone, without code."""
    whole = (
        diagnosis if diagnosis.report is not None else pack("diagnose", diagnosis, Material(), _EVERYTHING).diagnosis
    )
    return known_of(whole, None, Knobs())


def recheck(text: str, known: Known, material: Read | None = None) -> Rechecked:
    """An answer in JSON, or free text whose claims cite ids or file:line; places are read in `material`."""
    try:
        answer, _ = validated(text, WireReport)
    except NoAnswerError:
        named = _read_places(places_in(text), known, material) if material is not None else []
        wider = Known(_with(known.diagnosis, named), known.settings, known.files)
        claims = claims_in_markdown(text, wider.diagnosis.evidence)
        return Rechecked(wider, None, tuple(verify_claim(c, wider) for c in claims))
    return Rechecked(known, verify(answer, known), ())


def _read_places(places: Sequence[NamedPlace], known: Known, material: Read) -> list[Evidence]:
    """Lines that the text names and no evidence covers, as they stand in the logs or in the checkout."""
    found: list[Evidence] = []
    for number, place in enumerate(p for p in places if p.file):
        path = _path_of(place.file, material)
        lines = range(place.first, min(place.last, place.first + _LONGEST_PLACE) + 1)
        read = quotes({(place.file, n) for n in lines}, {place.file: path}) if path is not None else {}
        if read:
            quote = redact("\n".join(read.get((place.file, n), "") for n in lines))
            kind: Any = "code" if place.file.endswith((".py", ".sh", ".yaml", ".yml")) else "log"
            found.append(
                Evidence(id=f"L{number + 1}", kind=kind, source=place.file, line_start=lines[0], line_end=lines[-1],
                         quote=quote, says="")
            )  # fmt: skip
    return found


def _path_of(name: str, material: Read) -> Path | None:
    """The one file that a name means: a log that was read, or a file inside the checkout."""
    homes = {path for source, path in material.on_disk.items() if is_path_of(name, source)}
    if len(homes) == 1:
        return homes.pop()
    if material.checkout is None or homes:
        return None
    root = Path(material.checkout.root).resolve()
    path = (root / name).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None


def _with(diagnosis: Diagnosis, evidence: Sequence[Evidence]) -> Diagnosis:
    return diagnosis.model_copy(update={"evidence": [*diagnosis.evidence, *evidence]})


def _wire(report: ModelReport, where: str) -> WireReport:
    """A report's answer as the model gave it, without our marks."""
    experiment = report.experiment.model_dump(exclude={"verified", "problems"}) if report.experiment else None
    answers = [
        {"question": a.question, "claims": [c.model_dump(exclude={"verified", "problems"}) for c in a.claims]}
        for a in report.answers
    ]
    fields = {"bottleneck": report.bottleneck, "cause": report.cause, "summary": report.summary}
    try:
        return WireReport.model_validate({**fields, "answers": answers, "experiment": experiment})
    except ValueError as error:
        raise InputError("its model's answer is not whole.", where=where) from error
