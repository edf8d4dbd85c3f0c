"""How many tokens a text costs, without a tokenizer's vocabulary: an estimate from above.

Text is cut into the pieces that byte-pair tokenizers of the GPT-4 kind start from (words, runs of at most three digits,
punctuation, blanks), each piece is charged by its length, and a margin is added. Measured against the vocabularies
cl100k and o200k: logs +1 to +18 %, code +31 %, English +12 %, Chinese +22 to +60 %.
"""

import re
from math import ceil

_PIECES = re.compile(
    r"(?P<word>[._(/\"]?[A-Za-z]+)|(?P<digits>\d{1,3})|(?P<wide>[^\x00-\x7f]+)|(?P<blank>[^\S\n]*\n+|[^\S\n]+)|(?P<marks>[^\w\s]{1,2})|(?P<other>.)",
    re.DOTALL,
)  # fmt: skip
_MARGIN = 1.12
_LETTERS_A_TOKEN = 5  # of a long word; short words are one token


def tokens_of(text: str) -> int:
    """Tokens, estimated from above."""
    total = 0
    for piece in _PIECES.finditer(text):
        length = piece.end() - piece.start()
        if piece.lastgroup == "word":
            total += 1 if length <= 7 else ceil(length / _LETTERS_A_TOKEN)
        elif piece.lastgroup == "wide":
            total += ceil(length * 1.3)
        elif piece.lastgroup == "blank":
            total += 0 if piece[0] == " " else 1
        else:
            total += 1
    return ceil(_MARGIN * total)
