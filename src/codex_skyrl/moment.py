"""The present moment as it is written into files and records."""

from datetime import UTC, datetime


def now_utc() -> str:
    """This moment as `2026-01-31T12:00:00.123Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
