"""What a chunk of lines says without knowing what came before: most of a log is prompts, code and command output.

A line can mean something only if a word of `WORDS` stands in it, if colours may hide one, or if it lies inside a traceback;
all others are passed over. The plainest lines (an OpenHands record or a lifecycle print, maybe behind a Ray prefix) are
understood here, in bulk; every other line is handed on as text. Whoever takes the rows keeps the state of each process.
"""

import re
from codecs import utf_8_decode
from collections.abc import Iterable

from codex_skyrl.logs.event import Kind
from codex_skyrl.logs.formats import lifecycle
from codex_skyrl.logs.formats.plain import FIRST_WORDS, PLAIN, RULE_OF
from codex_skyrl.logs.formats.sandbox_server import ACCESS_HINT, FINE
from codex_skyrl.logs.lines import LONGEST_KEPT, Reading, decode_line
from codex_skyrl.logs.traceback import START, Tracebacks
from codex_skyrl.logs.unwrap import Wrapped, unwrap
from codex_skyrl.logs.words import ESCAPE, WORDS, searcher, wanted

# (line, process, seconds of day, kind, instance, trajectory, value, text), line counted from 1 at the sieve's start.
# Understood: `process` is its writer, `kind` None for a record that only states a time (text HEADER: of a block).
# Not looked into: `process` is None and `text` the line as it stands.
Row = tuple[int, str | None, float | None, Kind | None, str | None, int | None, float | None, str]
HEADER = "header"

_RECORD, _HEAD, _PRINT, _TRACEBACK, _REQUEST = range(1, 6)
_PRINTS = ("Successfully ", "instance id ", "Git patch for instance", "Total instances: ", "Take action: ")
_KINDS_OF_WORD = [
    _RECORD if word == " - openhands:"
    else _HEAD if word in (" - ACTION", " - OBSERVATION")
    else _PRINT if word in _PRINTS
    else _TRACEBACK if word == START
    else _REQUEST if word == ACCESS_HINT
    else 0
    for word in (*WORDS, "")
]  # fmt: skip
_HEADS = {f" - {word}".encode() for word in ("ACTION", "OBSERVATION")}
_FILE = re.compile(rb"[A-Z]+: [\w.]+:(\d+)")
_ID = re.compile(rb"[!-~]+")
_CLOCK = re.compile(rb"([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)")
_MOST_REMEMBERED = 20_000
_FEW = 100
_BRACKET = ord("[")


