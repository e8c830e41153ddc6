"""What an agent is told with its task: the facts, and a prompt made from them here, so that clients stay thin."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from activities.audience import Audience
from hikitsugi.board.board import RedisBoard
from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import HikitsugiError, WillNeverWork
from hikitsugi.domain.issue import Base, Comment, Issue
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge
from hikitsugi.domain.selection import Card, Rules, TaskType
from hikitsugi.domain.value import Value
from hikitsugi.language_model.prompts.tasks import Told, task_prompt

Instructions = Callable[[RepositoryAddress, str], Awaitable[str]]
"""What a repository asks of agents at a commit."""

_log = logging.getLogger(__name__)
_PERMISSIONS_LAST = timedelta(minutes=5)


class Surroundings(Value):
    """What a prompt tells beside the issue itself."""

    base: str
    conversation: tuple[Comment, ...] | None
    instructions: str


class Task(Value):
    """A task as the agent gets it."""

    issue_id: int
    issue_url: str
    title: str
    body: str
    labels: tuple[str, ...]
    branch_name: str
    required_role: str
    task_type: TaskType
    prompt: str
    lease_id: str
    lease_expires_at: datetime
    repository: str
    forge: str


class Briefing:
    """Makes tasks from what board, forge and workflow know."""

    def __init__(
        self,
        board: RedisBoard,
        forges: Mapping[str, Forge],
        accepted: Mapping[str, Sequence[str]],
        rules: Rules,
        language: Language,
        templates: Mapping[str, Path],
        instructions: Instructions | None = None,
    ) -> None:
        self._board = board
        self._forges = forges
        self._accepted = accepted
        self._rules = rules
        self._language: Language = language
        self._templates = templates
        self._instructions = instructions
        self._maintainers: dict[RepositoryAddress, dict[str, bool]] = {}
        self._known_until = 0.0

    @asynccontextmanager
    async def about(self, card: Card, base: Base | None) -> AsyncGenerator[Awaitable[Surroundings]]:
        """Read what surrounds a task while it is being claimed; not needed, it is given up."""
        reading = asyncio.create_task(self._surroundings(card, base))
        try:
            yield reading
        finally:
            reading.cancel()

    async def _surroundings(self, card: Card, base: Base | None) -> Surroundings:
        conversation, instructions = await asyncio.gather(self._conversation(card), self._asked_of_agents(card, base))
        return Surroundings(base=base.branch if base else "", conversation=conversation, instructions=instructions)

    def task(self, card: Card, lease: Lease, handover: str | None, around: Surroundings) -> Task:
        """A task that has just been given."""
        told = Told(card=card, lease=lease, handover=handover, **dict(around))
        own = self._templates.get(card.address.repository)
        return Task(
            issue_id=card.address.number,
            issue_url=card.url,
            title=card.title,
            body=card.body,
            labels=card.labels,
            branch_name=lease.branch,
            required_role=card.role,
            task_type=card.task_type,
            prompt=task_prompt(self._language, told, own),
            lease_id=lease.id,
            lease_expires_at=lease.expires_at,
            repository=card.address.repository,
            forge=card.address.forge,
        )

    async def again(self, issue: IssueAddress, lease: Lease, handover: str | None) -> Task:
        """A task that the agent has already; what the board no longer shows is read from the forge."""
        if issue.forge not in self._forges:
            raise WillNeverWork(f"{issue.forge} is not among the forges any more")
        card = await self._board.card(issue)
        if card is None:
            seen = await self._forges[issue.forge].read_issue(issue)
            card = self._as_card(seen, lease)
        around = await self._surroundings(card, await self._board.base(issue.home))
        return self.task(card, lease, handover, around)

    def _as_card(self, seen: Issue, lease: Lease) -> Card:
        is_issue = seen.address.kind is Kind.ISSUE
        return Card(
            **seen.model_dump(include={"title", "body", "url", "author", "labels"}),
            address=seen.address,
            role=self._rules.role_of(seen.labels),
            branch=lease.branch,
            rank=0,
            task_type=TaskType.DEVELOPMENT if is_issue else TaskType.REVIEW,
        )

    async def _conversation(self, card: Card) -> tuple[Comment, ...] | None:
        """What accepted people said; None when the forge does not tell, which keeps nobody from working."""
        forge, home = self._forges[card.address.forge], card.address.home
        accepted = self._accepted[card.address.forge]
        audience = Audience(forge, home, card.author, accepted, self._maintainers_of(home))
        try:
            said = await forge.read_comments(card.address, on_lines=card.task_type is TaskType.REVIEW)
            return tuple([comment for comment in said if await audience.hears(comment)])
        except HikitsugiError:
            return None

    def _maintainers_of(self, home: RepositoryAddress) -> dict[str, bool]:
        """What is known of people; asked anew after some minutes, not for every task."""
        now = asyncio.get_running_loop().time()
        if now > self._known_until:
            self._maintainers, self._known_until = {}, now + _PERMISSIONS_LAST.total_seconds()
        return self._maintainers.setdefault(home, {})

    async def _asked_of_agents(self, card: Card, base: Base | None) -> str:
        """The repository's instructions; without them the work can be done as well."""
        if self._instructions is None or base is None:
            return ""
        try:
            return await self._instructions(card.address.home, base.commit)
        except HikitsugiError as error:
            _log.warning("the instructions of %s cannot be read: %s", card.address.home, error)
            return ""
