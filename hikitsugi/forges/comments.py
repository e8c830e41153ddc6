"""What we say on a forge: found again by its hidden marker, so that saying it twice leaves it there once."""

import logging
import re
from abc import abstractmethod
from datetime import timedelta
from http import HTTPStatus

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import HikitsugiError
from hikitsugi.domain.issue import Comment
from hikitsugi.forges.account import Account, is_own
from hikitsugi.forges.client import Answer
from hikitsugi.forges.marker import is_marked, marked

_log = logging.getLogger(__name__)

# An attempt that was reported as failed is looked for this far back; most issues answer that with one short page.
LOOKBACK = timedelta(days=7)


class Comments(Account):
    """Writing, finding and taking back comments of our own."""

    longest_body: int
    ids = re.compile(r"[0-9]+")  # An operator's words have others.

    async def read_comment(self, issue: IssueAddress, comment_id: str) -> Comment | None:
        """The comment as it stands now; None when it is not there any more."""
        if not self.ids.fullmatch(comment_id):
            return None
        answer = await self._client.get(self._place(issue, comment_id), allow={HTTPStatus.NOT_FOUND})
        return None if answer.status == HTTPStatus.NOT_FOUND else self._comment(issue, answer)

    async def post_comment(self, issue: IssueAddress, body: str, key: str) -> Comment:
        """Write a comment that ends with the hidden marker for `key`, unless ours is there already."""
        there = await self._find_own(issue, key)
        if there:
            return there[0]
        answer = await self._client.post(self._thread(issue), {"body": self._text(body, key)})
        return self._written(issue, answer)

    async def edit_comment(self, issue: IssueAddress, comment_id: str, body: str, key: str) -> Comment | None:
        """Replace the text of a comment of ours, which keeps its marker; None when it is not there any more."""
        place, text = self._place(issue, comment_id), self._text(body, key)
        answer = await self._client.update(place, {"body": text}, allow={HTTPStatus.NOT_FOUND})
        return None if answer.status == HTTPStatus.NOT_FOUND else self._written(issue, answer)

    async def reconcile_comment(self, issue: IssueAddress, key: str) -> int:
        """Take back late duplicates of our comment, the first stays; how many there were."""
        late = (await self._find_own(issue, key))[1:]
        for comment in late:
            await self._client.delete(self._place(issue, comment.id), allow={HTTPStatus.NOT_FOUND})
        return len(late)

    async def acknowledge(self, issue: IssueAddress, comment_id: str) -> None:
        """Put 👀 on a comment; one is there however often it is asked."""
        if not self.ids.fullmatch(comment_id):
            return
        try:
            await self._put_eyes_on(issue, comment_id)
        except HikitsugiError as error:
            _log.warning("comment %s of %s got no 👀: %s", comment_id, issue, error)

    async def _find_own(self, issue: IssueAddress, key: str) -> list[Comment]:
        names = await self.our_names()
        recent = await self._recent(issue)
        own = [comment for comment in recent if is_marked(comment.body, key) and is_own(comment, names)]
        return sorted(own, key=lambda comment: int(comment.id))

    def _text(self, body: str, key: str) -> str:
        return marked(body, key, self.longest_body)

    def _written(self, issue: IssueAddress, answer: Answer) -> Comment:
        comment = self._comment(issue, answer)
        if comment is None:
            raise answer.half()
        return comment

    @abstractmethod
    async def _recent(self, issue: IssueAddress) -> list[Comment]:
        """The comments an earlier attempt of ours could be among."""

    @abstractmethod
    async def _put_eyes_on(self, issue: IssueAddress, comment_id: str) -> None:
        """Put 👀 on a comment."""

    @abstractmethod
    def _comment(self, issue: IssueAddress, answer: Answer) -> Comment | None:
        """The comment of an answer; None for what no person wrote."""

    @abstractmethod
    def _thread(self, issue: IssueAddress) -> str:
        """Where the comments of an issue are."""

    @abstractmethod
    def _place(self, issue: IssueAddress, comment_id: str) -> str:
        """Where one comment is."""
