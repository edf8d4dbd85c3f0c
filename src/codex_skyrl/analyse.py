"""The offline path from paths to a diagnosis: find, read, assemble, judge, quote. Each step lives in its own room.

The only place that puts rooms together; the CLI and later engines start here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from codex_skyrl.checkout.facts import Checkout
from codex_skyrl.checkout.launch import Knob, Knobs, read_launch_scripts
from codex_skyrl.checkout.read import read_checkout
from codex_skyrl.context.pack import Material, lines_around
from codex_skyrl.context.redact import known_secrets, redact
from codex_skyrl.diagnosis.diagnose import diagnose
from codex_skyrl.diagnosis.experiments import trials_of
from codex_skyrl.diagnosis.facts import Case, case_of
from codex_skyrl.errors import InputError
from codex_skyrl.logs.discover import Source, find, shown_path
from codex_skyrl.logs.event import Event
from codex_skyrl.logs.quote import quotes
from codex_skyrl.logs.ranges import usable_processes
from codex_skyrl.logs.scan import FileReport, Scanner
from codex_skyrl.pipeline.assemble import assemble
from codex_skyrl.pipeline.run import Gathered, Reconstructor, Run
from codex_skyrl.pipeline.trajectory import Place
from codex_skyrl.remote.bundle import SUFFIX, read_bundle
from codex_skyrl.remote.nodes import Lost, gathered_from, skew_notes
from codex_skyrl.remote.table import events_in
from codex_skyrl.remote.taken import Taken
from codex_skyrl.report.inputs import input_of, not_read
from codex_skyrl.report.model import Diagnosis, Experiment, Missing, Setting
from codex_skyrl.text import Lang, Text
from codex_skyrl.whatif.predict import Prediction, foretell

_EVENTS_A_REPORT = 2_000
_HELPS_PCT = -3.0  # of step time: a further experiment that brings less is not worth a line
Progress = Callable[[Source, int], None]  # the source being read, and bytes of it read so far


@dataclass(frozen=True)
class Elsewhere:
    """What came from other machines: sources, settings of their launch scripts, and what was lost on the way."""

    sources: tuple[Taken, ...] = ()
    settings: tuple[Knob, ...] = ()
    lost: tuple[Lost, ...] = ()

    def __add__(self, other: "Elsewhere") -> "Elsewhere":
        return Elsewhere(self.sources + other.sources, self.settings + other.settings, self.lost + other.lost)


@dataclass(frozen=True)
class Read:
    """What was read: the run, a report per file, settings, where each shown source lies on disk, and the checkout.

    `texts` are lines of sources that lie elsewhere, `notes` what else is to be said of a file, `lost` what could not be read.
    """

    run: Run
    files: tuple[FileReport, ...]
    knobs: Knobs
    on_disk: Mapping[str, Path]
    checkout: Checkout | None = None
    texts: Mapping[Place, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()

    @cached_property
    def case(self) -> Case:
        """The run ready to be judged, computed once."""
        return case_of(self.run, self.knobs, self.checkout)

    def quoted(self, places: set[Place]) -> dict[Place, str]:
        """The lines at these places, without secrets, of files here and elsewhere."""
        landmarks = {report.path: report.landmarks for report in self.files}
        here = {place: redact(text) for place, text in quotes(places, self.on_disk, landmarks).items()}
        return here | {place: self.texts[place] for place in places if place in self.texts}


def read(
    arguments: Iterable[str],
    here: Path,
    ray_root: Path | None,
    progress: Progress | None = None,
    checkout_at: Path | None = None,
) -> Read:
    """Find and read everything the arguments name, and the checkout around `checkout_at` (default: `here`).

    Raises:
        InputError: when nothing is found, or a file cannot be opened.
    """
    found = find(arguments, here, ray_root)
    gathered: list[Gathered] = []
    files: list[FileReport] = []
    on_disk: dict[str, Path] = {}
    elsewhere = Elsewhere()
    for source in found.sources:
        if source.name.endswith(SUFFIX):
            bundle = read_bundle(source.paths[0], source.name)
            elsewhere += Elsewhere(bundle.sources, bundle.settings)
            continue
        names = [_name(source, path) for path in source.paths]
        on_disk.update(zip(names, source.paths, strict=True))
        one, reports = _gather(source, names, progress)
        gathered.append(one)
        files += reports
    scripts = {path: shown_path(path, here) for path, _ in found.left if path.suffix == ".sh"}
    knobs = read_launch_scripts(scripts, scripts)
    on_disk.update({name: path for path, name in scripts.items()})
    return _put_together(gathered, files, knobs, on_disk, elsewhere, checkout_at or here)


def read_elsewhere(elsewhere: Elsewhere, here: Path, checkout_at: Path | None = None) -> Read:
    """What other machines sent, and the checkout around `checkout_at` (default: `here`)."""
    return _put_together([], [], Knobs(), {}, elsewhere, checkout_at or here)


def _put_together(
    gathered: list[Gathered], files: list[FileReport], knobs: Knobs, on_disk: dict[str, Path],
    elsewhere: Elsewhere, checkout_at: Path,
) -> Read:  # fmt: skip
    afar, skews = gathered_from(elsewhere.sources)
    reports = [report for taken in elsewhere.sources for report in taken.reports]
    notes = {r.path: tuple(skew_notes(taken, skews)) for taken in elsewhere.sources for r in taken.reports}
    knobs = Knobs((*knobs.found, *elsewhere.settings))
    checkout = read_checkout(checkout_at)
    if checkout is not None:
        on_disk = {source: Path(checkout.root) / source for source in checkout.sources} | on_disk
        knobs = knobs if knobs.found else checkout.only_script
    texts = {place: text for taken in elsewhere.sources for place, text in taken.texts.items()}
    texts |= {(knob.source, knob.line): knob.text for knob in elsewhere.settings}
    run = assemble([*gathered, *afar])
    return Read(run, (*files, *reports), knobs, on_disk, checkout, texts, notes, elsewhere.lost)


def total_bytes(arguments: Iterable[str], here: Path, ray_root: Path | None) -> int:
    """Bytes on disk that `read` will go through."""
    return sum(source.size for source in find(arguments, here, ray_root).sources)


def analyse(material: Read, lang: Lang) -> Diagnosis:
    """The offline diagnosis of what was read."""
    case = material.case
    inputs = [input_of(report, lang, material.notes.get(report.path, ())) for report in material.files]
    inputs += [not_read(lost.name, lost.why, lang) for lost in material.lost]
    found = diagnose(case, inputs, lang, material.quoted)
    found = found.model_copy(update={"missing": [*(_lost(one, lang) for one in material.lost), *found.missing]})
    return _predicted(found.model_copy(update={"settings": _settings(material.knobs)}), case)


def _lost(lost: Lost, lang: Lang) -> Missing:
    what = Text(f"the logs of {lost.name}: {lost.why.en}", f"{lost.name} 的日志：{lost.why.zh}")
    return Missing(what=what.to(lang), how=f"codex-skyrl collect -o NODE{SUFFIX}")


def _settings(knobs: Knobs) -> list[Setting]:
    """Settings of the run; a secret-looking one keeps its name only."""
    shown = ((k, redact(f"{k.key}={k.value}").removeprefix(f"{k.key}=")) for k in knobs.found)
    return [Setting(key=k.key, value=value, source=k.source, line=k.line) for k, value in shown]


def pack_material(material: Read, diagnosis: Diagnosis, env: Mapping[str, str]) -> Material:
    """What a pack is made from: the checkout, the run's settings, lines beside the evidence, values that are secret."""
    root = Path(material.checkout.root) if material.checkout is not None else None
    around = material.quoted(lines_around(diagnosis))
    return Material(material.checkout, material.knobs, around, known_secrets(env, root))


