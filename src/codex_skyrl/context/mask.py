"""Hides hosts, addresses, users, folders and repository names behind stand-ins, and puts them back afterwards.

Unlike redaction this can be undone: a stand-in (HOST_1, USER_2, ...) belongs to one exact string for the life of a Masker.
"""

import re
from collections.abc import Callable

_TOP = "com|net|org|io|ai|cn|dev|edu|gov|co|internal|local|localdomain|cloud|corp|lan|svc"
_KEPT_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0")
_KEPT_FOLDERS = ("/dev", "/proc", "/usr", "/bin", "/etc", "/sys", "/tmp")
_STAND_IN = re.compile(r"(?<![A-Za-z0-9_])(?:HOST|IP|USER|PATH|REPO)_\d+(?![A-Za-z0-9])")

# what -> pattern; the group `it` is what is hidden
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("REPO", re.compile(r"(?<=[/:])(?P<it>(?<=(?:github|gitlab)\.com[/:])[\w.-]+/[\w-]+(?:\.(?!git\b)[\w-]+)*)")),
    ("REPO", re.compile(r"(?<![A-Za-z0-9])(?P<it>[A-Za-z][\w.-]*?(?:__|_s_|_1776_)[A-Za-z][\w.]*?(?:-[A-Za-z]\w*)*)(?=-\d)")),
    ("USER", re.compile(r"(?P<it>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)")),
    ("IP", re.compile(r"(?<![\w.])(?P<it>(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d))(?![\w.]*\w)")),
    ("IP", re.compile(r"(?<![\w:.])(?P<it>(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F:]{1,30})(?![\w:])")),
    ("HOST", re.compile(r"(?<=://)(?P<it>[\w.-]+)")),
    ("HOST", re.compile(rf"(?<![\w.@/-])(?!self\.)(?P<it>(?:[A-Za-z0-9][\w-]*\.)+(?:{_TOP}))(?![\w(-]|\.\w)")),
    ("HOST", re.compile(r"(?<![\w.-])(?P<it>ip-\d+-\d+-\d+-\d+(?:\.[\w.-]*\w)?)")),
    ("HOST", re.compile(r"(?i)(?:\b(?:node|host|hostname|nodename)[\"']?\s*[=:]\s*[\"']?|\bassigned \S+ to )(?P<it>[A-Za-z][\w.-]*\w)")),
    ("USER", re.compile(r"(?<=/home/|Users/)(?P<it>[\w.-]+)|(?i:\b(?:user|username|login)[\"']?\s*[=:]\s*[\"']?)(?P<at>[A-Za-z][\w.-]*)")),
    ("PATH", re.compile(r"(?<![\w.:/}-])(?P<it>/[\w.@+-]+(?:/[\w.@+-]+)*)(?=/[\w.@+-])")),
)  # fmt: skip


class Masker:
    """Stand-ins are numbered in the order of first sight, so the same text always gets the same ones."""

    def __init__(self) -> None:
        self._stand_ins: dict[str, str] = {}
        self._taken: set[str] = set()

    def mask(self, text: str) -> str:
        """The text with every recognised name replaced."""
        self._taken |= set(_STAND_IN.findall(text))
        for kind, form in _FORMS:
            text = form.sub(self._replacer(kind), text)
        return text

    def restore(self, text: str) -> str:
        """The text with its names back; what only looks like a stand-in stays. Names may hold stand-ins of others."""
        originals = {stand_in: name for name, stand_in in self._stand_ins.items()}
        for _ in range(len(_FORMS)):
            restored = _STAND_IN.sub(lambda m: originals.get(m[0], m[0]), text)
            if restored == text:
                break
            text = restored
        return text

    def _replacer(self, kind: str) -> Callable[[re.Match[str]], str]:
        def replaced(match: re.Match[str]) -> str:
            group = "it" if match.re.groupindex.get("at") is None or match["it"] is not None else "at"
            name = match[group]
            if name in _KEPT_HOSTS or name.startswith(_KEPT_FOLDERS) or _STAND_IN.fullmatch(name):
                return match[0]
            at = match.start(group) - match.start()
            return match[0][:at] + self._stand_in(kind, name) + match[0][at + len(name) :]

        return replaced

    def _stand_in(self, kind: str, name: str) -> str:
        found = self._stand_ins.get(name)
        if found is None:
            number = 1
            while f"{kind}_{number}" in self._taken:
                number += 1
            found = self._stand_ins[name] = f"{kind}_{number}"
            self._taken.add(found)
        return found
