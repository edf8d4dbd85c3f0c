"""A progress bar on stderr while long input is read; only on a terminal, gone when done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from codex_skyrl.logs.discover import Source

_WORTH_A_BAR = 8_000_000  # bytes on disk: less is read before anyone could look


@contextmanager
def reading(console: Console, total_bytes: int) -> Iterator[Callable[[Source, int], None] | None]:
    """A callback for `analyse.read`, or None when no bar should be shown."""
    if console.quiet or not sys.stderr.isatty() or total_bytes < _WORTH_A_BAR:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, int] = {}

        def advance(source: Source, done: int) -> None:
            if source.name not in tasks:
                tasks[source.name] = bar.add_task(source.name[-40:], total=source.size)
            bar.update(bar.task_ids[tasks[source.name]], completed=min(done, source.size))

        yield advance
