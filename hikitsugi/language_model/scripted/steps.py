"""Scripts written as a YAML list of steps."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from hikitsugi.language_model.scripted.answers import Answer, Breakage, Fail, Reaction, fail, first, say, think, use
from hikitsugi.language_model.scripted.request import Request


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class When(_Strict):
    """What a request must be like for a step to fit; what is left out fits all."""

    text: str | None = None
    result: str | None = None
    tool: str | None = None
    turn: int | None = None
    model: str | None = None
    system: str | None = None

    def fits(self, request: Request) -> bool:
        """Whether every given condition holds."""
        return (
            (self.turn is None or self.turn == request.turn)
            and (self.model is None or self.model == request.model)
            and (self.text is None or self.text in request.text)
            and (self.system is None or self.system in request.system)
            and self._fits_results(request)
        )

    def _fits_results(self, request: Request) -> bool:
        if self.tool is None and self.result is None:
            return True
        return any(self.tool in {None, found.tool} and (self.result or "") in found.text for found in request.results)


class HttpError(_Strict):
    """An HTTP error."""

    status: int = Field(ge=400, le=599)
    message: str = ""
    retry_after: float | str | None = None
    code: str | None = None

    def reaction(self) -> Fail:
        """The error as a reaction."""
        return fail(self.status, self.message, retry_after=self.retry_after, code=self.code)


class StreamError(_Strict):
    """An error event inside a stream."""

    stream_error: str


def _as_error(given: object) -> object:
    return {"status": given} if isinstance(given, int) else given


Failure = Annotated[HttpError | StreamError | Literal["cut", "early_eof", "stall"], BeforeValidator(_as_error)]
Calls = dict[str, dict[str, JsonValue]]


class Step(_Strict):
    """One step: when it fits, and what to do then."""

    when: When = When()
    times: int | None = Field(default=None, gt=0)
    think: str | None = None
    say: str | None = None
    use: Calls | list[Calls] = Field(default_factory=list[Calls])
    stop_reason: str | None = None
    fail: Failure | None = None
    delay: float = Field(default=0, ge=0)

    def reaction(self) -> Answer | Fail:
        """What the step does."""
        if isinstance(self.fail, HttpError):
            return self.fail.reaction().delayed(self.delay)
        answer = Answer(stop_reason=self.stop_reason, delay=self.delay, breakage=_breakage(self.fail))
        answer += think(self.think) if self.think else Answer()
        answer += say(self.say) if self.say else Answer()
        calls = self.use if isinstance(self.use, list) else [self.use]
        return sum((use(tool, **given) for call in calls for tool, given in call.items()), start=answer)


def _breakage(failure: StreamError | Literal["cut", "early_eof", "stall"] | None) -> Breakage | None:
    if isinstance(failure, StreamError):
        return Breakage("error", failure.stream_error)
    return Breakage(failure) if failure else None


class Steps:
    """A script of steps: the first that fits is taken, one with `times` only so often for the same request."""

    def __init__(self, steps: list[Step]) -> None:
        self._steps = steps

    def __call__(self, request: Request) -> Reaction:
        """What the steps do about a request."""
        reaction: Reaction = fail(400, f"the model's script has no step for turn {request.turn} that fits the request")
        for step in reversed([step for step in self._steps if step.when.fits(request)]):
            reaction = first(step.times, step.reaction(), then=reaction) if step.times else step.reaction()
        return reaction
