"""How figures look, in every report: one unit each, a dash where nothing is known, never a zero for it.

Knows numbers only; the same in both languages.
"""

DASH = "–"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def count(value: int | None) -> str:
    """A whole number, thousands grouped."""
    return DASH if value is None else f"{value:,}"


def mean(value: float | None) -> str:
    """A mean of counts, one decimal."""
    return DASH if value is None else _tenths(value)


def seconds(value: float | None) -> str:
    """A duration in seconds: two figures below ten, whole seconds above."""
    return DASH if value is None else f"{_bare(value)} s"


def between(bounds: tuple[float, float] | None) -> str:
    """What the input leaves open, in seconds."""
    if bounds is None:
        return DASH
    low, high = (_bare(end) for end in bounds)
    return f"{low} s" if low == high else f"{low}–{high} s"


def bounded(value: float | None, bounds: tuple[float, float] | None) -> str:
    """A duration followed by its bounds; the bounds alone where no single value is known."""
    if bounds is None or _bare(bounds[0]) == _bare(bounds[1]):
        return seconds(value) if value is not None else between(bounds)
    return between(bounds) if value is None else f"{seconds(value)} ({between(bounds)})"


def percent(share: float | None) -> str:
    """A share 0..1 as whole percent; small but not zero shows as `<1%`."""
    if share is None:
        return DASH
    return "<1%" if 0 < share < 0.005 else f"{share * 100:.0f}%"


def change(percents: float | None) -> str:
    """A change already in percent, with its sign."""
    if percents is None:
        return DASH
    whole = f"{percents:+.0f}%"
    return "0%" if whole in ("+0%", "-0%") else whole


def per_minute(value: float | None) -> str:
    """A rate per minute."""
    return DASH if value is None else f"{_tenths(value)}/min"


def size(amount: int) -> str:
    """A file size in decimal units."""
    value = float(amount)
    for unit in _UNITS[:-1]:
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.3g} {_UNITS[-1]}"


def _tenths(value: float) -> str:
    return "<0.1" if 0 < value < 0.05 else f"{value:,.1f}"


def _bare(value: float) -> str:
    if value == 0 or abs(value) >= 9.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.95 else f"{value:.2g}"
