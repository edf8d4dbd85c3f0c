"""How fast logs are read, as ratios in one run: `python benchmarks/scan.py LOG [--rounds 5] [--rg PATH] [--naive]`.

Interleaved, each a process of its own: our reader with one process and with all cores, the whole `diagnose`, ripgrep with
the same event regexes (`rg -a -n -f`), `wc -l`, and with `--naive` a plain reader that tries the same regexes on each line. A
log that ends in .gz or .zst is read as it is, and ripgrep behind `zcat` or `zstd -dc`. Wall and CPU time (that of children
too) are medians, memory is that of the largest process. Before the first round our events are compared with those of a reader
that looks at every line by itself (`--no-check` leaves that out; on big logs it takes minutes).
"""

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from event_regexes import event_regexes

READER = """
import sys
from pathlib import Path
from codex_skyrl.logs import sift
from codex_skyrl.logs.scan import Scanner
if __name__ == "__main__":
    if sys.argv[3:] == ["plodding"]:
        sift._is_plain = lambda chunk: False
    import hashlib
    scanner, seen, count = Scanner([Path(sys.argv[1])], processes=int(sys.argv[2])), hashlib.sha256(), 0
    for event in scanner.events():
        count += 1
        if len(sys.argv) > 3:
            seen.update(repr(event).encode())
    print(count, scanner.reports[0].reading.lines, seen.hexdigest())
"""
_NAIVE = """
import re, sys
wanted = [re.compile(line) for line in open(sys.argv[2]).read().splitlines()]
with open(sys.argv[1], errors="replace", newline="\\n") as log:
    print(sum(any(w.search(line) for w in wanted) for line in log))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rg", default=shutil.which("rg"), help="ripgrep 15 (npm: @vscode/ripgrep)")
    parser.add_argument(
        "--naive", action="store_true", help="the plain line-by-line reader too (about 40 times slower)"
    )
    parser.add_argument("--no-check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(options, Path(folder))
        if not options.no_check:
            _check(options.log, Path(folder) / "reader.py")
        figures: dict[str, list[tuple[float, float, int]]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                figures[name].append(run(command))
    _show(options, figures)


def _commands(options: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Shell commands by their names; the first is the reference."""
    log, python = shlex.quote(str(options.log)), shlex.quote(sys.executable)
    reader, naive, regexes = folder / "reader.py", folder / "naive.py", folder / "regexes.txt"
    reader.write_text(READER)
    naive.write_text(_NAIVE)
    regexes.write_text("\n".join(event_regexes()) + "\n")
    unpack = {".gz": "zcat", ".zst": "zstd -dc"}.get(options.log.suffix)
    found: dict[str, str] = {}
    if options.rg:
        rg = f"{shlex.quote(options.rg)} -a -n -f {regexes}"
        found["ripgrep"] = f"{unpack} {log} | {rg}" if unpack else f"exec {rg} {log}"
    found["wc -l"] = f"{unpack} {log} | wc -l" if unpack else f"exec wc -l {log}"
    found["one process"] = f"exec {python} {reader} {log} 1"
    if not unpack:
        found["all cores"] = f"exec {python} {reader} {log} {len(os.sched_getaffinity(0))}"
    found["diagnose"] = f"exec {python} -m codex_skyrl diagnose -q --engine offline {log}"
    if options.naive and not unpack:
        found["each line"] = f"exec {python} {naive} {log} {regexes}"
    return found


def _check(log: Path, reader: Path) -> None:
    """Raises SystemExit when the quick readers and the plodding one tell different events."""
    told = {
        tuple(how): subprocess.run(
            [sys.executable, reader, log, *how], check=True, capture_output=True, text=True
        ).stdout
        for how in (("1", "plodding"), ("1", "quick"), ("2", "quick"))
    }
    if len(set(told.values())) != 1:
        raise SystemExit(f"events differ: {told}")
    count, lines, _ = next(iter(told.values())).split()
    print(f"{int(count):,} events in {int(lines):,} lines, the same from each reader")


def run(command: str) -> tuple[float, float, int]:
    """(wall, CPU) seconds and peak memory in KiB of one run."""
    begin = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp("sh", ["sh", "-c", command])
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def _show(options: argparse.Namespace, figures: dict[str, list[tuple[float, float, int]]]) -> None:
    base = next(iter(figures))
    wall, cpu = (statistics.median(f[n] for f in figures[base]) for n in (0, 1))
    print(f"{options.log.stat().st_size / 1e6:,.0f} MB, {options.rounds} rounds; ratios to {base}")
    for name, found in figures.items():
        walls = [f[0] for f in found]
        own_wall, own_cpu = statistics.median(walls), statistics.median(f[1] for f in found)
        print(
            f"{name:12} wall {own_wall:7.2f} s ({own_wall / wall:6.2f}x [{min(walls) / wall:.2f}-{max(walls) / wall:.2f}])"
            f"  CPU {own_cpu:7.2f} s ({own_cpu / cpu:6.2f}x)  {max(f[2] for f in found) / 1024:6.0f} MB"
        )


if __name__ == "__main__":
    main()
