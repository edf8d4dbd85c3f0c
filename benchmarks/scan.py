"""How fast logs are read, as ratios in one run: `python benchmarks/scan.py LOG [--rounds 5] [--rg PATH]`.

Interleaved: `wc -l`, ripgrep with the literals that formats look for (`rg -a -n -f`), our reader, and our reader without
passing lines over. Each runs as a process of its own; wall and CPU are medians, memory is the largest. Ripgrep 15 comes as
`pip install ripgrep`.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from codex_skyrl.logs.formats.registry import HINTS

_OURS = """
import sys
from pathlib import Path
from codex_skyrl.logs import scan
if sys.argv[2] == "every":
    scan.lines_of = lambda path, reading, literals: None
scanner = scan.Scanner([Path(sys.argv[1])])
print(sum(1 for _ in scanner.events()))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rg", default=shutil.which("rg"))
    parser.add_argument("--no-every", action="store_true", help="leave out the reader of every line (it is slow)")
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as literals:
        literals.write("\n".join(h.replace(".", r"\.").replace("[", r"\[").replace("]", r"\]") for h in HINTS))
    commands = {
        "wc -l": ["wc", "-l", str(options.log)],
        **({"rg": [options.rg, "-a", "-n", "-f", literals.name, str(options.log)]} if options.rg else {}),
        "codex-skyrl": [sys.executable, "-c", _OURS, str(options.log), "skim"],
        **({} if options.no_every else {"every line": [sys.executable, "-c", _OURS, str(options.log), "every"]}),
    }
    figures: dict[str, list[tuple[float, float, int]]] = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            figures[name].append(_run(command))
    Path(literals.name).unlink()
    base = "rg" if "rg" in figures else "wc -l"
    wall, cpu = (statistics.median(f[n] for f in figures[base]) for n in (0, 1))
    print(f"{options.log.stat().st_size / 1e6:,.0f} MB, {options.rounds} rounds; ratios to {base}")
    for name, found in figures.items():
        own_wall, own_cpu = (statistics.median(f[n] for f in found) for n in (0, 1))
        rss = max(f[2] for f in found) / 1024
        print(
            f"{name:12} wall {own_wall:7.2f} s ({own_wall / wall:6.2f}x)  CPU {own_cpu:7.2f} s ({own_cpu / cpu:6.2f}x)  {rss:6.0f} MB"
        )


def _run(command: list[str]) -> tuple[float, float, int]:
    """(wall, CPU) seconds and peak memory in KiB of one run."""
    begin = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execvp(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


if __name__ == "__main__":
    main()
