"""What is shown of an issue: its label on the forge, and its search attributes, memo and text in the Web UI."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate
from temporalio.exceptions import ActivityError

from activities.forge_activities import ForgeActivities, ShowState
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.commands import Word
from hikitsugi.domain.labels import Wish
from hikitsugi.domain.life import Life
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.states import State
from hikitsugi.messages import operators, plans
from hikitsugi.messages.commands import spelled
from workflows import limits
from workflows.patience import Patience

STATE = SearchAttributeKey.for_keyword("HikitsugiState")
REPOSITORY = SearchAttributeKey.for_keyword("HikitsugiRepository")
PHASE = SearchAttributeKey.for_keyword("HikitsugiPhase")
AGENT = SearchAttributeKey.for_keyword("HikitsugiAgent")
COST_USD = SearchAttributeKey.for_float("HikitsugiCostUsd")


class Display:
    """Lets forge and Web UI tell the same about an issue."""

    def __init__(self, issue: IssueAddress, life: Life, patience: Patience) -> None:
        self._issue = issue
        self._life = life
        self._patience = patience
        patience.show = self._show_limit
        self._labels = asyncio.Lock()
        self._waiting_for = operators.prepares(life.policy.language)
        self._phase: Phase | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called whenever people on the issue should be told something."""
        self.obey: Callable[[Wish], bool] = lambda _: False
        """Called with what a label asks for; False when there is nothing to grant."""

    async def show(self, state: State) -> None:
        """Change the state everywhere; where the forge refuses, it stays as it was."""
        before, self._life.state = self._life.state, state
        self.changed()
        self.index()
        self.refresh()
        try:
            async with self._labels:
                await self._label(state)
        except ActivityError:
            if self._life.state is state:
                self._life.state = before
            raise
        self._life.trouble = None

    async def _label(self, state: State) -> None:
        """Move the label; what somebody asked for by another one meanwhile is obeyed first."""
        was, self._life.shown = self._life.shown, None
        request = ShowState(issue=self._issue, state=state, labels=self._life.policy.labels, was=was)
        summary = f"label: {state}"
        wish = await self._patience.take(ForgeActivities.show_state, request, limits.FORGE, summary)
        if wish and self.obey(wish):
            return
        if wish:
            anyway = request.model_copy(update={"was": None})
            await self._patience.take(ForgeActivities.show_state, anyway, limits.FORGE, summary)
        self._life.shown = state

    @property
    def is_changing(self) -> bool:
        """Whether the labels are on their way to another state."""
        return self._labels.locked()

    @property
    def comes_next(self) -> str:
        """What was said last to come next."""
        return self._waiting_for

    def wait_for(self, what: str) -> None:
        """Say what comes next."""
        self._waiting_for = what
        self.refresh()

    def wait_for_people(self, what: str) -> None:
        """Say what people are asked for, on the issue too."""
        if what != self._waiting_for:
            self.wait_for(what)
            self.changed()

    def rest(self, until: datetime, state: State) -> None:
        """Say what calls for the next session."""
        language, is_closed = self._life.policy.language, self._life.is_known_closed
        retry = spelled(Word.RETRY, self._life.mention) if state is State.FAILED else ""
        self.wait_for(operators.rests(language, until, is_closed=is_closed, retry=retry))

    @property
    def is_limited(self) -> bool:
        """Whether the forge or the model asked us to stay away."""
        return self._patience.limit is not None

    @property
    def waiting_for(self) -> str:
        """What comes next, or the limit that has to pass first."""
        return self.with_pause(self._patience.limit or self._waiting_for)

    def with_pause(self, what: str) -> str:
        """What is under way, and the pause after it if one was asked for."""
        will_pause = self._life.session is not None and self._life.hold and self._life.state is State.PROCESSING
        return operators.then_pauses(self._life.policy.language, what) if will_pause else what

    def show_plan(self) -> None:
        """Let the Web UI tell the plan, and make the issue findable by its phase."""
        session = self._life.session
        if session and session.phase is not self._phase:
            self.index()
        self.refresh()
        self.changed()

    def _show_limit(self) -> None:
        self.refresh()
        self.changed()

    def refresh(self) -> None:
        """Let the Web UI tell how things stand."""
        workflow.set_current_details(
            operators.details(
                self._life.policy.language,
                title=self._life.title or self._issue.short,
                url=self._life.called.url if self._life.called else "",
                state=self._life.state,
                waiting_for=self.waiting_for,
                change_request=self._life.change_request,
                error=self._life.problem,
                plan=self._plan,
            )
        )

    @property
    def _plan(self) -> str:
        session = self._life.session
        return plans.checklist(self._life.policy.language, session.plan) if session and session.plan.actions else ""

    def index(self) -> None:
        """Make the issue findable by state, phase, repository and cost."""
        cost = self._life.spending.cost_usd
        self._phase = self._life.session.phase if self._life.session else None
        updates: list[SearchAttributeUpdate[str] | SearchAttributeUpdate[float]] = [
            STATE.value_set(self._life.state),
            REPOSITORY.value_set(self._issue.repository),
            PHASE.value_set(self._phase) if self._phase else PHASE.value_unset(),
            COST_USD.value_unset() if cost is None else COST_USD.value_set(cost),
        ]
        if assignment := self._life.assignment:
            updates.append(AGENT.value_set(assignment.lease.agent) if assignment.lease else AGENT.value_unset())
        workflow.upsert_search_attributes(updates)  # pyright: ignore[reportUnknownMemberType] - generic left open there

    def remember(self, title: str, url: str) -> None:
        """Keep what identifies the issue to a person; it survives continue-as-new."""
        workflow.upsert_memo({"title": title, "url": url})
