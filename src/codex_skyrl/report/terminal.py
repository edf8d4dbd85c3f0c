"""The report on a terminal: the verdict first, then why, the figures, what to try, and what was read.

`view` turns a Diagnosis into something rich prints at any width; it decides order and emphasis only.
Colours are the terminal's own red, green and magenta, so that they read on dark and light; the words
carry everything without them.
"""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType

from codex_skyrl.report import phrases, tables, words
from codex_skyrl.report.blocks import Bar, Bars, Command, Grid
from codex_skyrl.report.model import STAGES, Diagnosis, Evidence, Experiment, Missing
from codex_skyrl.report.model_view import cited_ids, model_section
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.prose import heading, item, paragraph, quoted
from codex_skyrl.report.sparks import Sparks, sparks_of
from codex_skyrl.report.tables import Rows

PLACE = "magenta"  # unlike cyan, blue or yellow it has contrast on white and on black
_STYLES = {"healthy": "bold green", "unknown": "bold magenta"}


def render(diagnosis: Diagnosis, console: Console) -> None:
    """Print the whole report; long commands may overhang the width so that they can be copied."""
    console.print(view(diagnosis), crop=False)


def view(diagnosis: Diagnosis) -> RenderableType:
    """The report as one renderable, in the diagnosis' own language."""
    sections = (
        _verdict, _why, _naive, _also, _steps, _timeline, _queues, _stages, _matrix,
        _code, _experiments, _missing, _further, _inputs, model_section, _engine,
    )  # fmt: skip
    return Group(*(block for section in sections for block in section(diagnosis)))


