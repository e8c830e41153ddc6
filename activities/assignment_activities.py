"""Steps around the lease of an external agent: what forge and board are shown of it."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping

from temporalio import activity

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import BUSY, IN_REVIEW, Claim, Outcome, Settlement
from hikitsugi.domain.board import Board, Held
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.ports import Forge
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.selection import TaskType, folded
from hikitsugi.domain.value import Value
from hikitsugi.messages import assignments


class Prepare(Value):
    """Let branch, labels and board know of a lease."""

    issue: IssueAddress
    claim: Claim
    lease: Lease
    was_reviewed: bool = False
    """Whether the issue waited for a review, so that its labels must be read anew."""


class Settle(Value):
    """Let labels, people and board know that a lease is over."""

    issue: IssueAddress
    claim: Claim
    settlement: Settlement
    again: bool
    """Whether the issue can be given to another agent at once."""


class Offer(Value):
    """Let the board give an issue again."""

    issue: IssueAddress


class AssignmentActivities:
    """Forge and board, as leases need them."""

    def __init__(self, forges: Mapping[str, Forge], board: Board, redact: Redactor) -> None:
        self._forges = forges
        self._board = board
        self._redact = redact

    @activity.defn
    async def prepare_assignment(self, request: Prepare) -> None:
        """The board, which knows whether the agent has another task; then branch and labels at the same time."""
        issue, claim, forge = request.issue, request.claim, self._forges[request.issue.forge]
        if not await self._board.hold(_held(request), claim.shelf):
            raise WillNeverWork(BUSY)
        if request.was_reviewed:
            await self._must_be_open_again(request)
        steps = [forge.change_labels(issue, add=[claim.terms.labels.in_progress, claim.agent], remove=[])]
        if claim.task_type is TaskType.DEVELOPMENT:
            steps.append(forge.ensure_branch(issue.home, claim.branch, claim.base_commit))
        await _all_of(steps)

    async def _must_be_open_again(self, request: Prepare) -> None:
        now = await self._forges[request.issue.forge].read_issue(request.issue)
        if not now.is_open or request.claim.terms.labels.needs_review.casefold() in folded(now.labels):
            raise WillNeverWork(IN_REVIEW)

    @activity.defn
    async def has_evidence(self, request: Prepare) -> bool:
        """Whether the agent's branch holds commits beyond the base, or a request was made from it."""
        issue, claim, forge = request.issue, request.claim, self._forges[request.issue.forge]
        if claim.task_type is TaskType.REVIEW:
            return False
        if await forge.has_commits(issue.home, claim.branch, claim.base):
            return True
        return await forge.find_change_request(issue.home, claim.branch) is not None

    @activity.defn
    async def settle_assignment(self, request: Settle) -> None:
        """Labels off, and on the one for a review; a note where people should know; then the board."""
        issue, settlement, forge = request.issue, request.settlement, self._forges[request.issue.forge]
        names = request.claim.terms.labels
        done = [names.needs_review] if settlement.outcome is Outcome.COMPLETED else []
        await forge.change_labels(issue, add=done, remove=[names.in_progress, settlement.agent])
        if settlement.is_told:
            note = assignments.lease_ended(request.claim.terms.language, settlement)
            await forge.post_comment(issue, self._redact(note), f"lease-{settlement.lease}-{settlement.outcome}")
        await self.clear_board(request)

    @activity.defn
    async def clear_board(self, request: Settle) -> None:
        """Let the board alone know, where the forge refuses to show it."""
        if request.settlement.outcome is Outcome.COMPLETED:
            await self._board.remove(request.issue)
        await self._board.let_go(request.issue, request.settlement.agent, again=request.again)

    @activity.defn
    async def offer_again(self, request: Offer) -> None:
        """Put the issue back on the board."""
        await self._board.let_go(request.issue, "", again=True)


def _held(request: Prepare) -> Held:
    lease = request.lease
    return Held(
        lease_id=lease.id,
        agent_id=lease.agent,
        issue=request.issue,
        branch_name=lease.branch,
        lease_expires_at=lease.expires_at,
    )


async def _all_of(steps: Iterable[Awaitable[None]]) -> None:
    """Take all to their end before the first failure is told, so that nothing happens after it."""
    for failure in await asyncio.gather(*steps, return_exceptions=True):
        if failure:
            raise failure
