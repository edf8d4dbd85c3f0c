"""One source as it travels: its events in columns, how its files were read, and the text of the lines a report may cite.

Everything in it is redacted. `encode` and `decode` are the bytes that nodes send and bundles hold; what is decoded is
data from elsewhere and is checked.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

from codex_skyrl.context.redact import redact
from codex_skyrl.logs.discover import Source
from codex_skyrl.logs.event import Event, Lifecycle
from codex_skyrl.logs.lines import Reading
from codex_skyrl.logs.quote import quotes
from codex_skyrl.logs.scan import FileReport, Scanner
from codex_skyrl.pipeline.places import places_of
from codex_skyrl.pipeline.run import Gathered, Reconstructor
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.remote.columns import Broken
from codex_skyrl.remote.packing import pack, unpack
from codex_skyrl.remote.table import events_in, table_of

FORMAT = 1
_LARGEST_TEXTS = 1 << 28  # bytes, unpacked


@dataclass(frozen=True, slots=True)
class Taken:
    """`name` is shown; `node` is whose clock the times are of; `shift_s` as `logs.clock.Clock.shift_s`."""

    name: str
    node: str
    reports: tuple[FileReport, ...]
    shift_s: float | None
    groups: tuple[bytes, ...]
    texts: dict[Place, str] = field(default_factory=dict)


def take(source: Source, node: str, processes: int = 1) -> Taken:
    """Read one source here, its files shown as `NODE:PATH`.

    Raises:
        OSError: when a file cannot be opened.
    """
    shown = {f"{node}:{path.name if path != source.paths[-1] else source.name}": path for path in source.paths}
    scanner = Scanner(list(source.paths), list(shown), processes=processes)
    name = f"{node}:{source.name}"
    builder = Reconstructor(name)
    groups = tuple(table_of(_fed(scanner.events(), builder)))
    shift = scanner.clock.shift_s
    taken = Taken(name, node, tuple(scanner.reports), shift, groups)
    places = places_of(gathered_of(taken, builder.out))
    landmarks = {report.path: report.landmarks for report in scanner.reports}
    return replace(taken, texts={place: redact(text) for place, text in quotes(places, shown, landmarks).items()})


def gathered_of(taken: Taken, first: Gathered | None = None) -> Gathered:
    """What its events give to a run; `first`: a reconstruction that is at hand, its ranks not pooled."""
    gathered = first or _reconstructed(taken, pooled=False)
    if gathered.mixed:
        gathered = _reconstructed(taken, pooled=True)
    gathered.shift_s = taken.shift_s
    return gathered


def encode(taken: Taken) -> bytes:
    """As bytes, about two or three for an event and some more for each text."""
    texts = [[source, line, text] for (source, line), text in sorted(taken.texts.items())]
    head = {
        "format": FORMAT, "name": taken.name, "node": taken.node, "shift_s": taken.shift_s,
        "reports": [asdict(replace(report, landmarks=[])) for report in taken.reports], "groups": [len(group) for group in taken.groups],
    }  # fmt: skip
    parts = [json.dumps(head).encode(), pack(_columns(texts)), *taken.groups]
    sizes = b"".join(len(part).to_bytes(8, "little") for part in parts[:2])
    return sizes + b"".join(parts)


def decode(data: bytes) -> Taken:
    """What `encode` was given.

    Raises:
        Broken: when the bytes are none, or of a later format.
    """
    try:
        sizes = [int.from_bytes(data[at : at + 8], "little") for at in (0, 8)]
        head = json.loads(data[16 : 16 + sizes[0]])
        if head["format"] != FORMAT:
            raise Broken(f"format {head['format']} is not known here")
        at = 16 + sizes[0] + sizes[1]
        texts = _texts(unpack(data[16 + sizes[0] : at], _LARGEST_TEXTS))
        groups: list[bytes] = []
        for size in head["groups"]:
            groups.append(data[at : at + size])
            at += size
        reports = tuple(_report(report) for report in head["reports"])
        shift = None if head["shift_s"] is None else float(head["shift_s"])
        return Taken(str(head["name"]), str(head["node"]), reports, shift, tuple(groups), texts)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise Broken(f"not a table of events: {error}") from error


def _fed(events: Iterator[Event], builder: Reconstructor) -> Iterator[Event]:
    for event in map(redacted, events):
        builder.feed(event)
        yield event


def redacted(event: Event) -> Event:
    """Without secrets in what it quotes."""
    body = event.body
    quoted = {name: text for name in ("text", "caused_by") if (text := getattr(body, name, ""))}
    clean = {name: _clean(text) for name, text in quoted.items()}
    if clean == quoted:
        return event
    if isinstance(body, Lifecycle):
        return event._replace(body=body._replace(text=clean["text"]))
    return event._replace(body=replace(body, **clean))  # type: ignore[arg-type]  # all that quote have these fields


@lru_cache(maxsize=10_000)
def _clean(text: str) -> str:
    return redact(text)  # messages repeat themselves


def _reconstructed(taken: Taken, *, pooled: bool) -> Gathered:
    builder = Reconstructor(taken.name, pooled=pooled)
    for event in events_in(taken.groups):
        builder.feed(event)
    return builder.out


def _columns(texts: list[list[object]]) -> bytes:
    """Column by column, which packs better than row by row."""
    return json.dumps([list(column) for column in zip(*texts, strict=True)]).encode()


def _texts(data: bytes) -> dict[Place, str]:
    columns = json.loads(data)
    if not columns:
        return {}
    return {(str(source), int(line)): str(text) for source, line, text in zip(*columns, strict=True)}


def _report(said: dict[str, object]) -> FileReport:
    reading = said.pop("reading")
    if not isinstance(reading, dict):
        raise Broken("a file's report is cut")
    return FileReport(reading=Reading(**reading), **said)  # type: ignore[arg-type]