def _predicted(diagnosis: Diagnosis, case: Case) -> Diagnosis:
    """The experiments with what the replay predicts, best first; beside the one for the verdict only those that help."""
    trials = trials_of(case, diagnosis.verdict.bottleneck, diagnosis.verdict.cause)
    asked = [t.replay for t in trials if t.replay is not None]
    foretold: dict[str | None, Prediction] = {p.asked: p for p in foretell(case, asked)} if asked else {}
    experiments = [
        e if t.replay not in foretold else _with_prediction(e, foretold[t.replay])
        for e, t in zip(diagnosis.experiments, trials, strict=True)
    ]
    kept = [*experiments[:1], *(e for e in experiments[1:] if _helps(e))]
    if kept and kept[0].step_time_change_pct is not None:
        # the one that tests the verdict stays first if nobody can tell
        kept.sort(key=lambda e: e.step_time_change_pct or 0.0)
    return diagnosis.model_copy(update={"experiments": kept})


def _helps(experiment: Experiment) -> bool:
    change, high = experiment.step_time_change_pct, experiment.high_pct
    return change is not None and high is not None and change <= _HELPS_PCT and high < 0


def _with_prediction(experiment: Experiment, found: Prediction) -> Experiment:
    said = {
        "step_time_change_pct": found.change_pct,
        "low_pct": found.low_pct,
        "high_pct": found.high_pct,
        "next_bottleneck": found.next_bottleneck,
    }
    return experiment.model_copy(update=said)


