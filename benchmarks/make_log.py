"""Writes a big log like SkyRL-v0's: `python benchmarks/make_log.py OUT --mb 1000 --wanted 0.04 [--turns 8] [--ray]`.

Played steps give the wanted lines; between them stand prompts, code, patches in their rules and observations in their
markers (both with decoys: text of events that are none), lines of 50 KB, invalid UTF-8 and progress bars that redraw
themselves. Lines are about 120 bytes long. `--ray` puts every line behind a coloured Ray prefix. The same arguments give the
same bytes.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from story import batch, play, write_log

_WORDS = (
    "self", "return", "value", "the parser keeps a stale reference", "queryset.filter(pk=instance.pk)", "if not isinstance(obj, Model):",
    "assert result == expected", "I will look at the failing test first", "and then run it again with more output", "def resolve(self, name):",
    "raise TypeError(f\"unexpected {value!r}\")", "tests/model_fields/test_charfield.py", "for field in fields", "# TODO: also when cold",
    "the traceback shows", "in django/db/models/sql/compiler.py", "<function=str_replace_editor>", "super().__init__(*args, **kwargs)",
)  # fmt: skip
_HEADS = ("", "    ", "        ", "+", "-", "+    ", "   1203\t", "> ", "* ")
_DECOYS = (
    '+    print("Successfully completed instance repo__project-100, trajectory 0 in 3.0s")',
    "Successfully initialized runtime for instance repo__project-100, trajectory 0 in 41.20 seconds",
    "instance id repo__project-100, trajectory 0, step 9",
    "+12:00:00 - openhands:INFO: codeact.py:1203 - Running agent for instance repo__project-100, trajectory 0",
)
_RULE = "-" * 80
_BAR = " 10%|\u2588         | 33/339 [00:01<00:10, 28.10it/s]\r 20%|\u2588\u2588 | 67/339 [00:02<00:09, 29.00it/s]\r"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--wanted", type=float, default=0.04, help="share of lines that mean something")
    parser.add_argument("--turns", type=int, default=8, help="of a trajectory: fewer turns, more trajectories")
    parser.add_argument("--ray", action="store_true", help="every line behind a Ray prefix")
    options = parser.parse_args()
    prefix = "\x1b[36m(AgentWorker pid=4711)\x1b[0m " if options.ray else ""
    left = options.mb * 1_000_000
    with options.out.open("wb") as out:
        for block in _blocks(options.wanted, options.turns):
            content = "".join(prefix + line + "\n" for line in block).encode("utf-8", errors="surrogateescape")
            out.write(content)
            left -= len(content)
            if left <= 0:
                break


def _blocks(wanted: float, turns: int) -> Iterator[list[str]]:
    """Some lines that belong together."""
    chance = Random(11)
    filler = [_sentence(chance) for _ in range(4_000)]
    between = (1 - wanted) / wanted
    due = 0.0
    for number, line in enumerate(_wanted(turns)):
        due += between
        count, due = int(due), due % 1
        block = [line, *chance.choices(filler, k=count)]
        if number % 40 == 20 and count > 6:
            block[2:2] = ["--BEGIN AGENT OBSERVATION--", chance.choice(_DECOYS[:3]), "--END AGENT OBSERVATION--"]
        if number % 400 == 100:
            block.append("odd bytes \udcff\udcfe here")
        if number % 400 == 200:
            block.append("x" * 50_000)
        if number % 400 == 300:
            block.append(_BAR + chance.choice(filler))
        yield block
        if line.startswith("Git patch"):
            yield [_RULE, *chance.choices(filler, k=5), *chance.sample(_DECOYS, k=2), _RULE]


def _wanted(turns: int) -> Iterator[str]:
    """The lines that a run prints, without what stands in its patches."""
    with TemporaryDirectory() as folder:
        log = write_log(
            Path(folder) / "x.log", *[play(batch(16, 8, lambda i: {"turns": ((3.0, 2.0),) * turns}), 16, 16)] * 4
        ).read_text()
    inside = False
    lines = []
    for line in log.splitlines():
        if line == _RULE:
            inside = not inside
        elif not inside and line.strip():
            lines.append(line)
    return cycle(lines)


def _sentence(chance: Random) -> str:
    words = [chance.choice(_WORDS) for _ in range(chance.randrange(1, 8))]
    return chance.choice(_HEADS) + " ".join(words) + f" {chance.randrange(10**6)}"


if __name__ == "__main__":
    main()
