"""What an evaluation failed of, by the words of its error."""


def eval_error_kind(text: str) -> str:
    """Sort an evaluation error: timeout | no_patch | patch_failed | sandbox | other."""
    lowered = text.lower()
    if "timed out" in lowered and "evaluation" in lowered:
        return "timeout"
    if "no git patch" in lowered:
        return "no_patch"
    if "patch" in lowered:
        return "patch_failed"
    if not lowered or any(word in lowered for word in ("runtime", "503", "http", "unavailable", "connection")):
        return "sandbox"
    return "other"
