"""Takes secrets out of text before it is shown or sent. Ordinary log lines come back byte for byte."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from codex_skyrl.context import secret_forms as forms

MASK = "[redacted]"
_SHORTEST_KNOWN = 8  # shorter values of .env would hit ordinary words
_ENV_LINE = re.compile(r"^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$")


def redact(text: str, known: Iterable[str] = ()) -> str:
    """The text with every recognised secret replaced by `[redacted]`.

    `known` are values that are secret whatever their form: see `known_secrets`.
    """
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, MASK)
    text = forms.PRIVATE_KEY.sub(MASK, text)
    for form in forms.EMBEDDED:
        text = form.sub(_after_what_stays, text)
    text = forms.TOKENS.sub(MASK, text)
    text = forms.SURE_NAME.sub(_unless(forms.is_value), text)
    return forms.LIKELY_NAME.sub(_unless(forms.is_random), text)


def redact_for_sending(text: str, known: Iterable[str] = ()) -> str:
    """`redact`, and then line by line what the library detect-secrets recognises besides."""
    lines = redact(text, known).split("\n")
    return "\n".join(_by_library(line) for line in lines)


def known_secrets(env: Mapping[str, str], folder: Path | None) -> frozenset[str]:
    """Values of the process's own secret-looking variables, and all values of the checkout's `.env`."""
    in_file = _env_file(folder / ".env") if folder is not None else {}
    values = {v for k, v in env.items() if _telling(k)}
    values |= {v for k, v in in_file.items() if _telling(k) or not _is_setting(v)}
    return frozenset(v for v in values if len(v) >= _SHORTEST_KNOWN and forms.is_value(v) and not v.startswith("/"))


def _env_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {m[1]: m[2].strip("\"'") for line in lines if (m := _ENV_LINE.match(line))}


def _telling(name: str) -> bool:
    return name.endswith(("_KEY", "_TOKEN")) or forms.SURE_NAME.match(f"{name}=x") is not None


def _is_setting(value: str) -> bool:
    """Paths, plain addresses and single words of a `.env`."""
    return re.fullmatch(r"\.?/.*|[a-z][a-z_-]*|https?://[\w.:/-]+", value) is not None


def _unless(secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    def replaced(match: re.Match[str]) -> str:
        whole, start = match["value"], match.start("value") - match.start()
        value = whole.strip("\"'")
        return match[0][:start] + whole.replace(value, MASK) if secret(value) else match[0]

    return replaced


def _after_what_stays(match: re.Match[str]) -> str:
    """An f-string's `{self.token}` names a secret and is none."""
    return match[0] if "{" in match[0][len(match["keep"]) :] else match["keep"] + MASK


def _by_library(line: str) -> str:
    for value in set(forms.library_secrets(line)):
        if MASK not in value:
            line = line.replace(value, MASK)
    return line
