"""The short sentences of a report, made from one part of a Diagnosis each; shared by every renderer.

Returns plain strings that may still hold foreign text: renderers neutralise it. Knows no layout.
"""

import re

from codex_skyrl.report import figures, words
from codex_skyrl.report.inputs import NOT_READ
from codex_skyrl.report.model import (
    COMPUTED,
    STAGES,
    Claim,
    Diagnosis,
    Evidence,
    Experiment,
    Input,
    MatrixRow,
    ModelExperiment,
    ModelReport,
    OtherFinding,
    StageCode,
    Timeline,
    Verdict,
)
from codex_skyrl.text import Lang, Text

_SENTENCE = re.compile(r"[A-Z].*\w[.:!?]$")
_HAN = re.compile(r"[\u3400-\u9fff]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|#.*$")


def is_command(line: str) -> bool:
    """Whether a line of advice is for the shell, not for reading: no sentence and no Chinese prose."""
    text = line.strip()
    return bool(text) and not _SENTENCE.match(text) and not _HAN.search(_QUOTED.sub("", text))


def verdict_line(verdict: Verdict, lang: Lang) -> str:
    """Bottleneck, cause and confidence in one line; no cause where there is none to name."""
    named = words.BOTTLENECKS[verdict.bottleneck].to(lang)
    parts = [labelled(words.BOTTLENECK, named, lang)]
    if verdict.cause != "none":
        parts.append(labelled(words.CAUSE, words.CAUSES[verdict.cause].to(lang), lang))
    if verdict.bottleneck == "unknown":
        parts.append(labelled(words.CONFIDENCE_LABEL, figures.percent(verdict.confidence), lang))
    else:
        parts.append(capital(confidence(verdict.confidence, lang)))
    return "。".join(parts) + "。" if lang == "zh" else ". ".join(parts) + "."


def confidence(share: float, lang: Lang) -> str:
    """The word for a confidence 0..1, with its figure."""
    word = next(word for floor, word in words.CONFIDENCE if share >= floor).to(lang)
    figure = figures.percent(share)
    return f"{word}（{figure}）" if lang == "zh" else f"{word} ({figure})"


def labelled(label: Text, value: str, lang: Lang) -> str:
    """`label: value` with the punctuation of the language."""
    return f"{label.to(lang)}{colon(lang)}{value}"


def colon(lang: Lang) -> str:
    return "：" if lang == "zh" else ": "


def capital(text: str) -> str:
    """First letter upper case, the rest untouched."""
    return text[:1].upper() + text[1:]


def first_step(diagnosis: Diagnosis) -> str | None:
    """What to do next: the best experiment, else the first thing to collect, else nothing."""
    lang = diagnosis.lang
    if diagnosis.experiments:
        best = diagnosis.experiments[0]
        effect = figures.change(best.step_time_change_pct)
        tail = Text(f" (step time {effect} predicted)", f"（预测 step 时间 {effect}）").to(lang)
        known = best.step_time_change_pct is not None
        return labelled(words.TRY_FIRST, knob_change(best) + (tail if known else ""), lang)
    if diagnosis.missing:
        return labelled(words.COLLECT_FIRST, diagnosis.missing[0].what, lang)
    return None


def knob_change(experiment: Experiment) -> str:
    """`knob from -> to`, without the side that is not known."""
    sides = [_value(side) for side in (experiment.from_, experiment.to) if side is not None]
    return " ".join([experiment.knob, " -> ".join(sides)]).rstrip()


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"


def has_prediction(experiment: Experiment) -> bool:
    return experiment.step_time_change_pct is not None or experiment.next_bottleneck is not None