def _verdict(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    verdict = diagnosis.verdict
    style = _STYLES.get(verdict.bottleneck, "bold red")
    yield paragraph(phrases.verdict_line(verdict, diagnosis.lang), style, indent=0)
    yield paragraph("\n" + verdict.summary, indent=0)
    following = phrases.first_step(diagnosis)
    if following:
        yield paragraph("\n" + following, "bold", indent=0)


def _why(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if not diagnosis.verdict.evidence:
        return
    yield heading(words.WHY, diagnosis.lang)
    known = {evidence.id: evidence for evidence in diagnosis.evidence}
    for number in dict.fromkeys(diagnosis.verdict.evidence):
        if number in known:
            yield from _evidence(known[number])
        else:
            yield item(f"{number} ", words.NOT_LISTED.to(diagnosis.lang))


def _evidence(evidence: Evidence) -> Iterator[RenderableType]:
    indent = _id_indent(evidence)
    yield item(f"{evidence.id} ", evidence.says)
    if place := phrases.place(evidence):
        yield paragraph(place, PLACE, indent=indent)
    if evidence.quote:
        yield quoted(evidence.quote, indent)


def _id_indent(evidence: Evidence) -> int:
    return cell_len(neutral(evidence.id)) + 4


def _naive(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.verdict.naive:
        yield heading(words.NAIVE, diagnosis.lang)
        yield paragraph(diagnosis.verdict.naive)


def _also(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.verdict.also:
        yield heading(words.ALSO, diagnosis.lang)
    for other in diagnosis.verdict.also:
        yield item("-", phrases.other_finding(other, diagnosis.lang))


def _steps(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    yield heading(words.STEPS, diagnosis.lang)
    if not diagnosis.steps:
        yield paragraph(words.NO_STEPS.to(diagnosis.lang))
        return
    longest = max((step.makespan_s or 0.0 for step in diagnosis.steps), default=0.0) or 1.0
    shown = tables.shown_steps(diagnosis.steps)
    bars = tuple(Bar(((step.makespan_s or 0.0) / longest,)) for step in shown)
    yield from _grid(tables.steps(diagnosis), bars)


def _timeline(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    line = phrases.shown_timeline(diagnosis)
    rows = sparks_of(line, diagnosis.lang) if line is not None else ()
    if line is not None and rows:
        yield heading(words.TIMELINE, diagnosis.lang)
        yield paragraph(phrases.timeline_caption(line, diagnosis.lang))
        yield Sparks(rows)


def _queues(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    yield heading(words.QUEUES, diagnosis.lang)
    rows = tables.queues(diagnosis)
    if rows is None:
        yield paragraph(words.NO_QUEUE_FIGURES.to(diagnosis.lang))
    else:
        yield from _grid(rows)


def _stages(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    lang = diagnosis.lang
    yield heading(words.STAGES, lang)
    rows = tables.stages(diagnosis)
    if rows is None:
        yield paragraph(words.NO_STAGE_FIGURES.to(lang))
        return
    yield from _grid(rows)
    found = [(name, getattr(diagnosis.stages, name)) for name in STAGES]
    shares = [(name, (stage.utilisation, stage.blocked, stage.starved)) for name, stage in found]
    if any(share is not None for _, three in shares for share in three):
        legend = tuple(word.to(lang) for word in (words.BUSY, words.BLOCKED_LEGEND, words.STARVED_LEGEND))
        yield paragraph("")
        yield Bars(tuple((name, Bar(three)) for name, three in shares), (legend[0], legend[1], legend[2]))


def _grid(rows: Rows, bars: tuple[Bar, ...] = ()) -> Iterator[RenderableType]:
    yield Grid(rows, bars)
    if rows.note:
        yield paragraph(rows.note)


def _matrix(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.matrix:
        yield heading(words.MATRIX, diagnosis.lang)
        yield from _grid(tables.matrix(diagnosis))


def _code(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """Where each stage takes its items and can wait, with file:line."""
    groups = phrases.code_groups(diagnosis)
    if groups:
        yield heading(words.CODE, diagnosis.lang)
    for head, lines in groups:
        yield paragraph(head, "bold")
        for ids, what, places in lines:
            yield item(f"{ids} ", what, indent=4)
            yield paragraph(places, PLACE, indent=cell_len(ids) + 6)


def _experiments(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.experiments:
        yield heading(words.EXPERIMENTS, diagnosis.lang)
    for number, experiment in enumerate(diagnosis.experiments, 1):
        yield from _experiment(number, experiment, diagnosis)


def _experiment(number: int, experiment: Experiment, diagnosis: Diagnosis) -> Iterator[RenderableType]:
    yield item(f"{number}.", phrases.knob_change(experiment), "bold")
    if phrases.has_prediction(experiment):
        yield paragraph(phrases.predicted(experiment, diagnosis.lang), indent=5)
    yield from _how(experiment.how, indent=5)


def _missing(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.missing:
        yield heading(words.MISSING, diagnosis.lang)
    for missing in diagnosis.missing:
        yield from _collect(missing)


def _collect(missing: Missing) -> Iterator[RenderableType]:
    yield item("-", missing.what)
    yield from _how(missing.how, indent=4)


def _how(how: str, indent: int) -> Iterator[RenderableType]:
    for line in neutral(how).splitlines():
        yield Command(line, indent) if phrases.is_command(line) else paragraph(line, indent=indent)


def _further(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """Evidence that is cited somewhere but not under the verdict: without quotes."""
    shown = set(diagnosis.verdict.evidence)
    cited = {number for other in diagnosis.verdict.also for number in other.evidence}
    cited |= {number for row in diagnosis.matrix for number in row.evidence} | cited_ids(diagnosis.report)
    further = [e for e in diagnosis.evidence if e.id in cited - shown]
    if further:
        yield heading(words.FURTHER, diagnosis.lang)
    for evidence in further:
        yield item(f"{evidence.id} ", evidence.says)
        if place := phrases.place(evidence):
            yield paragraph(place, PLACE, indent=_id_indent(evidence))


def _inputs(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.inputs:
        yield heading(words.INPUTS, diagnosis.lang)
    for found in diagnosis.inputs:
        yield paragraph(found.path, PLACE)
        yield paragraph(phrases.input_line(found, diagnosis.lang), indent=4)
        for problem in found.problems:
            yield item("!", problem, indent=4)


def _engine(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    yield paragraph("")
    yield paragraph(phrases.engine_line(diagnosis), indent=0)
