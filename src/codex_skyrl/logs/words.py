"""The words without which a line means nothing, and the search for all of them at once."""

import re
from collections.abc import Iterable
from itertools import islice, zip_longest
from typing import Protocol

from codex_skyrl.logs.formats.registry import HINTS
from codex_skyrl.logs.formats.sandbox_server import FINE
from codex_skyrl.logs.payload import MARKER, RULE
from codex_skyrl.logs.traceback import CHAIN, START

_BUCKETS = 16


def _arranged(words: Iterable[str]) -> tuple[str, ...]:
    """The searcher's first look compares the first four bytes of every 16th word at once: so those shall be alike."""
    alike = sorted(set(words), key=lambda word: word.encode()[3::-1])
    groups = [alike[len(alike) * n // _BUCKETS : len(alike) * (n + 1) // _BUCKETS] for n in range(_BUCKETS)]
    groups.sort(key=len, reverse=True)
    return tuple(word for rank in zip_longest(*groups) for word in rank if word is not None)


# What formats look for, what state is kept about, Ray's suffix, docker's JSON, and a wrapper's date at the beginning of a line.
# At most 64 words of at least 4 bytes: that is where the searcher is quick.
WORDS = _arranged([*HINTS, START, CHAIN, MARKER, RULE, "x across cluster]", '"log"', "\n202", "\n203"])
_WANTED = re.compile("|".join(map(re.escape, WORDS)).encode())
ESCAPE = re.compile(rb"(?<![\n)])\x1b")  # after a line feed or a Ray prefix it breaks no word


def wanted(line: bytes) -> bool:
    """Whether a line, without its line feed, must be looked at."""
    behind = b"\n" + line
    if ESCAPE.search(behind) is not None:
        return True
    found = [m.start() for m in islice(_WANTED.finditer(behind), 2)]
    return len(found) > 1 or (len(found) == 1 and FINE.match(behind, found[0]) is None)


class Searcher(Protocol):
    """Finds words in bytes."""

    def find_matches_as_indexes(self, haystack: bytes) -> list[tuple[int, int, int]]:
        """(number of the word, start, stop) of each, from left to right, none over another."""
        ...


class _Slow:
    """The same hits by regular expression: where the library is missing, as on a node that is only read from."""

    _number = {word.encode(): number for number, word in enumerate(WORDS)}  # noqa: RUF012

    def find_matches_as_indexes(self, haystack: bytes) -> list[tuple[int, int, int]]:
        return [(self._number[m[0]], m.start(), m.end()) for m in _WANTED.finditer(haystack)]


def searcher() -> Searcher:
    """Aho-Corasick with SIMD where the library is there."""
    try:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind
    except ImportError:
        return _Slow()
    return BytesAhoCorasick([w.encode() for w in WORDS], matchkind=MatchKind.LeftmostFirst)
