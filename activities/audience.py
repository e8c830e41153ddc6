"""Whose words count on an issue."""

from collections.abc import Collection

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import GHOST, Comment
from hikitsugi.domain.ports import Forge
from hikitsugi.messages.comments import DONE_HEADINGS


class Audience:
    """Decides by the settings and by what the forge says of a person now."""

    def __init__(
        self,
        forge: Forge,
        home: RepositoryAddress,
        issue_author: str,
        accept_from: Collection[str],
        maintainers: dict[str, bool] | None = None,
    ) -> None:
        self._forge = forge
        self._home = home
        self._issue_author = issue_author.casefold()
        self._accept_from = frozenset(name.casefold() for name in accept_from)
        self._maintainers = {} if maintainers is None else maintainers

    async def hears(self, comment: Comment) -> bool:
        """Whether the comment is by an accepted person; our own never is."""
        if comment.is_operators:
            return True
        if await self._is_ours(comment):
            return False
        author = comment.author.casefold()
        if self._accept_from & {"anyone", author}:
            return True
        if "author" in self._accept_from and author == self._issue_author != GHOST:
            return True
        return "maintainers" in self._accept_from and await self._maintains(comment.author)

    async def said(self, comment: Comment) -> bool:
        """Whether the comment is a result of ours: by our user, with our marker, under its heading."""
        by_us = comment.is_ours and await self._is_ours(comment)
        return by_us and comment.body.startswith(DONE_HEADINGS)

    async def _is_ours(self, comment: Comment) -> bool:
        """By our user names; by the marker alone where the forge does not tell us any."""
        names = await self._forge.our_names()
        return comment.author.casefold() in names if names else comment.is_ours

    async def _maintains(self, user: str) -> bool:
        if user not in self._maintainers:
            self._maintainers[user] = await self._forge.may_write(self._home, user)
        return self._maintainers[user]


async def our_name(forge: Forge) -> str | None:
    """The name we are called by; None where the forge does not tell."""
    try:
        return await forge.whoami()
    except WillNeverWork:
        return None
