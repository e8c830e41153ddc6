"""Pull and merge requests: looked for before they are made, so that asking twice makes one."""

from abc import abstractmethod
from http import HTTPStatus

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.issue import ChangeRequest, Issue, NewChangeRequest
from hikitsugi.forges.account import Account
from hikitsugi.forges.client import Answer, Json, Parameters

_NO_DRAFTS = "Draft pull requests are not supported"
"""What GitHub says on plans that have none."""


class ChangeRequests(Account):
    """Opening, finding and changing change requests, and the branches they come from."""

    refuses_second_with: HTTPStatus
    refuses_branch_with: HTTPStatus

    async def open_change_request(self, wanted: NewChangeRequest) -> ChangeRequest:
        """The open change request from the head branch, made if there is none; no draft where there are none."""
        found = await self._find_open(wanted)
        if found:
            return found
        answer = await self._client.post(
            self._requests(wanted.home), self._creation(wanted), allow={self.refuses_second_with}
        )
        if answer.status != self.refuses_second_with:
            return self._request(answer)
        if wanted.draft and _NO_DRAFTS in answer.body:
            return await self.open_change_request(wanted.model_copy(update={"draft": False}))
        found = await self._find_open(wanted)
        if not found:
            raise self._client.failure(answer)
        return found

    async def find_change_request(self, home: RepositoryAddress, head: str) -> ChangeRequest | None:
        """The change request from a branch: the open one, else the latest."""
        found = await self._find(home, head, only_open=False)
        return max(found, key=lambda request: (request.is_open, request.number), default=None)

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        """Make a branch where another branch or a commit is; one that is there stays where it is."""
        path, body = await self._new_branch(home, name, from_ref)
        answer = await self._client.post(path, body, allow={self.refuses_branch_with})
        is_refused = answer.status == self.refuses_branch_with and "already exists" not in answer.body
        if is_refused and not await self._has_branch(home, name):
            raise self._client.failure(answer)

    async def has_commits(self, home: RepositoryAddress, branch: str, base: str) -> bool:
        """Whether a branch holds commits beyond another; one that is not there holds none."""
        path, question = self._comparison(home, branch, base)
        answer = await self._client.get(path, question, allow={HTTPStatus.NOT_FOUND})
        return answer.status != HTTPStatus.NOT_FOUND and self._is_ahead(answer)

    async def list_change_requests(self, home: RepositoryAddress) -> list[Issue]:
        """The open change requests from branches of the repository itself, with their branches, in one list."""
        seen = await self._list_open(home)
        return [request for request in seen if request.request and not request.request.is_from_fork]

    async def _find_open(self, wanted: NewChangeRequest) -> ChangeRequest | None:
        return next(iter(await self._find(wanted.home, wanted.head, only_open=True)), None)

    async def _has_branch(self, home: RepositoryAddress, name: str) -> bool:
        answer = await self._client.get(self._branch(home, name), allow={HTTPStatus.NOT_FOUND})
        return answer.status != HTTPStatus.NOT_FOUND

    @abstractmethod
    async def _list_open(self, home: RepositoryAddress) -> list[Issue]:
        """All open change requests, with their branches."""

    @abstractmethod
    async def _find(self, home: RepositoryAddress, head: str, *, only_open: bool) -> list[ChangeRequest]:
        """The change requests from a branch of the repository itself; the open ones, or all."""

    @abstractmethod
    async def _new_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> tuple[str, Json]:
        """What to post, and where, for a new branch."""

    @abstractmethod
    def _comparison(self, home: RepositoryAddress, branch: str, base: str) -> tuple[str, Parameters]:
        """Where, and with which question, two branches are compared."""

    @abstractmethod
    def _is_ahead(self, answer: Answer) -> bool:
        """Whether a comparison found commits."""

    @abstractmethod
    def _creation(self, wanted: NewChangeRequest) -> Json:
        """What to post for a new change request."""

    @abstractmethod
    def _request(self, answer: Answer) -> ChangeRequest:
        """The change request of an answer."""

    @abstractmethod
    def _requests(self, home: RepositoryAddress) -> str:
        """Where the change requests of a repository are."""

    @abstractmethod
    def _branch(self, home: RepositoryAddress, name: str) -> str:
        """Where one branch is."""
