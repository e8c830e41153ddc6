"""The step that keeps the living comment of a session true."""

from collections.abc import Mapping, Sequence

from temporalio import activity

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Plan
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge, Records
from hikitsugi.domain.progress import Progress, ReportedCall, Trouble, comment_in
from hikitsugi.domain.records import RecordedCall
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.states import State
from hikitsugi.domain.value import Value
from hikitsugi.messages import progress as texts

_PHASES = frozenset(Phase)
_AT_WORK = frozenset({State.PROCESSING, State.PAUSED})


class ShowProgress(Value):
    """Write the living comment, or edit it."""

    issue: IssueAddress
    key: str
    comment: str | None
    """Its id, once it was written."""
    language: Language
    tells_calls: bool
    session: int
    state: str
    phase: Phase | None
    plan: Plan
    waiting_for: str
    cost_usd: float | None
    tokens: int
    llm_calls: int = 0
    """All model calls on the issue, told where the calls of the session are not."""


class ProgressActivities:
    """Tells people how far a session is, from the records."""

    def __init__(self, forges: Mapping[str, Forge], records: Records, redact: Redactor) -> None:
        self._forges = forges
        self._records = records
        self._redact = redact

    @activity.defn
    async def show_progress(self, request: ShowProgress) -> str:
        """The id of the living comment, which now tells the newest; one that somebody deleted is written anew."""
        calls = await self._calls(request) if request.tells_calls else ()
        progress = Progress(
            session=request.session,
            state=request.state,
            phase=request.phase,
            plan=request.plan,
            waiting_for=request.waiting_for,
            calls=calls,
            troubles=await self._troubles(request, calls) if request.tells_calls else (),
            cost_usd=request.cost_usd,
            tokens=request.tokens,
            llm_calls=request.llm_calls,
        )
        body = self._redact(texts.living_comment(request.language, progress))
        forge = self._forges[request.issue.forge]
        told = request.comment and await forge.edit_comment(request.issue, request.comment, body, request.key)
        return (told or await forge.post_comment(request.issue, body, request.key)).id

    async def _calls(self, request: ShowProgress) -> tuple[ReportedCall, ...]:
        made = await self._records.model_calls(request.issue, request.session)
        phased = [call for call in made if call.phase in _PHASES]
        return tuple(_reported(number, call) for number, call in enumerate(phased, start=1))

    async def _troubles(self, request: ShowProgress, made: Sequence[ReportedCall]) -> tuple[Trouble, ...]:
        """What failed; a model call that nobody makes again any more does not say that it is."""
        runs = await self._records.failed_runs(request.issue, request.session)
        tools = [
            Trouble(
                phase=Phase(run.phase),
                tool=run.intent.call.name,
                message=run.outcome.text if run.outcome else "",
                subject=run.subject,
                at=run.begun_at,
            )
            for run in runs
            if run.phase in _PHASES
        ]
        calls = await self._records.failed_calls(request.issue, request.session)
        models = [
            Trouble(
                phase=Phase(call.phase),
                message=call.message,
                at=call.at,
                is_retried=request.state in _AT_WORK or any(other.at > call.at for other in made),
            )
            for call in calls
            if call.phase in _PHASES
        ]
        return (*tools, *models)


def _reported(number: int, call: RecordedCall) -> ReportedCall:
    """What is told of a call; text beside tool calls is the model's comment on them."""
    comment = call.text if call.tools else comment_in(call.text)
    return ReportedCall(number=number, phase=Phase(call.phase), subject=call.subject, comment=comment, at=call.at)
