"""Writes a big log like SkyRL-v0's: `python benchmarks/make_log.py OUT --mb 1000 --wanted 0.04`.

Played steps give the wanted lines; between them stand prompts, code, patches in their rules, observations, lines of 50 KB,
invalid UTF-8 and progress bars. The same arguments give the same bytes.
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

_CODE = (
    "    def resolve(self, name, default=None):", "        return self._registry.get(name, default)", "The test fails because the parser keeps a stale reference.",
    "+        if value is None:", "-        raise TypeError(value)", "    assert result == expected, (result, expected)", "I will look at the file and then run the tests again.",
    "   1203\t        self.assertEqual(list(qs), [a, b])", "diff --git a/src/core.py b/src/core.py", "<function=execute_bash>", "    # TODO: also when the cache is cold",
)  # fmt: skip
_ODD = (
    b"\xff\xfe odd bytes \x80\n",
    b"x" * 50_000 + b"\n",
    " 10%|█         | 33/339 [00:01<00:10, 28.10it/s]\r 20%|██ | 67/339 [00:02<00:09]\n".encode(),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--wanted", type=float, default=0.04, help="share of lines that mean something")
    options = parser.parse_args()
    with options.out.open("wb") as out:
        left = options.mb * 1_000_000
        for block in _blocks(options.wanted):
            out.write(block)
            left -= len(block)
            if left <= 0:
                return


def _blocks(wanted: float) -> Iterator[bytes]:
    chance = Random(11)
    code = cycle(_CODE)
    with TemporaryDirectory() as folder:
        story = play(batch(16, 8), 16, 16)
        events = write_log(Path(folder) / "x.log", *[story] * 4).read_bytes().splitlines(keepends=True)
    between = round((1 - wanted) / wanted)
    for number, line in enumerate(cycle(events)):
        filler = "".join(f"{next(code)} {chance.randrange(10**6)}\n" for _ in range(between)).encode()
        odd = chance.choice(_ODD) if number % 500 == 0 else b""
        yield line + filler + odd


if __name__ == "__main__":
    main()
