"""Who we are on a forge, and the client that asks in our name."""

import logging
from abc import ABC, abstractmethod

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.forges.client import ForgeClient

_log = logging.getLogger(__name__)


class Account(ABC):
    """An account on a forge; its name is asked once, unless it is configured."""

    def __init__(self, client: ForgeClient, username: str | None) -> None:
        self._client = client
        self._username = username
        self._is_nameless = False

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def whoami(self) -> str:
        """The configured user name, or the one the token belongs to."""
        if self._username is None:
            self._username = await self._ask_name()
        return self._username

    @abstractmethod
    async def _ask_name(self) -> str:
        """Ask the forge whose token we have."""

    async def _me(self) -> str | None:
        """Our name; None where we may not know it."""
        if self._is_nameless:
            return None
        try:
            return await self.whoami()
        except WillNeverWork as error:
            self._is_nameless = True
            _log.warning(
                "our name on forge %r is unknown, the hidden marker alone tells our comments: %s",
                self._client.forge,
                error,
            )
            return None


def is_own(comment: Comment, me: str | None) -> bool:
    """Whether we wrote it; where our name is unknown, the hidden marker decides."""
    return comment.author.casefold() == me.casefold() if me else comment.is_ours
