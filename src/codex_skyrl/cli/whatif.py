"""`codex-skyrl whatif`: what one changed knob would do to the step time."""

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text

if TYPE_CHECKING:
    from codex_skyrl.diagnosis.facts import Case
    from codex_skyrl.whatif.predict import Baseline, Prediction

_NOTHING_PCT = 1.0  # a change below that is none


@click.command(epilog="Example: codex-skyrl whatif logs/ --experiment eval_workers=x2")
@options.paths
@click.option("--experiment", "experiments", multiple=True, metavar="KNOB=VALUE",
              help="VALUE: a number, x2, half, or all_hit/off/on where that is the sense. Default: a sensible set, best first.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@options.checkout
@options.lang
@options.quiet
def whatif(
    paths: tuple[str, ...],
    experiments: tuple[str, ...],
    form: str,
    checkout: str | None,
    lang: Lang | None,
    quiet: bool,
) -> None:
    """Replay the steps of PATH and change one knob: how would the step time change?

    Workers are those of one rank. What is predicted is kept, so that `codex-skyrl compare` can score it.
    """
    from codex_skyrl.cli.progress import read_shown
    from codex_skyrl.keeping import keep_predictions
    from codex_skyrl.whatif.predict import predict

    chosen = resolve_lang(lang, os.environ)
    show = consoles(os.environ, sys.stdout, sys.stderr, quiet=quiet)
    material = read_shown(paths, show.talk, checkout)
    case = material.case
    baseline, found = predict(case, experiments)
    if baseline.trusted:
        keep_predictions(options.state_folder(), case, found)
    if form == "json":
        click.echo(json.dumps(_as_json(case, baseline, found, chosen), indent=2, ensure_ascii=False))
        return
    show.out.print(_check_line(baseline).to(chosen), soft_wrap=True)
    for p in found:
        show.out.print(_line(p).to(chosen), soft_wrap=True)
        show.out.print(f"{'':26} {_how(p, case).to(chosen)}", soft_wrap=True)


def _as_json(case: "Case", baseline: "Baseline", found: "list[Prediction]", lang: Lang) -> dict[str, object]:
    rows = [
        {"experiment": p.asked, "knob": p.knob, "from": p.before, "to": p.after, "step_time_change_pct": p.change_pct,
         "low_pct": p.low_pct, "high_pct": p.high_pct, "next_bottleneck": p.next_bottleneck, "how": _how(p, case).to(lang),
         "assumptions": [p.assumes.to(lang)]}
        for p in found
    ]  # fmt: skip
    base = {"observed_s": round(baseline.observed_s, 1), "replayed_s": round(baseline.replayed_s, 1)}
    return {"schema_version": 1, "baseline": base, "experiments": rows}


def _how(p: "Prediction", case: "Case") -> Text:
    from codex_skyrl.whatif.how import how_of

    return how_of(p.knob, case.knobs, case.checkout)


def _line(p: "Prediction") -> Text:
    low, high = (f"{round(v):+d}".replace("+0", "0") for v in (p.low_pct, p.high_pct))
    if abs(p.change_pct) < _NOTHING_PCT:
        en, zh = f"no effect ({low} to {high} %)", f"没有作用（{low} 到 {high} %）"
    else:
        en = f"{p.change_pct:+6.1f} % ({low} to {high} %), then {p.next_bottleneck} is busiest"
        zh = f"{p.change_pct:+6.1f} %（{low} 到 {high} %），之后 {p.next_bottleneck} 最忙"
    return Text(f"{p.asked:26} {en}; {p.assumes.en}", f"{p.asked:26} {zh}；{p.assumes.zh}")


def _check_line(baseline: "Baseline") -> Text:
    observed, replayed = baseline.observed_s, baseline.replayed_s
    if baseline.trusted:
        return Text(
            f"Self-check: the replay of what happened takes {replayed:,.0f} s, observed {observed:,.0f} s.",
            f"自检：重放实际过程为 {replayed:,.0f} 秒，实测 {observed:,.0f} 秒。",
        )
    return Text(
        f"Self-check FAILED: the replay takes {replayed:,.0f} s, observed {observed:,.0f} s; the predictions below are not to be trusted.",
        f"自检未通过：重放为 {replayed:,.0f} 秒，实测 {observed:,.0f} 秒；下面的预测不可信。",
    )
