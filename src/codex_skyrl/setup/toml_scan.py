"""A tolerant scanner over TOML text: every statement with its place, and every problem, not only the first.

tomllib stops at the first error and forgets positions; editing and explaining a user's file need both. Owns syntax
only: which keys mean what is not known here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_SMART = "“”‘’"
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One header or key. `path` is absolute; `begin`/`end` are offsets of the value (of the whole header)."""

    kind: Literal["table", "array", "key"]
    path: Path
    table: Path
    line: int
    column: int
    start: int  # offset of the statement's first character
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that no TOML reader would take; 1-based line and column. `mended`: the corrected line, if it is clear."""

    line: int
    column: int
    reason: str
    mended: str | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]

    def of_key(self, path: Path) -> Statement | None:
        """The statement that assigns a key, the first when there are several."""
        return next((s for s in self.statements if s.kind == "key" and s.path == path), None)

    def header(self, path: Path) -> Statement | None:
        return next((s for s in self.statements if s.kind == "table" and s.path == path), None)


def scan(text: str) -> Scan:
    """All statements and problems of a document. Never raises."""
    scanner = _Scanner(text)
    statements = tuple(scanner.statements())
    return Scan(statements, tuple(scanner.problems))


class _SyntaxError(Exception):
    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._table: Path = ()
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.problems: list[Problem] = []

    def statements(self) -> Iterator[Statement]:
        while self._skip_blank_lines():
            start = self._at
            try:
                yield self._statement()
            except _SyntaxError as error:
                self._note(error, start)
                self._at = self._line_end(max(start, min(error.at, len(self._text))))

    def _skip_blank_lines(self) -> bool:
        """Move to the next statement; False at the end."""
        while self._at < len(self._text):
            self._at = _match_end(_BLANK, self._text, self._at)
            if self._at >= len(self._text):
                return False
            char = self._text[self._at]
            if char == "#":
                self._at = self._line_end(self._at)
            elif char in "\r\n":
                self._at += 1
            else:
                return True
        return False

    def _statement(self) -> Statement:
        start = self._at
        if self._text.startswith("[", start):
            return self._header(start)
        key = self._dotted("=")
        self._expect("=")
        self._at = _match_end(_BLANK, self._text, self._at)
        begin = self._at
        self._value()
        end = self._at
        self._end_of_line()
        line, column = self._place(start)
        return Statement("key", (*self._table, *key), self._table, line, column, start, begin, end)

    def _header(self, start: int) -> Statement:
        double = self._text.startswith("[[", start)
        self._at += 2 if double else 1
        path = self._dotted("]")
        self._expect("]]" if double else "]")
        end = self._at
        self._end_of_line()
        self._table = path
        line, column = self._place(start)
        return Statement("array" if double else "table", path, path, line, column, start, start, end)

    def _dotted(self, until: str) -> Path:
        parts = []
        while True:
            self._at = _match_end(_BLANK, self._text, self._at)
            parts.append(self._simple_key(until))
            self._at = _match_end(_BLANK, self._text, self._at)
            if not self._text.startswith(".", self._at):
                return tuple(parts)
            self._at += 1

    def _simple_key(self, until: str) -> str:
        char = self._text[self._at : self._at + 1]
        if char in ('"', "'"):
            return self._string(multiline=False)
        bare = _BARE.match(self._text, self._at)
        if bare:
            self._at = bare.end()
            return bare[0]
        if char == "\ufeff":
            raise _SyntaxError(self._at, "a byte order mark stands inside the file")
        if char in _SMART:
            raise _SyntaxError(self._at, "typographic quotes are not TOML quotes")
        if char and not char.isascii():
            raise _SyntaxError(self._at, "a key with other letters than A-Z must be quoted")
        raise _SyntaxError(self._at, f"a key was expected before {until!r}")

    def _expect(self, wanted: str) -> None:
        if not self._text.startswith(wanted, self._at):
            here = self._text[self._at : self._at + 1]
            if here and not here.isascii() and here not in _SMART:
                raise _SyntaxError(self._at, "a key with other letters than A-Z must be quoted")
            raise _SyntaxError(self._at, f"{wanted!r} was expected here")
        self._at += len(wanted)

    def _end_of_line(self) -> None:
        self._at = _match_end(_BLANK, self._text, self._at)
        if self._text.startswith("#", self._at):
            self._at = self._line_end(self._at)
        if self._at < len(self._text) and self._text[self._at] not in "\r\n":
            raise _SyntaxError(self._at, "nothing more may stand on this line")

    # -- values -------------------------------------------------------------------------------------------------
    def _value(self) -> None:
        char = self._text[self._at : self._at + 1]
        if char in ('"', "'"):
            self._string(multiline=True)
        elif char in ("[", "{"):
            self._brackets()
        elif char in _SMART and char:
            raise _SyntaxError(self._at, "typographic quotes are not TOML quotes")
        else:
            scalar = re.compile(r"[^\s,#\]}]+(?: \d\d:\d\d[^\s,#\]}]*)?").match(self._text, self._at)
            if scalar is None:
                raise _SyntaxError(self._at, "a value was expected here")
            if not re.fullmatch(r"true|false|[+-]?(?:inf|nan)|[+-]?\d[\w.:+-]*(?: [\d:.Z+-]+)?", scalar[0]):
                raise _SyntaxError(self._at, "a text value must stand in quotes")
            self._at = scalar.end()

    def _brackets(self) -> None:
        """An array or inline table with everything in it."""
        opened, open_at = [self._text[self._at]], self._at
        self._at += 1
        while opened:
            if self._at >= len(self._text):
                raise _SyntaxError(open_at, f"{opened[-1]!r} is never closed")
            char = self._text[self._at]
            if char in ('"', "'"):
                self._string(multiline=True)
                continue
            if char == "#":
                self._at = self._line_end(self._at)
                continue
            if char in "[{":
                opened.append(char)
            elif char in "]}":
                if opened.pop() != {"]": "[", "}": "{"}[char]:
                    raise _SyntaxError(self._at, f"{char!r} does not fit what is open")
            elif char in _SMART:
                raise _SyntaxError(self._at, "typographic quotes are not TOML quotes")
            self._at += 1

    def _string(self, *, multiline: bool) -> str:
        quote, start = self._text[self._at], self._at
        if multiline and self._text.startswith(quote * 3, start):
            end = self._text.find(quote * 3, start + 3)
            if end < 0:
                raise _SyntaxError(start, "the text is never closed")
            self._at = end + 3
            while self._text.startswith(quote, self._at):
                self._at += 1
            return self._text[start + 3 : end]
        self._at += 1
        found: list[str] = []
        while True:
            char = self._text[self._at : self._at + 1]
            if char in ("", "\n"):
                raise _SyntaxError(start, "the text is never closed on this line")
            if char == quote:
                self._at += 1
                return "".join(found)
            found.append(self._escape() if char == "\\" and quote == '"' else char)
            self._at += 1

    def _escape(self) -> str:
        """One escape of a basic string; leaves the cursor on its last character."""
        code = self._text[self._at + 1 : self._at + 2]
        size = {"x": 2, "u": 4, "U": 8}.get(code)
        if size is not None:
            digits = self._text[self._at + 2 : self._at + 2 + size]
            if re.fullmatch(rf"[0-9A-Fa-f]{{{size}}}", digits) and int(digits, 16) < 0x110000:
                self._at += 1 + size
                return chr(int(digits, 16))
        elif code in _ESCAPES:
            self._at += 1
            return _ESCAPES[code]
        raise _SyntaxError(self._at, "a backslash in double quotes must be doubled (or use single quotes)")

    # -- places -------------------------------------------------------------------------------------------------
    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _place(self, at: int) -> tuple[int, int]:
        """1-based line and column of an offset."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts[middle] <= at:
                low = middle
            else:
                high = middle
        return low + 1, at - self._starts[low] + 1

    def _note(self, error: _SyntaxError, start: int) -> None:
        line, column = self._place(min(error.at, len(self._text)))
        begin = self._starts[line - 1]
        text = self._text[begin : self._line_end(begin)].rstrip("\r")
        self.problems.append(Problem(line, column, str(error), _mended(text, str(error))))


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _mended(line: str, reason: str) -> str | None:
    """The line as it was probably meant; None when that is not clear."""
    if "typographic" in reason:
        return re.sub("[‘’]", "'", re.sub("[“”]", '"', line))
    if "backslash" in reason:
        return re.sub(r'"([^"]*)"', lambda m: "'" + m[1] + "'" if "\\" in m[1] else m[0], line)
    if "must be quoted" in reason and "=" not in line:
        return re.sub(r"([^\s.\[\]\"']*[^\x00-\x7f][^\s.\[\]\"']*)", r'"\1"', line)
    if "byte order mark" in reason:
        return line.replace("\ufeff", "")
    if "must stand in quotes" in reason:
        key, _, value = line.partition("=")
        bare, hash_, comment = value.strip().partition("#")
        return f'{key.rstrip()} = "{bare.strip()}"' + (f"  {hash_}{comment}" if hash_ else "")
    return None
