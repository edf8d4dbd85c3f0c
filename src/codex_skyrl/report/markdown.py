"""The report as Markdown, for an issue or a wiki page: the same parts, words and order as on the terminal.

Foreign text stands in fences or code spans that it cannot close, or is escaped. Pure; no width, no colours.
"""

import re
from collections.abc import Iterator

from codex_skyrl.report import phrases, tables, words
from codex_skyrl.report.model import Claim, Diagnosis, Evidence, ModelReport
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.prose import QUOTE_CELLS
from codex_skyrl.report.sparks import WIDEST, spark_lines, sparks_of
from codex_skyrl.report.tables import Rows
from codex_skyrl.report.wrap import shorten
from codex_skyrl.text import Lang, Text

# An underscore inside a word and an ampersand alone are harmless; escaping them would only hurt reading.
_SPECIAL = re.compile(r"([\\`*\[\]<|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_STARTS_BLOCK = re.compile(r"^\s*(?:(\d+)([.)])(?=\s|$)|([>#]|[-+=](?=[\s=-]|$)))", re.MULTILINE)
_MENTION = re.compile(r"(?<!\w)([@#])(?=\w)")
_TICKS = re.compile(r"`+")


def to_markdown(diagnosis: Diagnosis) -> str:
    """The whole report; ends with one line feed."""
    sections = (_verdict, _why, _naive, _also, _timeline, _figures, _code, _experiments, _missing, _inputs, _model)
    blocks = [block for section in sections for block in section(diagnosis)]
    return "\n\n".join([*blocks, prose(phrases.engine_line(diagnosis))]) + "\n"


def prose(text: str) -> str:
    """Foreign text as running text: nothing in it becomes markup, a list or a mention of somebody."""
    flat = _SPECIAL.sub(r"\\\1", neutral(text).strip())
    plain = _STARTS_BLOCK.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", flat)
    return _MENTION.sub(r"\1<!-- -->", plain)


def code(text: str) -> str:
    """A code span that its content cannot close."""
    flat = neutral(text).replace("\n", " ")
    ticks = "`" * (_longest_ticks(flat) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def fence(text: str, kind: str = "text") -> str:
    """A fenced block that its content cannot close."""
    inside = neutral(text).strip("\n")
    ticks = "`" * max(3, _longest_ticks(inside) + 1)
    return f"{ticks}{kind}\n{inside}\n{ticks}"


def _longest_ticks(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _heading(label: Text, lang: Lang) -> str:
    return f"## {label.to(lang)}"


def _list(items: list[str]) -> str:
    return "\n".join(f"- {_one_line(item)}" for item in items)


def _list_with_problems(items: list[tuple[str, list[str]]]) -> str:
    lines: list[str] = []
    for item, problems in items:
        lines.append(f"- {_one_line(item)}")
        lines += [f"  - **!** {_one_line(prose(problem))}" for problem in problems]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


def table(rows: Rows) -> str:
    """A table, and its note below."""
    rule = ("---:" if side == "right" else "---" for side in rows.align)
    lines = [rows.headers, rule, *([_one_line(prose(cell)) for cell in row] for row in rows.cells)]
    whole = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{whole}\n\n{prose(rows.note)}" if rows.note else whole


def _verdict(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"# {_one_line(prose(phrases.verdict_line(diagnosis.verdict, diagnosis.lang)))}"
    yield prose(diagnosis.verdict.summary)
    following = phrases.first_step(diagnosis)
    if following:
        yield f"**{_one_line(prose(following))}**"


def _why(diagnosis: Diagnosis) -> Iterator[str]:
    """All evidence: what the verdict cites first."""
    if not diagnosis.evidence:
        return
    cited = diagnosis.verdict.evidence
    first = [evidence for number in cited for evidence in diagnosis.evidence if evidence.id == number]
    yield _heading(words.WHY, diagnosis.lang)
    yield from (_evidence(evidence) for evidence in first)
    others = [e for e in diagnosis.evidence if e.id not in cited and not _in_code(e, diagnosis)]
    if others:
        yield _heading(words.FURTHER, diagnosis.lang)
        yield from (_evidence(evidence) for evidence in others)


def _evidence(evidence: Evidence) -> str:
    place = phrases.place(evidence)
    head = f"**{prose(evidence.id)}** {_one_line(prose(evidence.says))}" + (f" ({code(place)})" if place else "")
    return f"{head}\n\n{fence(shorten(neutral(evidence.quote), QUOTE_CELLS))}" if evidence.quote else head


def _naive(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.verdict.naive:
        yield _heading(words.NAIVE, diagnosis.lang)
        yield prose(diagnosis.verdict.naive)


def _also(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.verdict.also:
        return
    yield _heading(words.ALSO, diagnosis.lang)
    yield _list([prose(phrases.other_finding(other, diagnosis.lang)) for other in diagnosis.verdict.also])


def _figures(diagnosis: Diagnosis) -> Iterator[str]:
    lang = diagnosis.lang
    steps = tables.steps(diagnosis) if diagnosis.steps else None
    matrix = tables.matrix(diagnosis) if diagnosis.matrix else None
    yield from _section(words.STEPS, steps, words.NO_STEPS, lang)
    yield from _section(words.QUEUES, tables.queues(diagnosis), words.NO_QUEUE_FIGURES, lang)
    yield from _section(words.STAGES, tables.stages(diagnosis), words.NO_STAGE_FIGURES, lang)
    if matrix is not None:
        yield from _section(words.MATRIX, matrix, words.NO, lang)


def _section(label: Text, rows: Rows | None, otherwise: Text, lang: Lang) -> Iterator[str]:
    yield _heading(label, lang)
    yield otherwise.to(lang) if rows is None else table(rows)


def _in_code(evidence: Evidence, diagnosis: Diagnosis) -> bool:
    return diagnosis.checkout is not None and evidence.kind == "code"


def _timeline(diagnosis: Diagnosis) -> Iterator[str]:
    line = phrases.shown_timeline(diagnosis)
    rows = sparks_of(line, diagnosis.lang) if line is not None else ()
    if line is not None and rows:
        yield _heading(words.TIMELINE, diagnosis.lang)
        yield prose(phrases.timeline_caption(line, diagnosis.lang))
        yield fence("\n".join(spark_lines(rows, WIDEST, 0)))


def _code(diagnosis: Diagnosis) -> Iterator[str]:
    groups = phrases.code_groups(diagnosis)
    if groups:
        yield _heading(words.CODE, diagnosis.lang)
    for head, lines in groups:
        yield f"**{prose(head)}**"
        yield _list([f"{ids} {prose(what)} ({code(places)})" for ids, what, places in lines])


def _experiments(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.experiments:
        yield _heading(words.EXPERIMENTS, diagnosis.lang)
    for experiment in diagnosis.experiments:
        yield f"**{_one_line(prose(phrases.knob_change(experiment)))}**"
        if phrases.has_prediction(experiment):
            yield prose(phrases.predicted(experiment, diagnosis.lang))
        if experiment.how:
            yield _how(experiment.how)


def _missing(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.missing:
        yield _heading(words.MISSING, diagnosis.lang)
    for missing in diagnosis.missing:
        yield prose(missing.what)
        yield _how(missing.how)


def _how(how: str) -> str:
    copied = any(phrases.is_command(line) for line in neutral(how).splitlines())
    return fence(how, "sh") if copied else prose(how)


def _inputs(diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.inputs:
        return
    yield _heading(words.INPUTS, diagnosis.lang)
    yield _list_with_problems(
        [
            (f"{code(item.path)} {prose(phrases.input_line(item, diagnosis.lang))}", item.problems)
            for item in diagnosis.inputs
        ]
    )


def _model(diagnosis: Diagnosis) -> Iterator[str]:
    report, lang = diagnosis.report, diagnosis.lang
    if report is None:
        return
    yield _heading(words.MODEL, lang)
    yield prose(phrases.model_line(report, diagnosis.verdict, lang))
    yield prose(phrases.tally(report, lang))
    yield prose(phrases.summary_line(report, lang))
    if report.summary_problems:
        yield _list([prose(problem) for problem in report.summary_problems])
    for answer in report.answers:
        yield f"### {answer.question}. {words.QUESTIONS[answer.question].to(lang)}"
        yield _list_with_problems([(_claim(claim, lang), claim.problems) for claim in answer.claims])
        commands = [c for claim in answer.claims if claim.verified for c in claim.commands]
        if commands:
            yield prose(words.CONFIRM.to(lang))
            yield fence("\n".join(neutral(c) for c in commands), "sh")
    yield from _model_experiment(report, lang)
    if report.notes:
        yield _list([prose(phrases.labelled(words.NOTE, note, lang)) for note in report.notes])


def _claim(claim: Claim, lang: Lang) -> str:
    mark = words.VERIFIED if claim.verified else words.UNVERIFIED
    return f"**({mark.to(lang)})** {prose(claim.text + phrases.claim_sources(claim))}"


def _model_experiment(report: ModelReport, lang: Lang) -> Iterator[str]:
    if report.experiment is not None:
        yield f"**{_one_line(prose(phrases.model_experiment(report.experiment, lang)))}**"
        details = [*phrases.model_experiment_details(report.experiment, lang), *report.experiment.problems]
        yield _list([prose(line) for line in details])
