"""What a failed call means, in one sentence with the next step: body before status, type and code before text."""

from codex_skyrl.context.redact import redact
from codex_skyrl.errors import ModelError
from codex_skyrl.llm.provider import Provider
from codex_skyrl.llm.reading import error_text

_NO_CHANNEL = ("no available channel", "无可用渠道", "model_not_found")
_QUOTA = ("insufficient_quota", "quota", "balance", "余额", "额度")


def explain(error: Exception, provider: Provider) -> ModelError:
    """The error as ours."""
    import openai

    where = provider.base_url
    if isinstance(error, openai.APITimeoutError):
        return ModelError("the gateway did not answer in time.", where=where, fix="Try again, or use a faster model.")
    if not isinstance(error, openai.APIStatusError):
        cause = error.__cause__ or error
        return ModelError(
            f"the gateway cannot be reached ({type(cause).__name__}: {redact(str(cause))[:120]}).",
            where=where,
            fix="Check the address, the proxy and the network.",
        )
    said = redact(error_text(error.body if error.body is not None else error.response.text))
    lowered = said.lower() + str(getattr(error, "code", "") or "").lower()
    status = error.status_code
    if status == 401:
        what = "the gateway refuses the key."
        return ModelError(what, where=where, fix=f"Check the value of {provider.env_key} in this shell.")
    if any(word in lowered for word in _NO_CHANNEL):
        return ModelError(
            f"the gateway does not serve model {provider.model!r} for this key.",
            where=where,
            fix="Choose a model from its own list (GET /models).",
        )
    if "context_length" in lowered or "context length" in lowered:
        return ModelError(
            f"the prompt is too long for the model: {said}",
            where=where,
            fix="Give a smaller --budget-tokens, or use a larger model.",
        )
    if status == 429 and any(word in lowered for word in _QUOTA):
        return ModelError(f"the account's quota is used up: {said}", where=where, fix="Top it up, then try again.")
    if status == 429:
        return ModelError(f"the gateway limits the rate: {said}", where=where, fix="Wait a minute, then try again.")
    if 300 <= status < 400:
        return ModelError(
            f"the gateway redirects (status {status}); the key is not sent along.",
            where=where,
            fix="Use the address it redirects to as base URL, if you trust it.",
        )
    return ModelError(f"the gateway answers with status {status}: {said}", where=where)