class Sieve:
    """Takes the chunks of one source in order (see `chunks`). Remembers prefixes, clock times and headers it has met.

    `every`: hand on each line as text, for a source whose every line is wrapped.
    """

    def __init__(self, *, every: bool = False) -> None:
        self._words = searcher()
        self._every = every
        self._open: dict[str, Tracebacks] = {}
        self._processes: dict[bytes, str | None] = {b"": ""}
        self._openings: dict[bytes, tuple[str, float]] = {}
        self._files: dict[bytes, float] = {}
        self._names: dict[bytes, str] = {}
        self.reading = Reading()

    def start(self, reading: Reading) -> None:
        """A new piece of a source, its lines counted from 1 again."""
        self.reading = reading
        self._open.clear()

    @property
    def unfinished(self) -> bool:
        """Whether a traceback goes on behind the last line."""
        return bool(self._open)

    def sift(self, chunk: bytes) -> list[Row]:
        """The rows of one chunk."""
        if self._every or not _is_plain(chunk):
            return self._one_by_one(chunk)
        if not chunk.isascii():
            self.reading.invalid_bytes += _invalid_bytes(chunk)
        return self._in_bulk(chunk)

    def _one_by_one(self, chunk: bytes) -> list[Row]:
        """Odd bytes, or nothing to pass over: the same, a line at a time."""
        rows: list[Row] = []
        reading = self.reading
        for raw in chunk[1:-1].split(b"\n"):
            reading.lines += 1
            text = decode_line(raw, reading)
            if self._every or self._open or wanted(raw.replace(b"\0", b"")[:LONGEST_KEPT]):
                rows.append(_unread(reading.lines, text))
                self._follow(reading.lines, text)
        return rows

    def _in_bulk(self, chunk: bytes) -> list[Row]:
        rows: list[Row] = []
        find, rfind, count = chunk.find, chunk.rfind, chunk.count
        cr, esc = b"\r" in chunk, b"\x1b" in chunk
        hits = self._words.find_matches_as_indexes(chunk)
        if esc:
            hits = sorted([*hits, *_escapes(chunk)], key=_start)
        number, counted, end, last = self.reading.lines, 0, 0, len(hits) - 1
        if self._open:
            number, end = self._through_traceback(chunk, number, 1, rows)
            counted = end
        for nth, (word, start, stop) in enumerate(hits):
            if start < end:
                continue  # another word of the same line
            begin = rfind(b"\n", 0, start + 1) + 1
            number += count(b"\n", counted, begin)
            counted = begin
            end = find(b"\n", stop)
            kind = _KINDS_OF_WORD[word]
            if kind == _TRACEBACK:
                number, end = self._through_traceback(chunk, number - 1, begin, rows)
                counted = end
                continue
            alone = nth == last or hits[nth + 1][1] > end  # no other word stands in the line
            if kind == _REQUEST and alone and FINE.match(chunk, start, end) is not None:
                continue
            row = None
            if kind and not (cr and find(b"\r", start, end) >= 0) and not (esc and find(b"\x1b", start, end) >= 0):
                if kind == _RECORD:
                    row = self._record(chunk, number, begin, start, stop, end, alone)
                elif kind == _PRINT:
                    row = self._print(chunk, number, begin, start, end)
                elif kind == _HEAD:
                    row = self._header(chunk, number, begin, start, end)
            rows.append(row or _unread(number, self._text(chunk[begin:end], number)))
        self.reading.lines = number + count(b"\n", counted) - 1
        return rows

    def _record(
        self, chunk: bytes, number: int, begin: int, start: int, stop: int, end: int, alone: bool
    ) -> Row | None:
        """An OpenHands record; when nobody else looks for a word in it (`alone`) it may mean nothing but its time."""
        opening = chunk[begin:start]
        known = self._openings.get(opening) or self._opening(opening)
        dash = chunk.find(b" - ", stop, end)
        if known is None or dash < 0:
            return None
        head = chunk[stop:dash]
        if head not in self._files and not self._is_file(head):
            return None
        process, seconds = known
        return self._message(chunk, number, process, seconds, dash + 3, end, alone, head)

    def _print(self, chunk: bytes, number: int, begin: int, start: int, end: int) -> Row | None:
        process = self._process(chunk[begin:start])
        return None if process is None else self._message(chunk, number, process, None, start, end)

    def _message(
        self, chunk: bytes, number: int, process: str, seconds: float | None, at: int, end: int,
        alone: bool = False, head: bytes = b"",
    ) -> Row | None:  # fmt: skip
        found = PLAIN.match(chunk, at, end)
        if found is not None:
            return self._plain(chunk, number, process, seconds, found, end, head)
        if alone and chunk[at] != _BRACKET:
            space = chunk.find(b" ", at, end)
            if chunk[at : end if space < 0 else space] not in FIRST_WORDS:
                return number, process, seconds, None, None, None, None, ""
        text = _ascii(chunk[at:end])
        if text is None:
            return None
        body = lifecycle.parse_message(text)
        if body is None:
            return (number, process, seconds, None, None, None, None, "") if alone else None
        if body.kind is Kind.SANDBOX_REQUESTED:
            return None
        return number, process, seconds, *body

    def _plain(
        self, chunk: bytes, number: int, process: str, seconds: float | None, found: re.Match[bytes], end: int, head: bytes
    ) -> Row | None:  # fmt: skip
        kind, _, i, t, v, x = RULE_OF[found.lastindex]
        stop = found.end()
        if stop != end and _ascii(chunk[stop:end]) is None:
            return None
        name, value, said = None, None, ""
        if i:
            raw = found[i]
            name = self._names.get(raw) or self._name(raw)
            if name is None:
                return None
        if x:
            raw = found[x]
            text = self._names.get(raw) or self._name(raw)
            if text is None:
                return None
            said = text
        if v:
            value = float(found[v])
        elif kind is Kind.SANDBOX_REQUESTED:
            if not head:
                return None
            value = self._files[head]
        return number, process, seconds, kind, name, int(found[t]) if t else None, value, said

    def _header(self, chunk: bytes, number: int, begin: int, start: int, end: int) -> Row | None:
        opening = chunk[begin:start]
        known = self._openings.get(opening) or self._opening(opening)
        if known is None or chunk[start:end] not in _HEADS:
            return None
        return number, *known, None, None, None, None, HEADER

    def _through_traceback(self, chunk: bytes, number: int, at: int, rows: list[Row]) -> tuple[int, int]:
        """Hands on every line from `at` until no traceback is open; the number of the last one and where it ends."""
        end = at - 1
        while at < len(chunk):
            end = chunk.index(b"\n", at)
            number += 1
            text = self._text(chunk[at:end], number)
            rows.append(_unread(number, text))
            self._follow(number, text)
            at = end + 1
            if not self._open:
                break
        return number, end

    def _follow(self, number: int, text: str) -> None:
        """Note which processes are inside a traceback."""
        if not self._open and START not in text:
            return
        for item in unwrap(text):
            traces = self._open.get(item.process)
            if traces is None and item.text.startswith(START):
                traces = self._open[item.process] = Tracebacks()
            if traces is not None:
                traces.step(number, item.text)
        for process in [p for p, traces in self._open.items() if not traces.goes_on(number)]:
            del self._open[process]

    def _process(self, prefix: bytes) -> str | None:
        """Whose line it is by what stands before it; None when that is more than a Ray prefix."""
        try:
            return self._processes[prefix]
        except KeyError:
            pass
        process = None
        if prefix.endswith((b")", b") ", b"m", b"m ")) and prefix.isascii():
            [item, *others] = unwrap(prefix.decode() + "x")
            if not others and item == Wrapped("x", item.process):
                process = item.process
        if process is not None and len(self._processes) < _MOST_REMEMBERED:
            self._processes[prefix] = process
        return process

    def _opening(self, raw: bytes) -> tuple[str, float] | None:
        """Who writes a record and when, in seconds of the day, by the Ray prefix and `HH:MM:SS` that it begins with."""
        found, process = _CLOCK.fullmatch(raw[-8:]), self._process(raw[:-8])
        if found is None or process is None:
            return None
        if len(self._openings) > _MOST_REMEMBERED:
            self._openings.clear()
        known = process, int(found[1]) * 3600.0 + int(found[2]) * 60 + int(found[3])
        self._openings[raw] = known
        return known

    def _is_file(self, head: bytes) -> bool:
        """Whether `LEVEL: file:line` stands there; its line number is remembered."""
        found = _FILE.fullmatch(head)
        if found is None:
            return False
        if len(self._files) > _MOST_REMEMBERED:
            self._files.clear()
        self._files[head] = float(found[1])
        return True

    def _name(self, raw: bytes) -> str | None:
        """An id as text, one object however often it is met; None when it is not plain."""
        if _ID.fullmatch(raw) is None or b"%|" in raw:
            return None
        if len(self._names) > _MOST_REMEMBERED:
            self._names.clear()
        name = self._names[raw] = raw.decode()
        return name

    def _text(self, raw: bytes, number: int) -> str:
        text = raw.removesuffix(b"\r").decode("utf-8", errors="replace")
        return text.removeprefix("\ufeff") if number == 1 else text


