"""The one exception tree. Each error says what is wrong, where, and what to do; the CLI turns it into one message."""


class CodexSkyrlError(Exception):
    """Something the user can act on.

    Args:
        what: one clear sentence, no secret and no log markup in it.
        where: a path, `path:line` or option name, or None.
        fix: the next step, or None when `what` already says it.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" {self.fix}" if self.fix else ""
        return f"{place}{self.what}{advice}"


class InputError(CodexSkyrlError):
    """A path, file or option that cannot be used as given."""

    exit_code = 2


class ConfigError(CodexSkyrlError):
    """A configuration that cannot be read or does not say enough."""

    exit_code = 2


class ModelError(CodexSkyrlError):
    """The model could not be asked, or did not give an answer that can be used."""

    exit_code = 3
