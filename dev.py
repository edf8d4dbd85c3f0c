#!/usr/bin/env python3
"""The task runner: sets up `.venv` by itself, then runs a task. Same names here and in CI.

    python3 dev.py demo     diagnose a shipped sample, offline
    python3 dev.py test     all tests (more arguments go to pytest)
    python3 dev.py lint     ruff: rules and format
    python3 dev.py types    mypy --strict on src
    python3 dev.py samples  make sample_logs/ anew
    python3 dev.py docs     make docs/cli.md anew

Needs Python 3.11 or newer and nothing else; uses the standard library only.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "installed-for"

TASKS = {
    "demo": [["codex-skyrl", "diagnose", "sample_logs/init_cache_miss", "--engine", "offline"]],
    "test": [["pytest"]],
    "lint": [["ruff", "check", "."], ["ruff", "format", "--check", "."]],
    "types": [["mypy"]],
    "samples": [["python", "tools/make_samples.py"]],
    "docs": [["python", "tools/make_cli_docs.py"]],
}


def main(arguments: list[str]) -> int:
    task, more = (arguments[0], arguments[1:]) if arguments else ("", [])
    if task not in TASKS:
        print(__doc__.strip())
        return 0 if task in ("", "-h", "--help") else 2
    if sys.version_info < (3, 11):  # noqa: UP036 (the message is for older ones)
        print(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    prepare()
    for command in TASKS[task]:
        done = subprocess.run([str(BIN / command[0]), *command[1:], *more], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


def prepare() -> None:
    """Create the environment, or bring it up to date when the project file has changed."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return
    print("Setting up .venv (once) ...", file=sys.stderr, flush=True)
    venv.create(VENV, with_pip=True, clear=True)
    pip = [str(BIN / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--editable", f"{ROOT}[dev]"], check=True)
    STAMP.write_text(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
