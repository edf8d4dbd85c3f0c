"""What a checkout tells: plain data, each fact with file:line. Judges nothing."""

from dataclasses import dataclass, field
from typing import Literal

from codex_skyrl.checkout.launch import Knob, Knobs
from codex_skyrl.report.model import Stage

Layout = Literal["skyrl-v0", "skyrl-agent"]
Kind = Literal[
    "queue_made", "queue_filled", "queue_drained", "queue_joined", "workers",
    "blocks_loop", "holds_thread", "executor", "barrier", "poll", "timeout", "generation",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeFact:
    """One fact at `source:line`; `text` is that line, `detail` what matters of it (a bound, seconds, a name)."""

    kind: Kind
    source: str
    line: int
    text: str
    function: str
    stage: Stage | None = None
    queue: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WorkerCount:
    """How many workers of a stage the code starts: the expression, the setting behind it, and what divides it.

    `setting` is None where the expression leads to no setting. `division` is the code that divides it over the ranks.
    """

    stage: Stage
    expression: str
    source: str
    line: int
    setting: str | None = None
    knobs: tuple[Knob, ...] = ()
    division: str | None = None
    divided_at: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """A whole function of the checkout, for reading."""

    source: str
    line: int
    line_end: int
    function: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkout:
    """One checkout. `defaults` are the YAML settings, `scripts` those of launch scripts, in order of files."""

    root: str
    layout: Layout
    facts: tuple[CodeFact, ...]
    workers: tuple[WorkerCount, ...]
    defaults: Knobs
    scripts: Knobs
    slices: tuple[Slice, ...]
    unread: tuple[str, ...] = field(default=())

    def of(self, *kinds: Kind, stage: Stage | None = None) -> list[CodeFact]:
        return [f for f in self.facts if f.kind in kinds and (stage is None or f.stage == stage)]

    @property
    def sources(self) -> frozenset[str]:
        """Every file that a fact, a worker count, a slice or a setting stands in."""
        divided = {w.divided_at[0] for w in self.workers if w.divided_at}
        knobs = {k.source for k in (*self.defaults.found, *self.scripts.found)}
        return frozenset({f.source for f in self.facts} | {w.source for w in self.workers} | divided | knobs)

    @property
    def only_script(self) -> Knobs:
        """The knobs of the launch script that sets the workers, when just one script does; else none."""
        setting = {w.setting for w in self.workers if w.stage == "run"}
        setters = {k.source for k in self.scripts.found if k.name in setting}
        return Knobs(tuple(k for k in self.scripts.found if k.source in setters)) if len(setters) == 1 else Knobs()

    @property
    def settings(self) -> frozenset[str]:
        """Every key that a YAML file or a script of this checkout knows."""
        return frozenset(k.key for k in (*self.defaults.found, *self.scripts.found))
