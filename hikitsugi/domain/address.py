"""Addresses of repositories and issues; an issue's address is its workflow id."""

import re
from enum import StrEnum
from typing import Self

from hikitsugi.domain.value import Value


class Kind(StrEnum):
    """What a number in a repository stands for, spelled as in the forge's web addresses."""

    ISSUE = "issues"
    PULL_REQUEST = "pull"
    MERGE_REQUEST = "merge_requests"


_NAME = r"[A-Za-z0-9_-]+"
_REPOSITORY = r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+"
_REPOSITORY_ADDRESS = re.compile(rf"({_NAME}):({_REPOSITORY})")
_ISSUE_ADDRESS = re.compile(rf"({_NAME}):({_REPOSITORY})/(issues|pull|merge_requests)/([1-9][0-9]*)")


class RepositoryAddress(Value):
    """One repository of one configured forge, written `github:owner/repo`."""

    forge: str
    repository: str

    def __str__(self) -> str:
        return f"{self.forge}:{self.repository}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `forge:owner/repo`; anything else is a ValueError."""
        match = _REPOSITORY_ADDRESS.fullmatch(text)
        if not match:
            message = f"{text!r} is not a repository; write it as FORGE:OWNER/REPO"
            raise ValueError(message)
        return cls(forge=match[1], repository=match[2])


class IssueAddress(Value):
    """One issue, pull request or merge request, written `github:owner/repo/issues/12`."""

    forge: str
    repository: str
    kind: Kind = Kind.ISSUE
    number: int

    def __str__(self) -> str:
        return f"{self.forge}:{self.repository}/{self.kind}/{self.number}"

    @property
    def home(self) -> RepositoryAddress:
        """The repository this issue belongs to."""
        return RepositoryAddress(forge=self.forge, repository=self.repository)

    @property
    def short(self) -> str:
        """How people write it: `owner/repo#12`, or `group/repo!3` for a merge request."""
        mark = "!" if self.kind is Kind.MERGE_REQUEST else "#"
        return f"{self.repository}{mark}{self.number}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a workflow id; anything else is a ValueError."""
        match = _ISSUE_ADDRESS.fullmatch(text)
        if not match:
            message = f"{text!r} is not an issue's address; write it as FORGE:OWNER/REPO/issues/NUMBER"
            raise ValueError(message)
        return cls(forge=match[1], repository=match[2], kind=Kind(match[3]), number=int(match[4]))