def predicted(experiment: Experiment, lang: Lang) -> str:
    """The predicted change of step time with its interval, and what limits next."""
    effect, low, high = (
        figures.change(x) for x in (experiment.step_time_change_pct, experiment.low_pct, experiment.high_pct)
    )
    interval = figures.DASH not in (low, high)
    en, zh = f"Step time {effect}", f"step 时间 {effect}"
    if interval:
        en, zh = f"{en} (between {low} and {high})", f"{zh}（{low} 到 {high} 之间）"
    if experiment.next_bottleneck is not None:
        then = words.BOTTLENECKS[experiment.next_bottleneck]
        en, zh = f"{en}; next bottleneck: {then.en}", f"{zh}；之后的瓶颈：{then.zh}"
    return Text(f"{en}.", f"{zh}。").to(lang)


def other_finding(other: OtherFinding, lang: Lang) -> str:
    """Named by its cause, or by its bottleneck where no cause is known."""
    topic = words.BOTTLENECKS[other.bottleneck] if other.cause == "none" else words.CAUSES[other.cause]
    return capital(topic.to(lang)) + colon(lang) + other.summary + bracketed(other.evidence)


def place(evidence: Evidence) -> str:
    """`source:line` or `source:first-last`, never shortened; "" for a computed figure."""
    if evidence.line_start is None:
        return "" if evidence.source == COMPUTED else evidence.source
    last = evidence.line_end
    span = "" if last is None or last == evidence.line_start else f"-{last}"
    return f"{evidence.source}:{evidence.line_start}{span}"


def code_groups(diagnosis: Diagnosis) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Of each stage and of what all share: (heading, [(ids, what, places)]); the same statement stands once."""
    code, lang = diagnosis.checkout, diagnosis.lang
    if code is None:
        return []
    groups = [
        *((_stage_code(stage, lang), stage.evidence) for stage in code.stages),
        (words.SHARED.to(lang), code.shared),
    ]
    known = {evidence.id: evidence for evidence in diagnosis.evidence}
    return [(head, _gathered([known[i] for i in ids if i in known])) for head, ids in groups if ids]


def _gathered(found: list[Evidence]) -> list[tuple[str, str, str]]:
    statements: dict[str, list[Evidence]] = {}
    for evidence in found:
        statements.setdefault(evidence.says, []).append(evidence)
    return [
        (", ".join(e.id for e in same), says, ", ".join(place(e) for e in same)) for says, same in statements.items()
    ]


def _stage_code(stage: StageCode, lang: Lang) -> str:
    """`eval: 5 workers a rank (max_eval_parallel_agents)`."""
    if stage.setting is None or stage.per_rank is None:
        return stage.stage if stage.setting is None else f"{stage.stage} ({stage.setting})"
    rank = Text(f"{stage.per_rank} workers a rank", f"每个 rank {stage.per_rank} 个 worker").to(lang)
    return f"{stage.stage}{colon(lang)}{rank} ({stage.setting})"


def shown_timeline(diagnosis: Diagnosis) -> Timeline | None:
    """That of the longest step; None when no step has one."""
    return max(diagnosis.timelines, key=lambda t: t.sample_s, default=None)


def timeline_caption(line: Timeline, lang: Lang) -> str:
    samples = next((len(v) for s in STAGES if (v := getattr(line.depth, s) or getattr(line.serving, s))), 0)
    return Text(
        f"step {line.step}, {line.sample_s * samples:,.0f} s from left to right, sampled every {line.sample_s:.0f} s; full columns are the maximum",
        f"step {line.step}，从左到右共 {line.sample_s * samples:,.0f} 秒，每 {line.sample_s:.0f} 秒一个样本；满格为最大值",
    ).to(lang)


def matrix_row(row: MatrixRow, lang: Lang) -> str:
    known = words.MATRIX_ROWS.get(row.row)
    return row.row if known is None else known.to(lang)


def ids(evidence: list[str]) -> str:
    """Evidence ids in one string, "" when there are none."""
    return ", ".join(evidence)


def bracketed(evidence: list[str]) -> str:
    return f" [{ids(evidence)}]" if evidence else ""


def input_line(item: Input, lang: Lang) -> str:
    """What was found in one file: kind, size, lines, events."""
    if item.kind == NOT_READ:
        return words.NOT_READ.to(lang)
    kind = item.kind or figures.DASH
    size, lines, events = figures.size(item.bytes), figures.count(item.lines), figures.count(item.events)
    return Text(
        f"{kind}; {size}, {lines} line{_s(item.lines)}, {events} event{_s(item.events)}",
        f"{kind}；{size}，{lines} 行，{events} 个事件",
    ).to(lang)


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def engine_line(diagnosis: Diagnosis) -> str:
    lang = diagnosis.lang
    how = {"offline": words.OFFLINE, "api": words.API, "codex": words.CODEX}[diagnosis.engine].to(lang)
    tool = f"{diagnosis.tool.name} {diagnosis.tool.version}"
    return labelled(words.ENGINE, Text(f"{how} ({tool})", f"{how}（{tool}）").to(lang), lang)


def model_line(report: ModelReport, verdict: Verdict, lang: Lang) -> str:
    """Which model, at what cost, and whether it agrees with the verdict."""
    name = report.model or figures.DASH
    tokens = [figures.count(n) for n in (report.input_tokens, report.output_tokens)]
    cost = Text(
        f"{name}, {tokens[0]} tokens in, {tokens[1]} out.",
        f"{name}，输入 {tokens[0]} token，输出 {tokens[1]}。",
    )
    return f"{cost.to(lang)}{' ' if lang == 'en' else ''}{agreement(report, verdict, lang)}".strip()


def agreement(report: ModelReport, verdict: Verdict, lang: Lang) -> str:
    """Whether the model's verdict is ours; if not, both side by side."""
    if report.agrees is None:
        return ""
    if report.agrees:
        return words.AGREES.to(lang)
    ours, our_cause = words.BOTTLENECKS[verdict.bottleneck], words.CAUSES[verdict.cause]
    named, cause = words.BOTTLENECKS[report.bottleneck], words.CAUSES[report.cause]
    return Text(
        f"It DISAGREES. Computed: {ours.en}; {our_cause.en}. The model: {named.en}; {cause.en}. "
        "The computed verdict stands.",
        f"与上面的结论不一致。计算结果：{ours.zh}，{our_cause.zh}。模型：{named.zh}，{cause.zh}。以计算结果为准。",
    ).to(lang)


