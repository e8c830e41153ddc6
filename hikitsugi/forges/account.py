"""Who we are on a forge, and the client that asks in our name."""

import logging
from abc import ABC, abstractmethod

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.forges.client import ForgeClient

_log = logging.getLogger(__name__)


class Account(ABC):
    """An account on a forge; whose token we have is asked once."""

    def __init__(self, client: ForgeClient, username: str | None) -> None:
        self._client = client
        self._username = username
        self._login: str | None = None
        self._names: frozenset[str] | None = None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def whoami(self) -> str:
        """The configured user name, or the one the token belongs to."""
        return self._username or await self._owner()

    async def our_names(self) -> frozenset[str]:
        """The configured user name and the one the token belongs to, in lower case; none where we may not know."""
        if self._names is None:
            names = (self._username, await self._known_owner())
            self._names = frozenset(name.casefold() for name in names if name)
        return self._names

    @abstractmethod
    async def _ask_name(self) -> str:
        """Ask the forge whose token we have."""

    async def _owner(self) -> str:
        if self._login is None:
            self._login = await self._ask_name()
        return self._login

    async def _known_owner(self) -> str | None:
        """Whose token we have; None where it may not ask."""
        forge, configured = self._client.forge, self._username
        try:
            owner = await self._owner()
        except WillNeverWork as error:
            if configured is None:
                told = "our name on forge %r is unknown, the hidden marker alone tells our comments: %s"
                _log.warning(told, forge, error)
            return None
        if configured and configured.casefold() != owner.casefold():
            told = "the token of forge %r belongs to %r, but %r is configured: comments of both are taken for ours"
            _log.warning(told, forge, owner, configured)
        return owner


def is_own(comment: Comment, names: frozenset[str]) -> bool:
    """Whether it is under one of our names; where none is known, the hidden marker decides."""
    return comment.author.casefold() in names if names else comment.is_ours
