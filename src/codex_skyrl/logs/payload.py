"""Which lines are somebody's data (git patches, command output) although they may look like log lines.

Per process: between the rules of a printed patch, and between the markers of an OBSERVATION, a line without a
time of its own is payload; one with a time is real only when that time fits the clock. Owns only this state.
"""

_RULE = "-" * 80
BEGIN, _END = "--BEGIN AGENT OBSERVATION--", "--END AGENT OBSERVATION--"
_LONGEST = 20_000  # lines: a block whose end was swallowed must not hide the rest of the log
_FITS_S = 120.0


class Payload:
    """State of one process: outside, inside an observation, or before / inside a patch's rules."""

    __slots__ = ("_lines", "_state")

    def __init__(self) -> None:
        self._state = ""
        self._lines = 0

    @property
    def open(self) -> bool:
        return self._state in ("patch", "observation")

    @property
    def calm(self) -> bool:
        """Nothing is open or announced."""
        return self._state == ""

    def patch_announced(self) -> None:
        """`Git patch for instance ...` was printed: the next rule opens the patch."""
        self._state = "announced"

    def header_seen(self) -> None:
        """A stamped ACTION or OBSERVATION header of this process ends whatever was open."""
        self._state = ""

    def step(self, text: str, folded: bool) -> bool:
        """Move over one line; True when it is a marker or inside payload. `folded`: Ray swallowed its twins."""
        if self._state == "" and text == BEGIN and not folded:
            self._state, self._lines = "observation", 0
            return True
        if self._state == "announced":
            if text == _RULE:
                self._state, self._lines = "patch", 0
                return True
            return False
        if not self.open:
            return False
        self._lines += 1
        if text == (_END if self._state == "observation" else _RULE) or self._lines > _LONGEST:
            self._state = ""
        return True


def fits(time: float, clock: float | None) -> bool:
    """Whether a stamped line inside payload is a real one of another thread: its time is the present."""
    return clock is not None and abs(time - clock) <= _FITS_S
