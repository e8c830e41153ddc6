"""Answers as GitLab writes them, with the fields the adapter reads."""

from typing import Any

from hikitsugi.domain.address import IssueAddress, RepositoryAddress

HOME = RepositoryAddress(forge="gitlab", repository="acme/web/shop")
ISSUE = IssueAddress(forge="gitlab", repository="acme/web/shop", number=7)
PROJECT = "/api/v4/projects/acme%2Fweb%2Fshop"
NOTES = f"{PROJECT}/issues/7/notes"
DATE = "2026-03-02T12:00:00.000Z"

Payload = dict[str, Any]


def user(name: str) -> Payload:
    return {"id": len(name), "username": name, "name": name.title()}


def note(id_: int, body: str = "hello", *, author: str | None = "ann", at: str = DATE, system: bool = False) -> Payload:
    return {
        "id": id_,
        "body": body,
        "author": author and user(author),
        "created_at": at,
        "updated_at": at,
        "system": system,
    }


def noteable(iid: int, *, at: str = DATE, notes: int = 0, **changed: Any) -> Payload:
    return {
        "id": 1000 + iid,
        "iid": iid,
        "title": f"Issue {iid}",
        "description": None,
        "state": "opened",
        "web_url": f"https://gitlab.com/acme/web/shop/-/issues/{iid}",
        "updated_at": at,
        "author": user("ann"),
        "labels": ["task:misc"],
        "assignees": [user("bot")],
        "user_notes_count": notes,
        **changed,
    }


def request(iid: int, head: str, **changed: Any) -> Payload:
    return {
        "iid": iid,
        "title": "Fix",
        "web_url": f"https://gitlab.com/acme/web/shop/-/merge_requests/{iid}",
        "state": "opened",
        "draft": False,
        "source_branch": head,
        "target_branch": "main",
        "source_project_id": 1,
        "target_project_id": 1,
        **changed,
    }
