"""Webhooks as GitLab sends them."""

import base64
import hashlib
import hmac
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hikitsugi.devforge.events import Event
from hikitsugi.devforge.gitlab.issue_shape import state
from hikitsugi.devforge.gitlab.project_shape import commit_shape
from hikitsugi.devforge.gitlab.shape import Json, noteable_type
from hikitsugi.devforge.hooks import Letter
from hikitsugi.devforge.records import Comment, Deed, Entry, Issue, Person, Pull
from hikitsugi.devforge.repository import Repository

_STATE_IDS = {"opened": 1, "closed": 2, "merged": 3}


def _stamp(moment: datetime) -> str:
    """A time as GitLab's hooks write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def headers(site: str, home: Repository, letter: Letter) -> dict[str, str]:
    """The headers of a letter, with the token in clear or signed, or both, as its hook is set."""
    told = {
        "Content-Type": "application/json",
        "User-Agent": "GitLab/18.6.0",
        "Idempotency-Key": letter.key,
        "X-Gitlab-Event": letter.event,
        "X-Gitlab-Instance": site,
        "X-Gitlab-Webhook-UUID": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{site}/hooks/{letter.hook.id}")),
        "X-Gitlab-Event-UUID": str(uuid.uuid4()),
    }
    if letter.hook.secret:
        told["X-Gitlab-Token"] = letter.hook.secret
    if letter.hook.signing_token:
        told |= _signature(letter, int(home.journal.now().timestamp()))
    return told


def _signature(letter: Letter, now: int) -> dict[str, str]:
    key = base64.b64decode(letter.hook.signing_token.removeprefix("whsec_"))
    signed = hmac.new(key, f"{letter.key}.{now}.".encode() + letter.body, hashlib.sha256).digest()
    return {
        "webhook-id": letter.key,
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }


def events(site: str, home: Repository, entry: Entry) -> Iterator[Event]:
    """The event that an entry of the journal means on GitLab; one change, one event."""
    if entry.comment:
        if entry.deed in {Deed.COMMENTED, Deed.REWORDED}:
            yield _note(site, home, entry, entry.comment)
    elif not entry.review:
        is_pull = bool(entry.after.pull)
        kind = "merge_request" if is_pull else "issue"
        action = _action(entry)
        attributes = _attributes(site, home, entry.after) | {"action": action}
        payload: Json = {
            "object_kind": kind,
            "event_type": kind,
            **_common(site, home, entry.by),
            "object_attributes": attributes,
            "labels": _labels(home, entry.after.labels),
            "changes": _changes(home, entry),
            "assignees": [_person(site, somebody) for somebody in entry.after.assignees],
        }
        yield Event("Merge Request Hook" if is_pull else "Issue Hook", action, payload)


def _note(site: str, home: Repository, entry: Entry, comment: Comment) -> Event:
    one = entry.after
    action = "create" if entry.deed is Deed.COMMENTED else "update"
    attributes = {
        "id": comment.id,
        "note": comment.body,
        "description": comment.body,
        "noteable_type": noteable_type(one),
        "noteable_id": one.id,
        "author_id": comment.author.id,
        "created_at": _stamp(comment.created_at),
        "updated_at": _stamp(comment.updated_at),
        "project_id": home.id,
        "commit_id": None,
        "system": False,
        "internal": False,
        "type": None,
        "url": f"{site}{home.place_of(one)}#note_{comment.id}",
        "action": action,
    }
    payload: Json = {
        "object_kind": "note",
        "event_type": "note",
        **_common(site, home, entry.by),
        "project_id": home.id,
        "object_attributes": attributes,
        "merge_request" if one.pull else "issue": _attributes(site, home, one),
    }
    return Event("Note Hook", action, payload)


def _action(entry: Entry) -> str:
    if not entry.before:
        return "open"
    if entry.before.is_open is not entry.after.is_open:
        return {"opened": "reopen", "closed": "close", "merged": "merge"}[state(entry.after)]
    was, now = entry.before.pull, entry.after.pull
    if was and now and was.approved_by != now.approved_by:
        return "approved" if len(now.approved_by) > len(was.approved_by) else "unapproved"
    return "update"


def _changes(home: Repository, entry: Entry) -> Json:
    if not entry.before:
        return {}
    before, after = entry.before, entry.after
    pairs: dict[str, tuple[Any, Any]] = {
        "title": (before.title, after.title),
        "description": (before.body, after.body),
        "labels": (_labels(home, before.labels), _labels(home, after.labels)),
        "state_id": (_STATE_IDS[state(before)], _STATE_IDS[state(after)]),
        "assignees": (_logins(before), _logins(after)),
        "updated_at": (_stamp(before.updated_at), _stamp(after.updated_at)),
    }
    return {name: {"previous": old, "current": new} for name, (old, new) in pairs.items() if old != new}


def _logins(one: Issue) -> list[str]:
    return [somebody.login for somebody in one.assignees]


def _attributes(site: str, home: Repository, one: Issue) -> Json:
    told: Json = {
        "id": one.id,
        "iid": one.number,
        "title": one.title,
        "description": one.body,
        "state": state(one),
        "state_id": _STATE_IDS[state(one)],
        "author_id": one.author.id,
        "assignee_ids": [somebody.id for somebody in one.assignees],
        "assignee_id": one.assignees[0].id if one.assignees else None,
        "project_id": home.id,
        "confidential": False,
        "created_at": _stamp(one.created_at),
        "updated_at": _stamp(one.updated_at),
        "closed_at": _stamp(one.closed_at) if one.closed_at else None,
        "labels": _labels(home, one.labels),
        "url": site + home.place_of(one),
    }
    return told | (_pull_attributes(site, home, one.pull) if one.pull else {"type": "Issue"})


def _pull_attributes(site: str, home: Repository, pull: Pull) -> Json:
    return {
        "source_branch": pull.head,
        "target_branch": pull.base,
        "source_project_id": None if pull.is_from_fork else home.id,
        "target_project_id": home.id,
        "source": _project(site, home),
        "target": _project(site, home),
        "draft": pull.is_draft,
        "work_in_progress": pull.is_draft,
        "merge_commit_sha": pull.merge.commit if pull.merge else None,
        "last_commit": commit_shape(site, home, home.git.commit(pull.head_commit)),
    }


def _common(site: str, home: Repository, by: Person) -> Json:
    web = f"{site}/{home.full_name}"
    repository = {"name": home.name, "url": f"{web}.git", "description": None, "homepage": web}
    return {"user": _person(site, by), "project": _project(site, home), "repository": repository}


def _project(site: str, home: Repository) -> Json:
    web = f"{site}/{home.full_name}"
    return {
        "id": home.id,
        "name": home.name,
        "description": None,
        "web_url": web,
        "avatar_url": None,
        "git_ssh_url": f"git@127.0.0.1:{home.full_name}.git",
        "git_http_url": f"{web}.git",
        "namespace": home.owner,
        "visibility_level": 10,
        "path_with_namespace": home.full_name,
        "default_branch": home.default_branch,
        "ci_config_path": None,
        "homepage": web,
        "url": f"{web}.git",
        "http_url": f"{web}.git",
    }


def _person(site: str, somebody: Person) -> Json:
    return {
        "id": somebody.id,
        "name": somebody.login,
        "username": somebody.login,
        "avatar_url": f"{site}/-/avatar.svg",
        "email": "[REDACTED]",
    }


def _labels(home: Repository, names: tuple[str, ...]) -> list[Json]:
    labels = (home.labels.named(name) for name in names)
    return [
        {
            "id": label.id,
            "title": label.name,
            "color": f"#{label.color}",
            "project_id": home.id,
            "description": label.description or None,
            "type": "ProjectLabel",
        }
        for label in labels
    ]
