"""Which form of structured answer a gateway knows: json_schema, json_object, or plain text; remembered for some days."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

Form = Literal["json_schema", "json_object", "text"]
FORMS: tuple[Form, ...] = ("json_schema", "json_object", "text")
_FORGET_S = 7 * 86_400.0  # gateways learn


class KnownForms:
    """A small file: {"base_url model wire": [form, seconds since 1970]}. One that cannot be read or written is no harm."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path, self._now = path, now

    def to_try(self, where: str) -> list[Form]:
        """The forms from the one that worked last on."""
        form, at = self._read().get(where, ("json_schema", 0.0))
        fresh = self._now() - at < _FORGET_S
        return list(FORMS[FORMS.index(form) :] if fresh and form in FORMS else FORMS)

    def worked(self, where: str, form: Form) -> None:
        """Remember it, unless it is the first choice anyway."""
        known = self._read()
        known.pop(where, None)
        if form != FORMS[0]:
            known[where] = (form, self._now())
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.write_text(json.dumps(known, indent=1), encoding="utf-8")
        except OSError:
            pass

    def _read(self) -> dict[str, tuple[Any, float]]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(where): (form, float(at)) for where, (form, at) in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