def _gather(source: Source, names: list[str], progress: Progress | None) -> tuple[Gathered, list[FileReport]]:
    """One source; read a second time, with its ranks pooled, when the first reading shows that Ray folded them."""
    gathered, reports = _scanned(source, names, progress, pooled=False)
    return _scanned(source, names, progress, pooled=True) if gathered.mixed else (gathered, reports)


def _scanned(
    source: Source, names: list[str], progress: Progress | None, *, pooled: bool
) -> tuple[Gathered, list[FileReport]]:
    scanner = Scanner(list(source.paths), names, processes=usable_processes())
    builder = Reconstructor(source.name, pooled=pooled)
    try:
        for number, event in enumerate(scanner.events()):
            builder.feed(event)
            if progress is not None and number % _EVENTS_A_REPORT == 0:
                progress(source, sum(r.reading.bytes for r in scanner.reports))
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}.", where=source.name, fix="Check its permissions."
        ) from error
    if progress is not None:
        progress(source, source.size)
    builder.out.shift_s = scanner.clock.shift_s
    return builder.out, scanner.reports


def _name(source: Source, path: Path) -> str:
    """A rotated member is shown beside its set's name."""
    return source.name if path == source.paths[-1] else str(Path(source.name).with_name(path.name))


@dataclass(frozen=True)
class Listing:
    """A source's events; what is said of its files, and its calendar, are complete when they are exhausted."""

    events: Iterable[Event]
    reports: Sequence[FileReport]
    shift_s: Callable[[], float]


def events_of(arguments: Sequence[str], here: Path, ray_root: Path | None) -> Iterable[Listing]:
    """Each source, for listing what is understood.

    Raises:
        InputError: when nothing is found, or a bundle cannot be read.
    """
    for source in find(arguments, here, ray_root).sources:
        if source.name.endswith(SUFFIX):
            yield from map(_listed_afar, read_bundle(source.paths[0], source.name).sources)
        else:
            yield _listed(source)


def _listed(source: Source) -> Listing:
    names = [_name(source, path) for path in source.paths]
    scanner = Scanner(list(source.paths), names, processes=usable_processes())
    return Listing(scanner.events(), scanner.reports, lambda: scanner.clock.shift_s or 0.0)


def _listed_afar(taken: Taken) -> Listing:
    return Listing(events_in(taken.groups), taken.reports, lambda: taken.shift_s or 0.0)
