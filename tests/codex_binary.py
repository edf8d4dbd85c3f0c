"""The real Codex CLI from npm, installed once into a cache folder of the checkout that git ignores."""

import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "codex"
CURRENT, CHAT_ERA = "0.171.0", "0.80.0"


def codex_binary(version: str) -> str:
    """Path of the pinned version's program; skips the test where npm cannot bring it."""
    binary = CACHE / version / "node_modules" / ".bin" / "codex"
    if not binary.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is not installed")
        folder = CACHE / version
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--no-audit", "--no-fund", "--silent", f"@openai/codex@{version}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"npm could not install Codex {version}")
    return str(binary)
