"""Python tracebacks of one process, read line by line: one failure each, a chained one with its first cause.

Lines of other processes never reach this state; a folded or cut traceback ends where its lines end. While one is
`inside`, every line of the process counts; after its last line only lines that could mean something do.
"""

import re

from codex_skyrl.logs.event import Failure

START = "Traceback (most recent call last):"
CHAIN = " above exception"  # stands in both of Python's lines between chained tracebacks
_CHAINS = ("During handling of the above exception", "The above exception was the direct cause")
_FINAL = re.compile(r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Failed|Unavailable|Died)\w*|[A-Za-z_]\w*(?:\.\w+)+)(?::|$)")  # fmt: skip
_LONGEST = 2_000  # lines of the source: a traceback without an end must not cost reading every line that follows


class Tracebacks:
    """State of one process; `step` returns a finished failure with the line it ended on."""

    __slots__ = ("_cause", "_chained", "_final", "_final_line", "_start", "inside")

    def __init__(self) -> None:
        self.inside = False
        self._start = 0
        self._final = ""
        self._final_line = 0
        self._cause = ""
        self._chained = False

    @property
    def active(self) -> bool:
        return self.inside or bool(self._final)

    def goes_on(self, number: int) -> bool:
        """Whether the line after `number` counts, whatever it says."""
        return self.inside and number - self._start < _LONGEST

    def step(self, number: int, text: str) -> tuple[int, Failure] | None:
        """Move over one line of this process; `number` is its line in the source."""
        if text.startswith(START):
            before = None if self._chained else self.close()
            self.inside, self._start, self._chained = True, number, False
            self._cause, self._final = self._final or self._cause, ""
            return before
        if self.inside and number - self._start <= _LONGEST:
            if text[:1] not in (" ", "\t", "") and _FINAL.match(text):
                self._final, self._final_line, self.inside = text, number, False
            return None
        self.inside = False
        if self._final and text.startswith(_CHAINS):
            self._chained = True
            return None
        return self.close() if text.strip() else None

    def close(self) -> tuple[int, Failure] | None:
        """What is left when the process says something else, or the source ends."""
        final, cause, line = self._final, self._cause, self._final_line
        self.inside = self._chained = False
        self._final = self._cause = ""
        if not final:
            return None
        return line, Failure("error", final[:500], caused_by=cause[:500], traceback=True)
