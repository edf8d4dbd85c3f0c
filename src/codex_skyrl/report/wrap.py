"""Where a line may be broken: English at spaces, Chinese between characters, paths at slashes, commands.

Widths are terminal cells (a Chinese character takes two). Pure string work: no styles, no language setting.
"""

import re
from itertools import pairwise

from rich.cells import cell_len

# Closing marks may not start a line, opening ones not end it (the usual rules for Chinese typesetting).
_NO_START = frozenset("，。、；：！？）】》」』”’…,.;:!?)]}%·—~～")
_NO_END = frozenset("（【《「『“‘([{")
_LINE_FEED = 40
_UNIT = re.compile(r"(?:s|ms|min|h|[kMGT]?B|MiB|GiB|percent|次|条|个|行)\b")
_LONG_BREAK = re.compile(r"(?<=[/=,&?;|_:@.-])(?=\w)")


def breaks(text: str, first: int, rest: int) -> list[int]:
    """Offsets at which to cut `text` (one paragraph) so that each line fits: `first` cells, then `rest`."""
    cuts: list[int] = []
    room = max(first, 1)
    used = 0
    for start, end in _pieces(text, max(rest, 2)):
        needed = cell_len(text[start:end].rstrip(" "))
        if used and used + needed > room:
            cuts.append(start)
            room, used = max(rest, 1), 0
        used += cell_len(text[start:end])
    return cuts


def shorten(text: str, cells: int) -> str:
    """`text` in at most `cells` cells, one … in place of its middle, cut between words where possible.

    A line feed counts as half a line, so that a long traceback is shortened too.
    """
    if _cost(text) <= cells:
        return text
    head = _prefix(text, cells * 2 // 3)
    tail = _prefix(text[::-1], cells - _cost(head) - 3)[::-1]
    space = head.rfind(" ")
    if space > len(head) // 2:
        head = head[:space]
    space = tail.find(" ")
    if 0 <= space < len(tail) // 2:
        tail = tail[space:]
    return f"{head.rstrip()} … {tail.lstrip()}"


def command_lines(command: str, width: int) -> list[str]:
    r"""A shell command over several lines that can be copied as they stand: ` \` at each end.

    Broken only at spaces outside quotes and comments; not at all when a quote stays open at the end. A single
    word wider than `width` stays whole: a copied command that works is worth more than a straight margin.
    """
    words = _shell_words(command)
    if words is None or cell_len(command) <= width:
        return [command]
    lines: list[str] = []
    line = ""
    for word in words:
        joined = f"{line} {word}" if line else word
        # Two cells are kept for the continuation mark.
        if line.strip() and cell_len(joined) > width - 2:
            lines.append(f"{line} \\")
            joined = f"  {word}"
        line = joined
    return [*lines, line]


def _shell_words(command: str) -> list[str] | None:
    """The words with their quotes, a comment as one word; None when a quote or escape is left open."""
    words: list[str] = []
    current, quote, escaped = "", "", False
    for i, char in enumerate(command):
        bare = not quote and not escaped
        if bare and char == "#" and not current:
            return [*words, command[i:]]
        if bare and char == " ":
            words += [current] if current else []
            current = ""
            continue
        if bare and char in "'\"":
            quote = char
        elif quote and char == quote and not escaped:
            quote = ""
        escaped = char == "\\" and not escaped and quote != "'"
        current += char
    if quote or escaped:
        return None
    return [*words, current] if current else words


def _pieces(text: str, width: int) -> list[tuple[int, int]]:
    """Unbreakable stretches as (start, end), each with the spaces after it."""
    cuts = [0, *(i for i in range(1, len(text)) if _may_break(text, i)), len(text)]
    pieces: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        pieces.extend(_split_long(text, start, end, width))
    return pieces


def _may_break(text: str, i: int) -> bool:
    before, after = text[i - 1], text[i]
    if after == " " or after in _NO_START or before in _NO_END:
        return before == " " and after != " "
    if before == " ":
        return not (i >= 2 and text[i - 2].isdigit() and _UNIT.match(text, i))
    return (_wide(before) or _wide(after)) and not (before.isdigit() and _UNIT.match(text, i))


def _wide(char: str) -> bool:
    return ord(char) > 0x2E7F and cell_len(char) == 2


def _split_long(text: str, start: int, end: int, width: int) -> list[tuple[int, int]]:
    """A stretch wider than a line in parts that fit: after a separator where possible, else anywhere."""
    parts: list[tuple[int, int]] = []
    while cell_len(text[start:end].rstrip(" ")) > width:
        limit = start + max(len(_prefix(text[start:end], width)), 1)
        cut = max((m.start() for m in _LONG_BREAK.finditer(text, start + 1, limit + 1)), default=limit)
        cut = cut if start < cut <= limit else limit
        parts.append((start, cut))
        start = cut
    return [*parts, (start, end)] if start < end else parts


def _cost(text: str) -> int:
    return cell_len(text) + _LINE_FEED * text.count("\n")


def _prefix(text: str, cells: int) -> str:
    used = 0
    for i, char in enumerate(text):
        used += _cost(char)
        if used > cells:
            return text[:i]
    return text