def _unread(number: int, text: str) -> Row:
    return number, None, None, None, None, None, None, text


def _start(hit: tuple[int, int, int]) -> int:
    return hit[1]


def _ascii(message: bytes) -> str | None:
    """The text of a message that nothing else stands in; None when that is not sure."""
    if message.isascii() and b"%|" not in message and b" pid=" not in message and b"x across cluster]" not in message:
        return message.decode()
    return None


def _escapes(chunk: bytes) -> Iterable[tuple[int, int, int]]:
    """Colours that may break a word, as hits of no word."""
    if chunk.count(b"\x1b") > chunk.count(b"\n\x1b") + chunk.count(b")\x1b"):
        for found in ESCAPE.finditer(chunk):
            yield len(WORDS), found.start(), found.end()


def _is_plain(chunk: bytes) -> bool:
    """No NUL, and no line that is longer than what is looked at."""
    if b"\0" in chunk:
        return False
    at = 0
    while len(chunk) - at > LONGEST_KEPT:
        at = chunk.rfind(b"\n", at + 1, at + LONGEST_KEPT + 2)
        if at < 0:
            return False
    return True


def _invalid_bytes(chunk: bytes) -> int:
    """Bytes that are no UTF-8."""
    found, at, view = 0, 0, memoryview(chunk)
    for _ in range(_FEW):
        try:
            utf_8_decode(view[at:], "strict", True)
        except UnicodeDecodeError as error:
            found += error.end - error.start
            at += error.end
        else:
            return found
    rest = chunk[at:]
    return found + len(rest.decode(errors="surrogateescape")) - len(rest.decode(errors="ignore"))
