"""Answers as GitHub writes them, with the fields the adapter reads."""

from typing import Any

from hikitsugi.domain.address import IssueAddress, RepositoryAddress

HOME = RepositoryAddress(forge="github", repository="acme/shop")
ISSUE = IssueAddress(forge="github", repository="acme/shop", number=7)
DATE = "2026-03-02T12:00:00Z"

Payload = dict[str, Any]


def comment(
    id_: int, body: str = "hello", *, author: str | None = "ann", at: str = DATE, on: str = "issues/7"
) -> Payload:
    return {
        "id": id_,
        "body": body,
        "user": author and {"login": author},
        "created_at": at,
        "updated_at": at,
        "html_url": f"https://github.com/acme/shop/{on}#issuecomment-{id_}",
        "issue_url": f"https://api.github.com/repos/acme/shop/issues/{on.rpartition('/')[2]}",
        "author_association": "MEMBER",
    }


def issue(number: int, *, at: str = DATE, author: str | None = "ann", **changed: Any) -> Payload:
    return {
        "id": 1000 + number,
        "number": number,
        "title": f"Issue {number}",
        "body": None,
        "state": "open",
        "html_url": f"https://github.com/acme/shop/issues/{number}",
        "updated_at": at,
        "user": author and {"login": author},
        "labels": [{"name": "task:misc"}],
        "assignees": [{"login": "bot"}],
        **changed,
    }


def pull(number: int, head: str, **changed: Any) -> Payload:
    return {
        "number": number,
        "node_id": f"PR_{number}",
        "html_url": f"https://github.com/acme/shop/pull/{number}",
        "state": "open",
        "draft": False,
        "head": {"ref": head},
        "base": {"ref": "main"},
        **changed,
    }
