"""Looks at a running job again and again: pulls what is new, and judges it anew when that costs little time.

A reading of everything takes a while when logs are big, so the next one waits until `_SHARE` of the time went into them.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codex_skyrl.analyse import analyse, read
from codex_skyrl.diagnosis.facts import Case
from codex_skyrl.errors import InputError
from codex_skyrl.report.model import Diagnosis
from codex_skyrl.text import Lang
from codex_skyrl.watch.follow import Follower
from codex_skyrl.watch.frame import Frame, Quiet, frame_of

_SHARE = 0.05  # of the time that may go into reading and judging
_PULL_S = 0.25


@dataclass(slots=True)
class Watcher:
    """`clock`: seconds, only ever forward."""

    follower: Follower
    lang: Lang
    quiet: Quiet
    checkout: Path | None = None
    clock: Callable[[], float] = time.monotonic
    diagnosis: Diagnosis | None = None
    _case: Case | None = None
    _stale: bool = False
    _heard_at: float | None = None
    _next_at: float = 0.0
    _pulls: bool = True  # by `look`; False while a thread does
    _failed: InputError | None = None

    def look(self, *, now_at_once: bool = False) -> Frame | None:
        """The current frame; None while there is nothing to judge. `now_at_once`: whatever it costs.

        Raises:
            InputError: when no log is there at all, or one cannot be read.
        """
        if self._pulls:
            self._pull()
        if self._failed is not None:
            raise self._failed
        now = self.clock()
        self.quiet.now_s = self.idle_s
        if self._stale and (now_at_once or now >= self._next_at):
            self._judge()
            self._next_at = self.clock() + (self.clock() - now) / _SHARE
        if self.diagnosis is None or self._case is None:
            return None
        return frame_of(self.diagnosis, self._case, self.quiet)

    @contextmanager
    def pulling(self) -> Iterator[None]:
        """Meanwhile a thread takes over what is written, also while a judgement is under way: what is truncated then is kept."""
        self._pull()
        stop = threading.Event()

        def pull_until_stopped() -> None:
            while not stop.wait(_PULL_S) and self._failed is None:
                try:
                    self._pull()
                except InputError as error:
                    self._failed = error

        thread = threading.Thread(target=pull_until_stopped, daemon=True)
        self._pulls = False
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            self._pulls = True

    def _pull(self) -> None:
        if self.follower.pull():
            now = self.clock()
            if self._heard_at is not None:
                self.quiet.heard(now - self._heard_at)
            self._heard_at, self._stale = now, True

    @property
    def idle_s(self) -> float:
        """Seconds since anything came."""
        return 0.0 if self._heard_at is None else self.clock() - self._heard_at

    def _judge(self) -> None:
        self._stale = False  # what comes from now on makes it stale again
        spool = self.follower.spool
        try:
            material = read([str(spool)], spool, None, checkout_at=self.checkout)
        except InputError:
            return  # nothing but empty files yet
        self._case = material.case
        self.diagnosis = analyse(material, self.lang)
