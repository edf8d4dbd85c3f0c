"""`codex-skyrl watch`: follows the logs of a running job."""

import contextlib
import json
import os
import select
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from codex_skyrl.cli import options
from codex_skyrl.cli.console import Consoles, consoles, resolve_lang
from codex_skyrl.text import Lang, Text

if TYPE_CHECKING:
    from codex_skyrl.watch.frame import Frame
    from codex_skyrl.watch.watcher import Watcher

_POLL_S = 0.5


@click.command(epilog="Example: codex-skyrl watch logs/ (q leaves); in a script: codex-skyrl watch logs/ --once")
@options.paths
@click.option("--once", is_flag=True, help="Print one frame and leave.")
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", help="jsonl: one object a frame."
)
@click.option(
    "--interval", type=click.FloatRange(min=0.2), default=2.0, show_default=True, help="Seconds between two frames."
)
@click.option("--silence", type=click.FloatRange(min=1), default=120.0, show_default=True,
              help="Silence of fewer seconds is never an alarm; else three times the longest pause so far is one.")  # fmt: skip
@click.option(
    "--exit-after-idle",
    "idle_s",
    type=click.FloatRange(min=0.1),
    help="Leave when nothing was written for so many seconds.",
)
@options.checkout
@options.lang
def watch(
    paths: tuple[str, ...], once: bool, form: str, interval: float, silence: float, idle_s: float | None, checkout: str | None,
    lang: Lang | None,
) -> None:  # fmt: skip
    """Follow growing (and rotating) logs: depths, rates, the verdict so far, time to go, and alarms.

    Exit code 1 when the last frame has an alarm (hang, silence, rising cache misses, full KV cache), else 0.
    """
    from codex_skyrl.watch.follow import Follower
    from codex_skyrl.watch.frame import Quiet
    from codex_skyrl.watch.watcher import Watcher

    chosen = resolve_lang(lang, os.environ)
    show = consoles(os.environ, sys.stdout, sys.stderr)
    with tempfile.TemporaryDirectory(prefix="codex-skyrl-watch-") as spool:
        follower = Follower(paths, Path.cwd(), options.ray_root(), Path(spool))
        watcher = Watcher(follower, chosen, Quiet(least_s=silence), options.folder(checkout))
        try:
            if once:
                last = watcher.look(now_at_once=True)
                _print(last, form, show, chosen)
            else:
                last = _follow(watcher, form, interval, idle_s, show, chosen)
        finally:
            follower.close()
    raise SystemExit(1 if last is not None and last.alarms else 0)


def _follow(
    watcher: "Watcher", form: str, interval: float, idle_s: float | None, show: Consoles, lang: Lang
) -> "Frame | None":  # fmt: skip
    """Frames until `q`, Ctrl-C or idleness; the last one is judged with everything that came."""
    with (
        watcher.pulling(),
        _display(form, show, lang) as put,
        _keys() as pressed,
        contextlib.suppress(KeyboardInterrupt),
    ):
        due = 0.0
        while not (idle_s is not None and watcher.idle_s >= idle_s):
            frame = watcher.look()
            if time.monotonic() >= due:
                put(frame)
                due = time.monotonic() + interval
            if pressed(min(_POLL_S, interval)):
                break
        last = watcher.look(now_at_once=True)
        put(last)
        return last
    return watcher.look()


@contextlib.contextmanager
def _display(form: str, show: Consoles, lang: Lang) -> "Iterator[Callable[[Frame | None], None]]":
    """On a terminal a picture that changes in its place; elsewhere one frame below the other."""
    if form == "jsonl" or not show.out.is_terminal:
        yield lambda frame: _print(frame, form, show, lang)
        return
    from rich.live import Live

    from codex_skyrl.report.frame_view import frame_view

    hint = Text("q leaves", "按 q 退出").to(lang)
    with Live(console=show.out, auto_refresh=False, transient=False) as live:
        yield lambda frame: live.update(frame_view(frame, lang, hint), refresh=True)


def _print(frame: "Frame | None", form: str, show: Consoles, lang: Lang) -> None:
    from codex_skyrl.moment import now_utc
    from codex_skyrl.report.frame_view import frame_view

    if form == "text":
        show.out.print(frame_view(frame, lang), crop=False)
    elif frame is not None:
        click.echo(json.dumps(frame.as_json(now_utc()), ensure_ascii=False))
        sys.stdout.flush()


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], bool]]:
    """Waits some seconds for a `q`; where there is no keyboard, only waits."""

    def only_waits(seconds: float) -> bool:
        time.sleep(seconds)
        return False

    try:
        import termios
        import tty
    except ImportError:  # Windows: Ctrl-C leaves
        yield only_waits
        return
    if not sys.stdin.isatty():
        yield only_waits
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)

    def waits_for_q(seconds: float) -> bool:
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return bool(ready) and sys.stdin.read(1) in ("q", "Q", "\x03")

    try:
        yield waits_for_q
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
