"""Python tracebacks of one process, read line by line: one failure each, a chained one with its first cause.

Lines of other processes never reach this state; a folded or cut traceback ends where its lines end.
"""

import re

from codex_skyrl.logs.event import Failure

START = "Traceback (most recent call last):"
_FINAL = re.compile(r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Failed|Unavailable|Died)\w*|[A-Za-z_]\w*(?:\.\w+)+)(?::|$)")  # fmt: skip
_CHAIN = ("During handling of the above exception", "The above exception was the direct cause")


class Tracebacks:
    """State of one process; `step` returns a finished failure with the line it ended on."""

    __slots__ = ("_cause", "_final", "_final_line", "_inside")

    def __init__(self) -> None:
        self._inside = False
        self._final = ""
        self._final_line = 0
        self._cause = ""

    @property
    def active(self) -> bool:
        return self._inside or bool(self._final)

    def step(self, number: int, text: str) -> tuple[int, Failure] | None:
        """Move over one line of this process."""
        if text.startswith(START):
            self._inside = True
            self._cause, self._final = self._final or self._cause, ""
            return None
        if self._inside:
            if text[:1] not in (" ", "\t", "") and _FINAL.match(text):
                self._final, self._final_line, self._inside = text, number, False
            return None
        if not text.strip() or text.startswith(_CHAIN):
            return None
        return self.close()

    def close(self) -> tuple[int, Failure] | None:
        """What is left when the process says something else, or the source ends."""
        if not self._final:
            self._inside = False
            return None
        failure = Failure("error", self._final[:500], caused_by=self._cause[:500], traceback=True)
        line = self._final_line
        self._final = self._cause = ""
        return line, failure
