"""Takes secrets out of text before it is shown or sent. Ordinary log lines come back byte for byte.

Owns the forms a secret can have; a form is anchored at word boundaries, so that `Task-69` or `flask-5000` stay.
"""

import re
from collections.abc import Callable

MASK = "[redacted]"

_Replace = str | Callable[[re.Match[str]], str]
_NAME = r"[\w.-]*(?:api[_-]?key|apikey|secret|passw(?:or)?d|passwd|credential|private[_-]?key|access[_-]?token|auth[_-]?token|_token|_key)\d*"
_NOT_SECRET = re.compile(
    r"(?:\d{1,6}|none|null|true|false|empty|\*+|\$\{?\w+\}?|\[redacted\]|<[\w -]+>)$", re.IGNORECASE
)

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)")


def _after_name(match: re.Match[str]) -> str:
    """NAME=VALUE of a secret-looking name: short numbers, placeholders and variables are no secrets."""
    value = match["value"].strip("\"'")
    if _VARIABLE.fullmatch(value):
        return match[0]  # env_key = "SOME_API_KEY" names a variable
    return match[0] if len(value) < 6 or _NOT_SECRET.match(value) else match[0].replace(value, MASK)


_FORMS: tuple[tuple[re.Pattern[str], _Replace], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), MASK),
    (re.compile(r"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?)(?:(bearer|basic|token)\s+)?[^\s\"',;]+"), rf"\1{MASK}"),
    (re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{12,}"), rf"\1{MASK}"),
    (re.compile(r"(?<![\w-])sk-(?:[A-Za-z]{2,12}-)?[A-Za-z0-9_-]{16,}"), MASK),
    (re.compile(r"(?<![\w-])(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}|(?<![\w-])github_pat_\w{20,}"), MASK),
    (re.compile(r"(?<![\w-])(?:hf_[A-Za-z0-9]{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,})"), MASK),
    (re.compile(r"(?<![\w-])(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)"), MASK),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}"), MASK),
    (re.compile(r"(?<=://)([^\s/:@\"']{1,80}):([^\s/@\"']{1,200})@"), rf"\1:{MASK}@"),
    (re.compile(rf"(?i)(?<![\w])(?:export\s+)?{_NAME}[\"']?\s*[:=]\s*(?P<value>\"[^\"]+\"|'[^']+'|[^\s\"',;&]+)"), _after_name),
)  # fmt: skip


def redact(text: str) -> str:
    """The text with every recognised secret replaced by `[redacted]`."""
    for form, replacement in _FORMS:
        text = form.sub(replacement, text)
    return text
