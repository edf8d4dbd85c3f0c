"""A progress bar on stderr while long input is read; only on a terminal, gone when done."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from codex_skyrl.logs.discover import Source

if TYPE_CHECKING:
    from codex_skyrl.analyse import Read

_WORTH_A_BAR = 8_000_000  # bytes on disk: less is read before anyone could look


def read_shown(paths: Sequence[str], console: Console, checkout: str | None = None) -> "Read":
    """Everything the arguments name, read with a bar on the console where it takes a while.

    Raises:
        InputError: when nothing is found, or a file cannot be opened.
    """
    from codex_skyrl.analyse import read, total_bytes
    from codex_skyrl.cli.options import folder, ray_root

    here, ray = Path.cwd(), ray_root()
    with reading(console, total_bytes(paths, here, ray)) as progress:
        return read(paths, here, ray, progress, folder(checkout))


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
