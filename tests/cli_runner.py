"""The real command in a real process, without the user's settings."""

import os
import subprocess
import sys
from pathlib import Path


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """One command of `codex-skyrl`, to its end."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("CODEX", "TAOTOKEN", "LC_", "LANG"))}
    clean |= {"CODEX_HOME": str(cwd / "no-codex"), "PYTHONWARNINGS": "error", **env}
    code = "from codex_skyrl.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=cwd, env=clean, capture_output=True, text=True, check=False)  # fmt: skip
