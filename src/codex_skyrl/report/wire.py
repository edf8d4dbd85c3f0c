"""The answer a model is asked for: no field of ours (verified, agrees) is in its hands. All fields required."""

from pydantic import BaseModel, ConfigDict, Field

from codex_skyrl.report.model import Bottleneck, Cause


class Wire(BaseModel):
    """Base: closed objects, no coercion, no NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class WireCitation(Wire):
    evidence: str = Field(description="an evidence id such as E3 or C12")
    quote: str = Field(description="words copied verbatim from that evidence")


class WireClaim(Wire):
    text: str
    citations: list[WireCitation]
    commands: list[str] = Field(default=[], description="read-only shell commands that confirm or refute the claim")


class WireAnswer(Wire):
    question: int = Field(ge=1, le=6)
    claims: list[WireClaim]


class WireExperiment(Wire):
    knob: str
    from_value: str
    to_value: str
    steps: int = Field(ge=1, le=20)
    compare: list[str]
    predicted: str


class WireReport(Wire):
    bottleneck: Bottleneck
    cause: Cause
    summary: str
    answers: list[WireAnswer] = Field(min_length=6, max_length=6, description="questions 1 to 6, in order")
    experiment: WireExperiment
