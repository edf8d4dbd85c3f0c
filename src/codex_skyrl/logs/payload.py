"""Which lines are somebody's data (git patches, command output) although they may look like log lines.

Per process: between the rules of a printed patch, and between the markers of an OBSERVATION, a line without a
time of its own is payload; one with a time is real only when that time fits the clock. Owns only this state.
"""

RULE = "-" * 80
MARKER = " AGENT OBSERVATION--"  # stands in both markers
_BEGIN, _END = f"--BEGIN{MARKER}", f"--END{MARKER}"
_LONGEST = 200_000  # lines of the source: a block whose end was swallowed must not hide the rest of the log
_FITS_S = 120.0


class Payload:
    """State of one process: outside, inside an observation, or before / inside a patch's rules."""

    __slots__ = ("_begun", "_state")

    def __init__(self) -> None:
        self._state = ""
        self._begun = 0

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

    def step(self, number: int, text: str, folded: bool) -> bool:
        """Move over one line; True when it is a marker or inside payload. `number`: its line in the source; `folded`: Ray
        swallowed its twins. Lines that are neither markers nor could mean anything may be left out."""
        if self._state == "" and text == _BEGIN and not folded:
            self._state, self._begun = "observation", number
            return True
        if self._state == "announced":
            if text == RULE:
                self._state, self._begun = "patch", number
                return True
            return False
        if not self.open:
            return False
        if number - self._begun > _LONGEST:
            self._state = ""
            return False
        if text == (_END if self._state == "observation" else RULE):
            self._state = ""
        return True


def fits(time: float, clock: float | None) -> bool:
    """Whether a stamped line inside payload is a real one of another thread: its time is the present."""
    return clock is not None and abs(time - clock) <= _FITS_S