def summary_line(report: ModelReport, lang: Lang) -> str:
    label = words.ITS_SUMMARY_UNVERIFIED if report.summary_problems else words.ITS_SUMMARY
    return labelled(label, report.summary, lang)


def tally(report: ModelReport, lang: Lang) -> str:
    """How many of the model's claims could be verified."""
    claims = [claim for answer in report.answers for claim in answer.claims]
    good = sum(claim.verified for claim in claims)
    return Text(
        f"{good} of {len(claims)} claims verified against the evidence.",
        f"{len(claims)} 条说法中有 {good} 条与依据核对一致。",
    ).to(lang)


def claim_sources(claim: Claim) -> str:
    """The evidence a claim cites, each id once, in its order."""
    return bracketed(list(dict.fromkeys(citation.evidence for citation in claim.citations)))


def model_experiment(experiment: ModelExperiment, lang: Lang) -> str:
    change = f"{experiment.knob} {experiment.from_value} -> {experiment.to_value}"
    steps = Text(f", {experiment.steps} steps", f"，跑 {experiment.steps} 个 step").to(lang)
    label = words.ITS_EXPERIMENT if experiment.verified else words.ITS_EXPERIMENT_UNVERIFIED
    return labelled(label, change + steps, lang)


def model_experiment_details(experiment: ModelExperiment, lang: Lang) -> list[str]:
    separator = "、" if lang == "zh" else ", "
    return [
        labelled(words.COMPARE, separator.join(experiment.compare), lang),
        labelled(words.PREDICTED, experiment.predicted, lang),
    ]
