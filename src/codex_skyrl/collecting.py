"""What one machine's logs say, taken into a bundle that another machine can diagnose."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codex_skyrl.checkout.launch import Knob, read_launch_scripts
from codex_skyrl.context.redact import redact
from codex_skyrl.errors import InputError
from codex_skyrl.logs.discover import Source, find, shown_path
from codex_skyrl.logs.ranges import usable_processes
from codex_skyrl.remote.bundle import SUFFIX, write_bundle
from codex_skyrl.remote.taken import Taken, take


@dataclass(slots=True)
class Collected:
    """What went into a bundle. `left`: files that could not be read, with the reason."""

    sources: int = 0
    events: int = 0
    read_bytes: int = 0
    bundle_bytes: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


def collect(arguments: Iterable[str], here: Path, ray_root: Path | None, node: str, out: Path) -> Collected:
    """Read everything the arguments name and write the bundle.

    Raises:
        InputError: when nothing is found, nothing of it can be read, or the bundle cannot be written.
    """
    found = find(arguments, here, ray_root)
    sources = [source for source in found.sources if not source.name.endswith(SUFFIX)]
    scripts = {path: f"{node}:{shown_path(path, here)}" for path, _ in found.left if path.suffix == ".sh"}
    told = Collected()
    settings = [redacted_knob(knob) for knob in read_launch_scripts(scripts, scripts).found]
    told.bundle_bytes = write_bundle(out, node, _taken(sources, node, told), settings)
    if not told.sources:
        out.unlink()
        name, why = told.left[0] if told.left else (", ".join(arguments), "there are only bundles")
        raise InputError(f"nothing could be read: {why}.", where=name, fix="Check the paths and their permissions.")
    return told


def redacted_knob(knob: Knob) -> Knob:
    """A setting without a secret value in it or in its line."""
    value = redact(f"{knob.key}={knob.value}").removeprefix(f"{knob.key}=")
    return Knob(knob.key, value, knob.source, knob.line, redact(knob.text))


def _taken(sources: Iterable[Source], node: str, told: Collected) -> Iterator[Taken]:
    for source in sources:
        try:
            taken = take(source, node, usable_processes())
        except OSError as error:
            told.left.append((source.name, error.strerror or str(error)))
            continue
        told.sources += 1
        told.events += sum(sum(report.families.values()) for report in taken.reports)
        told.read_bytes += sum(report.reading.bytes for report in taken.reports)
        yield taken
