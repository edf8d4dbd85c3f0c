"""How cost grows with bytes, events and trajectories: `python benchmarks/growth.py [--mb 100]`.

Logs of three sizes each are made in a temporary folder and read (one process) and diagnosed, each a process of its own; printed
are medians of three rounds, relative to the first size, and peak memory.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scan import READER, run

_GROWING = {
    "bytes": ([1, 2, 4], lambda mb, n: ["--mb", str(mb * n)]),
    "events": ([0.02, 0.1, 0.4], lambda mb, n: ["--mb", str(mb), "--wanted", str(n)]),
    "trajectories": ([32, 8, 2], lambda mb, n: ["--mb", str(mb), "--wanted", "0.1", "--turns", str(n)]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=100)
    mb = parser.parse_args().mb
    with tempfile.TemporaryDirectory() as folder:
        log, reader = Path(folder) / "x.log", Path(folder) / "reader.py"
        reader.write_text(READER)
        for what, (sizes, arguments) in _GROWING.items():
            first: list[float] = []
            for size in sizes:
                make = [sys.executable, Path(__file__).with_name("make_log.py"), log, *arguments(mb, size)]
                subprocess.run(make, check=True)
                counts = subprocess.run(
                    [sys.executable, reader, log, "1"], check=True, capture_output=True, text=True
                ).stdout.split()
                commands = (
                    f"{sys.executable} {reader} {log} 1",
                    f"{sys.executable} -m codex_skyrl diagnose -q --engine offline {log}",
                )
                rounds = [[run(command) for _ in range(3)] for command in commands]
                walls = [statistics.median(r[0] for r in one) for one in rounds]
                first = first or walls
                print(
                    f"{what:12} {size:>6}: {log.stat().st_size / 1e6:5.0f} MB, {int(counts[0]):>9,} events;  read {walls[0]:6.2f} s "
                    f"({walls[0] / first[0]:5.2f}x)  diagnose {walls[1]:6.2f} s ({walls[1] / first[1]:5.2f}x)  "
                    f"{max(r[2] for r in rounds[1]) / 1024:4.0f} MB"
                )


if __name__ == "__main__":
    main()
