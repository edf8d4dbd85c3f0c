"""What is wrong with one statement of a model, and why: its citations, figures, places, files, settings, commands.

Whitespace is the only thing that may differ in a quotation; numbers may be rounded, never changed. Each check yields
problems in words; nothing is repaired.
"""

from collections.abc import Iterator, Sequence

from codex_skyrl.report.addressed import judges, speaks_to_reader
from codex_skyrl.report.commands import commands_in, dangerous_in, problem_of_command
from codex_skyrl.report.known import Known, is_path_of
from codex_skyrl.report.mentions import NamedPlace, files_in, places_in, settings_in_text, without_places
from codex_skyrl.report.model import Evidence, Queue, StageFigures, Step
from codex_skyrl.report.named_figures import same, wrong_figures
from codex_skyrl.report.neutral import neutral
from codex_skyrl.report.numbers import digits_in, numbers_of
from codex_skyrl.report.wire import WireCitation, WireClaim
from codex_skyrl.text import Text

_SHORTEST_QUOTE = 4
_FIGURE_NAMES = {*Queue.model_fields, *StageFigures.model_fields, *Step.model_fields}


def problems_of_claim(claim: WireClaim, known: Known) -> Iterator[Text]:
    """Everything that keeps a claim from counting as verified."""
    if not claim.citations:
        yield Text("cites nothing", "没有引用任何依据")
    for citation in claim.citations:
        yield from _citation(citation, known)
    cited = [known.evidence[c.evidence] for c in claim.citations if c.evidence in known.evidence]
    quotes = [c.quote for c in claim.citations if c.evidence in known.evidence]
    yield from _figures(claim.text, cited, known)
    yield from _places(claim.text, cited, quotes)
    yield from problems_of_words(claim.text, known, cited)
    if claim.citations:
        yield from wrong_figures(claim.text, known.diagnosis, cited)
    for command in claim.commands:
        if problem := problem_of_command(command):
            yield problem


def problems_of_words(text: str, known: Known, cited: Sequence[Evidence]) -> Iterator[Text]:
    """What holds for any words of a model, cited or not: files and settings exist, no harmful command, no log's orders."""
    if speaks_to_reader(text):
        yield Text("speaks to its reader as an instruction would", "像是在对读者下指令")
    for name in dict.fromkeys(files_in(text)):
        if not known.is_file(name) and not _stands_in(name, cited):
            yield Text(f"{name} is no file of this run or checkout", f"本次输入和代码中没有文件 {name}")
    for key in settings_in_text(text):
        if key not in _FIGURE_NAMES and not known.is_setting(key) and not _stands_in(key, cited):
            yield Text(f"{key} is no setting of this checkout", f"本 checkout 中没有设置项 {key}")
    if harm := dangerous_in(text):
        yield Text(f"holds a command that changes things: {harm}", f"含有会改变系统的命令：{harm}")
    for command in commands_in(text):
        if problem := problem_of_command(command):
            yield problem


def figures_not_in(text: str, cited: Sequence[Evidence]) -> Iterator[str]:
    """Numbers of a text that stand in none of these pieces of evidence, rounding of ours to theirs allowed."""
    digits = digits_in(without_places(text))
    ours = [n for e in cited for t in (e.quote, e.says) for n in numbers_of(t)]
    for figure in digits.figures:
        percent = f"{figure}%" in text or f"{figure} %" in text
        scaled = [100 * n for n in ours if 0 <= n <= 1] if percent else []
        if not any(same(figure.lstrip("+-"), n) for n in [*ours, *scaled]):
            yield figure
    yield from (words for words in digits.verbatim if not _stands_in(words, cited))


def quoted_in(quote: str, evidence: Evidence) -> bool:
    """Whether the words stand in the evidence verbatim, whitespace aside."""
    wanted = _flat(quote)
    return len(wanted) >= _SHORTEST_QUOTE and any(wanted in _flat(t) for t in (evidence.quote, evidence.says))


def stands_at(place: NamedPlace, evidence: Evidence) -> bool:
    """Whether a place that is named lies within a piece of evidence."""
    if evidence.line_start is None or (place.file and not is_path_of(place.file, evidence.source)):
        return False
    return evidence.line_start <= place.first and place.last <= (evidence.line_end or evidence.line_start)


def _citation(citation: WireCitation, known: Known) -> Iterator[Text]:
    name, evidence = citation.evidence, known.evidence.get(citation.evidence)
    if evidence is None:
        yield Text(f"{name} is not in the evidence", f"依据中没有 {name}")
    elif not quoted_in(citation.quote, evidence):
        yield Text(f"the quoted words are not in {name}", f"{name} 中没有所引的原文")
    elif _is_addressed(_lines_with(citation.quote, evidence), evidence):
        yield Text(f"{name} is text that speaks to its reader, no evidence", f"{name} 是对读者说话的文字，不能作为依据")


def _is_addressed(line: str, evidence: Evidence) -> bool:
    return speaks_to_reader(line) or (evidence.kind == "log" and evidence.quote != "" and judges(line))


def _lines_with(quote: str, evidence: Evidence) -> str:
    """The line or lines of evidence that hold a quotation."""
    lines = evidence.quote.split("\n")
    return next((line for line in lines if _flat(quote) in _flat(line)), evidence.quote)


def _figures(text: str, cited: Sequence[Evidence], known: Known) -> Iterator[Text]:
    for figure in figures_not_in(text, cited):
        yield Text(f"{figure} is in none of the cited evidence", f"所引依据中没有数字 {figure}")
    for name in digits_in(text).ids:
        if name not in known.evidence:
            yield Text(f"{name} is not in the evidence", f"依据中没有 {name}")


def _places(text: str, cited: Sequence[Evidence], quotes: Sequence[str]) -> Iterator[Text]:
    """A place that a claim names must be one it cites; in a long piece of code, one whose line it quotes."""
    for place in places_in(text):
        shown = f"{place.file}:{place.first}" if place.file else f"line {place.first}"
        if any(f"{place.file}:{place.first}" in t for e in cited for t in (e.quote, e.says) if place.file):
            continue  # the log names the place itself
        homes = [e for e in cited if stands_at(place, e)]
        if not homes:
            yield Text(f"{shown} is in none of the cited evidence", f"所引依据中没有 {shown}")
        elif not any(_at_line(quotes, e, place) for e in homes):
            yield Text(f"the quoted words do not stand at {shown}", f"所引原文不在 {shown}")


def _at_line(quotes: Sequence[str], evidence: Evidence, place: NamedPlace) -> bool:
    """Single lines and whole pieces are settled by the range; else a quotation must touch the lines that are named."""
    first, last = evidence.line_start or 0, evidence.line_end or evidence.line_start or 0
    if first == last or (place.first, place.last) == (first, last):
        return True
    lines = evidence.quote.split("\n")
    named = {_flat(line) for line in lines[place.first - first : place.last - first + 1]}
    wanted = [w for quote in quotes for w in map(_flat, quote.split("\n")) if w]
    return any(w in line or (line and line in w) for w in wanted for line in named)


def _stands_in(words: str, cited: Sequence[Evidence]) -> bool:
    return any(words in text for e in cited for text in (e.quote, e.says, e.source))


def _flat(text: str) -> str:
    return " ".join(neutral(text).split())
