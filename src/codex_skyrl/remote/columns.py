"""Columns of numbers and of words as few bytes, and back: what a row group of an event table is made of.

Numbers become whole ones of a common decimal scale where that loses nothing, their differences where those are smaller, and
take the narrowest type that holds them. Little-endian. What is read is not trusted: lengths are checked.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from math import isfinite, isnan
from typing import Any

_SCALES = (1, 10, 100, 1_000, 1_000_000)
_TYPES = (("b", 1 << 7), ("h", 1 << 15), ("i", 1 << 31), ("q", 1 << 63))
_ABSENT, _BEFORE, _AFTER = 1, 2, 3  # NaN, -inf, +inf
_SPECIAL = {_ABSENT: float("nan"), _BEFORE: float("-inf"), _AFTER: float("inf")}

Form = dict[str, Any]  # JSON: how a column's bytes are to be read


class Broken(ValueError):
    """Bytes that are no column of ours."""


def pack_numbers(values: Sequence[float]) -> tuple[Form, bytes]:
    """Each value exactly, NaN and infinities included; times of the day of microseconds or coarser come out small."""
    mask = bytes(_special(v) for v in values)
    finite = [v for v, special in zip(values, mask, strict=True) if not special]
    form: Form = {"n": len(values), "masked": any(mask)}
    head = mask if form["masked"] else b""
    scale = next((s for s in _SCALES if _whole(finite, s)), None)
    if scale is None:
        return form | {"type": "d"}, head + _bytes(array("d", finite))
    whole = [round(v * scale) for v in finite]
    steps = [whole[0], *(b - a for a, b in pairwise(whole))] if whole else []
    differences = _largest(steps[1:]) < _largest(whole)
    if differences:
        whole = steps
    code = next(code for code, limit in _TYPES if all(-limit <= v < limit for v in whole))
    return form | {"type": code, "scale": scale, "differences": differences}, head + _bytes(array(code, whole))


def unpack_numbers(form: Form, data: bytes) -> list[float]:
    """What `pack_numbers` was given. Raises Broken."""
    count = form["n"]
    mask = data[:count] if form["masked"] else b""
    found = array(form["type"])
    rest = data[len(mask) :]
    if len(rest) % found.itemsize:
        raise Broken("a column is cut")
    found.frombytes(rest)
    if sys.byteorder == "big":
        found.byteswap()
    numbers: Iterable[float] = found
    if form["type"] != "d":
        whole = accumulate(found) if form["differences"] else found
        scale = form["scale"]
        numbers = whole if scale == 1 else (v / scale for v in whole)
    following = iter(numbers)
    if not mask:
        values = [float(v) for v in following]
    else:
        values = [_SPECIAL[special] if special else float(next(following)) for special in mask]
    if len(values) != count:
        raise Broken("a column has the wrong length")
    return values


def _special(value: float) -> int:
    if isfinite(value):
        return 0
    return _ABSENT if isnan(value) else _AFTER if value > 0 else _BEFORE


def _whole(values: Sequence[float], scale: int) -> bool:
    return all(abs(v) < 1e9 * _SCALES[-1] / scale and round(v * scale) / scale == v for v in values)


def _largest(values: Sequence[int]) -> int:
    return max((abs(v) for v in values), default=0)


def _bytes(values: "array[Any]") -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()
