"""Makes foreign text safe to show: logs, paths and model answers may carry control or hidden characters.

Owns which characters are shown as escapes. It knows nothing of width, language or output format.
"""

import unicodedata

_TAB = "    "
_HIDDEN_CATEGORIES = frozenset({"Cf", "Cs", "Cn", "Zl", "Zp"})
# Not of category Cf, yet drawn as nothing: fillers, joiners, and the selectors used to smuggle text.
_HIDDEN = frozenset([0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0])
_SELECTORS = (range(0xFE00, 0xFE0F), range(0xE0100, 0xE01F0))
_EMOJI_SELECTOR = "\ufe0f"  # dropped: terminals disagree about the width it gives


def neutral(text: str) -> str:
    r"""`text` with nothing left that a terminal, an editor or a reader's eye could be led astray by.

    Control bytes become `\x1b`, hidden and direction-changing characters `<U+202E>`; line feeds stay, tabs
    become spaces. Ordinary text of any script is returned as it is.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text.replace("\r\n", "\n"))


def _shown(char: str) -> str:
    code = ord(char)
    if char == "\n":
        return char
    if char == "\t":
        return _TAB
    if char == _EMOJI_SELECTOR:
        return ""
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    return f"<U+{code:04X}>" if _hidden(char, code) else char


def _hidden(char: str, code: int) -> bool:
    if code < 0x80:
        return False
    return (
        code in _HIDDEN
        or any(code in selectors for selectors in _SELECTORS)
        or unicodedata.category(char) in _HIDDEN_CATEGORIES
    )
