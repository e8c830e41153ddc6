"""Keeps the board in step with the forge, for repositories whose issues external agents work on."""

from collections.abc import Collection, Mapping, Sequence

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.board import Board
from hikitsugi.domain.issue import Base, Issue, IssueNews
from hikitsugi.domain.ports import Forge
from hikitsugi.domain.selection import Rules


class BoardKeeper:
    """Fills the board where it is empty, and else changes what has changed."""

    def __init__(
        self, forges: Mapping[str, Forge], board: Board, rules: Rules, homes: Collection[RepositoryAddress]
    ) -> None:
        self._forges = forges
        self._board = board
        self._rules = rules
        self._homes = frozenset(homes)

    def keeps(self, home: RepositoryAddress) -> bool:
        """Whether a repository's issues are for external agents."""
        return home in self._homes

    async def keep(self, home: RepositoryAddress, news: Sequence[IssueNews], *, afresh: bool) -> list[Issue]:
        """Show the news of one look; the issues that were closed."""
        forge = self._forges[home.forge]
        base = await forge.read_base(home)
        seen = _issues_in(news)
        if afresh or not await self._board.is_filled(home):
            await self._fill(home, base, seen if afresh else await forge.list_open_issues(home))
        else:
            await self._board.set_base(home, base)
            await self._change(home, base, seen)
        return [issue for issue in seen if not issue.is_open]

    async def fill(self, home: RepositoryAddress) -> None:
        """Show everything anew, whatever was shown before and by whose rules."""
        forge = self._forges[home.forge]
        await self._fill(home, await forge.read_base(home), await forge.list_open_issues(home))

    async def _fill(self, home: RepositoryAddress, base: Base, seen: Sequence[Issue]) -> None:
        """One step for everything, so that no half of it is ever seen alone."""
        cards = [card for issue in seen if (card := self._rules.development_card(issue, base))]
        waiting = [issue for issue in seen if self._waits(issue)]
        requests = await self._forges[home.forge].list_change_requests(home) if waiting else []
        reviews = self._rules.review_cards(waiting, requests, base)
        await self._board.fill(home, base, [*cards, *reviews], waiting)

    async def _change(self, home: RepositoryAddress, base: Base, seen: Sequence[Issue]) -> None:
        if not seen:
            return
        waited = [issue.address for issue in await self._board.waiting(home)]
        for issue in seen:
            if self._waits(issue):
                await self._board.keep_waiting(issue)
            elif card := self._rules.development_card(issue, base):
                await self._board.put(card)
            else:
                await self._board.remove(issue.address)
        if any(issue.address.kind is not Kind.ISSUE or self._waits(issue) or issue.address in waited for issue in seen):
            await self._change_reviews(home, base, waited)

    async def _change_reviews(self, home: RepositoryAddress, base: Base, waited: Collection[IssueAddress]) -> None:
        """Show the requests to be reviewed, and no other; however many there are, they come in one list."""
        waiting = await self._board.waiting(home)
        if not waiting and not waited:
            return
        requests = await self._forges[home.forge].list_change_requests(home)
        cards = {card.address: card for card in self._rules.review_cards(waiting, requests, base)}
        for request in requests:
            if card := cards.get(request.address):
                await self._board.put(card)
            else:
                await self._board.remove(request.address)

    def _waits(self, issue: Issue) -> bool:
        return issue.address.kind is Kind.ISSUE and self._rules.awaits_review(issue)


def _issues_in(news: Sequence[IssueNews]) -> list[Issue]:
    return [each.issue for each in news if each.issue]
