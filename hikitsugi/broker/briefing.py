"""What an agent is told with its task: the facts, and a prompt made from them here, so that clients stay thin."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from activities.audience import Audience
from hikitsugi.board.board import RedisBoard
from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.errors import HikitsugiError
from hikitsugi.domain.issue import Base, Comment, Issue
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge
from hikitsugi.domain.selection import Card, Rules, TaskType
from hikitsugi.domain.value import Value
from hikitsugi.language_model.prompts.tasks import Told, task_prompt

Instructions = Callable[[RepositoryAddress, Base], Awaitable[str]]


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

    async def task(self, card: Card, lease: Lease, handover: str | None) -> Task:
        """A task that has just been given."""
        base = await self._board.base(card.address.home) or Base(branch="", commit="")
        told = Told(
            card=card,
            lease=lease,
            base=base.branch,
            conversation=await self._conversation(card),
            handover=handover,
            instructions=await self._instructions(card.address.home, base) if self._instructions else "",
        )
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
        card = await self._board.card(issue)
        if card is None:
            seen = await self._forges[issue.forge].read_issue(issue)
            card = self._as_card(seen, lease)
        return await self.task(card, lease, handover)

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

    async def _conversation(self, card: Card) -> list[Comment] | None:
        """What accepted people said; None when the forge does not tell, which keeps nobody from working."""
        forge = self._forges[card.address.forge]
        audience = Audience(forge, card.address.home, card.author, self._accepted[card.address.forge])
        try:
            return [c for c in await forge.read_comments(card.address) if await audience.hears(c)]
        except HikitsugiError:
            return None
