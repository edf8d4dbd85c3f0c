"""How much of what decides is in a pack: `python benchmarks/pack_recall.py CHECKOUT RUN... [--budgets 32000,12000]`.

For each run (a folder of logs) and budget: the share of the functions that make, fill and drain the three queues, of the
lines that set the workers, and of the evidence that the verdict cites, that stand whole in the prompt.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from codex_skyrl.analyse import analyse, pack_material, read
from codex_skyrl.checkout.facts import Checkout
from codex_skyrl.context.pack import Pack, pack
from codex_skyrl.report.model import Evidence

_HEAD = f"{'run':32} {'budget':>7} {'tokens':>7}  {'functions':>9}  {'settings':>8}  {'evidence':>8}  verdict"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--budgets", default="32000,12000")
    options = parser.parse_args()
    print(_HEAD)
    for run in options.runs:
        material = read([str(run)], Path.cwd(), None, checkout_at=options.checkout)
        if material.checkout is None:
            raise SystemExit(f"{options.checkout}: is no SkyRL checkout")
        diagnosis = analyse(material, "en")
        for budget in map(int, options.budgets.split(",")):
            found = pack("diagnose", diagnosis, pack_material(material, diagnosis, {}), budget)
            cells = (_functions(found, material.checkout), _settings(found, material.checkout), _cited(found))
            shown = "  ".join(f"{have:>4}/{all_:<4}" for have, all_ in cells)
            print(
                f"{run.name:32} {budget:>7} {found.tokens:>7}  {shown}  {diagnosis.verdict.bottleneck}/{diagnosis.verdict.cause}"
            )


def _functions(found: Pack, checkout: Checkout) -> tuple[int, int]:
    """(queue, made/filled/drained) pairs whose line stands in a whole function of the prompt."""
    wanted = {(f.queue, f.kind): (f.source, f.line) for f in checkout.of("queue_made", "queue_filled", "queue_drained")}
    functions = [e for e in _shown(found) if e.says.startswith("function ")]
    held = [place for place in wanted.values() if any(_covers(e, place) for e in functions)]
    return len(held), len(wanted)


def _settings(found: Pack, checkout: Checkout) -> tuple[int, int]:
    """The settings behind the workers of the three stages, at the line where they are set."""
    wanted = {(k.source, k.line) for w in checkout.workers for k in w.knobs if k.source.endswith(".yaml")}
    return len([place for place in wanted if any(_covers(e, place) for e in _shown(found))]), len(wanted)


def _cited(found: Pack) -> tuple[int, int]:
    shown = {e.id for e in _shown(found)}
    cited = found.diagnosis.verdict.evidence
    return len([i for i in cited if i in shown]), len(cited)


def _shown(found: Pack) -> Iterable[Evidence]:
    return [e for e in found.diagnosis.evidence if f"\n{e.id} [" in found.prompt]


def _covers(e: Evidence, place: tuple[str, int]) -> bool:
    return e.source == place[0] and (e.line_start or 0) <= place[1] <= (e.line_end or 0)


if __name__ == "__main__":
    main()
