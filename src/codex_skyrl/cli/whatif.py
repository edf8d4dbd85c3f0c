"""`codex-skyrl whatif`: what one changed knob would do to the step time."""

import json
import os
import sys
from pathlib import Path

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import consoles, resolve_lang
from codex_skyrl.text import Lang, Text


@click.command()
@options.paths
@click.option("--experiment", "experiments", multiple=True, metavar="KNOB=VALUE",
              help="VALUE: a number, x2, half, or all_hit/off/on where that is the sense. Default: a sensible set, best first.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@options.lang
def whatif(paths: tuple[str, ...], experiments: tuple[str, ...], form: str, lang: Lang | None) -> None:
    """Replay the steps of PATH and change one knob: how would the step time change?"""
    from codex_skyrl.analyse import read
    from codex_skyrl.diagnosis.facts import case_of
    from codex_skyrl.whatif.predict import predict

    chosen = resolve_lang(lang, os.environ)
    material = read(paths, Path.cwd(), options.ray_root())
    baseline, found = predict(case_of(material.run, material.knobs), experiments)
    if form == "json":
        rows = [
            {"experiment": p.asked, "knob": p.knob, "from": p.before, "to": p.after, "step_time_change_pct": p.change_pct,
             "low_pct": p.low_pct, "high_pct": p.high_pct, "next_bottleneck": p.next_bottleneck, "how": p.knob,
             "assumptions": [p.assumes]}
            for p in found
        ]  # fmt: skip
        base = {"observed_s": round(baseline.observed_s, 1), "replayed_s": round(baseline.replayed_s, 1)}
        click.echo(
            json.dumps({"schema_version": 1, "baseline": base, "experiments": rows}, indent=2, ensure_ascii=False)
        )
        return
    out = consoles(os.environ, sys.stdout, sys.stderr).out
    out.print(
        _check_line(baseline.observed_s, baseline.replayed_s, trusted=baseline.trusted).to(chosen), soft_wrap=True
    )
    for p in found:
        said = Text(
            f"{p.asked:24} {p.change_pct:+6.1f} %  ({p.low_pct:+.0f} to {p.high_pct:+.0f} %), then {p.next_bottleneck} is busiest; {p.assumes}",
            f"{p.asked:24} {p.change_pct:+6.1f} %（{p.low_pct:+.0f} 到 {p.high_pct:+.0f} %），之后 {p.next_bottleneck} 最忙",
        )
        out.print(said.to(chosen), soft_wrap=True)


def _check_line(observed: float, replayed: float, *, trusted: bool) -> Text:
    if trusted:
        return Text(
            f"Self-check: the replay of what happened takes {replayed:,.0f} s, observed {observed:,.0f} s.",
            f"自检：重放实际过程为 {replayed:,.0f} 秒，实测 {observed:,.0f} 秒。",
        )
    return Text(
        f"Self-check FAILED: the replay takes {replayed:,.0f} s, observed {observed:,.0f} s; the predictions below are not to be trusted.",
        f"自检未通过：重放为 {replayed:,.0f} 秒，实测 {observed:,.0f} 秒；下面的预测不可信。",
    )
