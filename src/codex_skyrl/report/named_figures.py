"""Figures that a sentence ties to one queue or stage, beside ours: "run_queue had a maximum depth of 8"."""

import re
from collections.abc import Iterator, Sequence

from codex_skyrl.report.mentions import workers_in
from codex_skyrl.report.model import STAGES, Diagnosis, Evidence, PipelineFigures, Stage
from codex_skyrl.text import Text

_CLAUSE = re.compile(r"[;。；\n]|\. ")
_STAGE = re.compile(r"(?i)\b(init|run|eval)(?:_queue\b|[ _-](?:queue|stage|workers?)\b|(?=\s*(?:队列|阶段|worker)))")
_STAGE_OF_OURS = re.compile(r"\b(init|run|eval)(?:\b|_queue)")
_GAP = r"(?:[^\d\n]|(?<=[a-zA-Z])\d){0,24}?"
_VALUE = r"(\d[\d,]*(?:\.\d+)?)"
_FORMS: tuple[tuple[str, re.Pattern[str], float], ...] = (
    ("max_depth", re.compile(rf"(?i)(?:max(?:imum|\.)?\s+depth|最大深度){_GAP}{_VALUE}"), 1.0),
    ("mean_wait_s", re.compile(rf"(?i)(?:(?:mean|average)\s+wait(?:ing time)?|平均等待){_GAP}{_VALUE}"), 1.0),
    ("consumption_per_min", re.compile(rf"(?i){_VALUE}\s*(?:items?\s*|个\s*)?(?:a|per|/|每)\s*(?:min|分)"), 1.0),
    ("workers", re.compile(r"\((\d+) (?:workers?|个 worker)\)"), 1.0),
    ("utilisation", re.compile(rf"(?i)(?:\bbusy\b|utili[sz]ation|忙碌|利用率){_GAP}{_VALUE}\s*%"), 100.0),
)


def wrong_figures(text: str, diagnosis: Diagnosis, cited: Sequence[Evidence] = ()) -> Iterator[Text]:
    """What a text says of a queue or stage against what we computed for it: over the input, in any pipeline, or in what it cites."""
    ours = list(_stated(" ; ".join(e.says for e in cited), _STAGE_OF_OURS))
    for stage, field, said, scale in _stated(text, _STAGE):
        values = _values(stage, field, diagnosis)
        values += [float(value.replace(",", "")) / scale for s, f, value, _ in ours if (s, f) == (stage, field)]
        if values and not any(same(said, scale * value) for value in values):
            shown = f"{scale * values[0]:g}"
            yield Text(f"{stage} {field} is {shown}, not {said}", f"{stage} 的 {field} 是 {shown}，不是 {said}")


def _stated(text: str, naming: re.Pattern[str]) -> Iterator[tuple[Stage, str, str, float]]:
    """(stage, field, value as written, its scale) of each clause that names just one stage."""
    for stage, count in workers_in(text):
        yield stage, "workers", str(count), 1.0
    for clause in _CLAUSE.split(text):
        stages = {m[1].lower() for m in naming.finditer(clause)}
        named = [s for s in STAGES if s in stages]
        if len(named) == 1:
            for field, form, scale in _FORMS:
                for match in form.finditer(clause):
                    yield named[0], field, match[1], scale


def same(said: str, ours: float) -> bool:
    """Whether ours, rounded as they rounded, is what they say."""
    plain = said.replace(",", "")
    return round(ours, len(plain.partition(".")[2])) == float(plain)


def _values(stage: Stage, field: str, diagnosis: Diagnosis) -> list[float]:
    homes: list[Diagnosis | PipelineFigures] = [diagnosis, *diagnosis.pipelines]
    found = [getattr(getattr(h.queues, stage), field, None) for h in homes]
    found += [getattr(getattr(h.stages, stage), field, None) for h in homes]
    if field == "workers" and diagnosis.checkout is not None:
        found += [c.per_rank for c in diagnosis.checkout.stages if c.stage == stage]
    return [float(value) for value in found if value is not None]
