"""Webhooks as GitHub sends them."""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

from hikitsugi.devforge.events import Event
from hikitsugi.devforge.github import issue_shape, review_shape
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import Json, person
from hikitsugi.devforge.github.repository_shape import label, repository
from hikitsugi.devforge.hooks import Hook, Letter
from hikitsugi.devforge.records import Comment, Deed, Entry, Issue, Person
from hikitsugi.devforge.repository import Repository

_COMMENT_ACTIONS = {Deed.COMMENTED: "created", Deed.REWORDED: "edited", Deed.WITHDREW: "deleted"}


def headers(_site: str, home: Repository, letter: Letter) -> dict[str, str]:
    """The headers of a letter, signed if its hook has a secret."""
    told = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/devforge",
        "X-GitHub-Event": letter.event,
        "X-GitHub-Delivery": letter.key,
        "X-GitHub-Hook-ID": str(letter.hook.id),
        "X-GitHub-Hook-Installation-Target-ID": str(home.id),
        "X-GitHub-Hook-Installation-Target-Type": "repository",
    }
    if letter.hook.secret:
        signed = hmac.new(letter.hook.secret.encode(), letter.body, hashlib.sha256).hexdigest()
        told["X-Hub-Signature-256"] = f"sha256={signed}"
    return told


def ping(site: str, home: Repository, hook: Hook, by: Person, shape: Json) -> Event:
    """The greeting a new hook gets."""
    payload = {"zen": "Keep it logically awesome.", "hook_id": hook.id, "hook": shape}
    return Event("ping", None, payload | _common(Links(site, site), home, by))


def events(site: str, home: Repository, entry: Entry) -> Iterator[Event]:
    """The events that an entry of the journal means on GitHub."""
    links = Links(site, site)
    if entry.deed in _COMMENT_ACTIONS and entry.comment:
        yield _comment(links, home, entry, entry.comment)
    elif entry.review:
        yield _review(links, home, entry)
    elif entry.after.pull:
        for action, more in _actions(links, home, entry):
            payload = {"number": entry.after.number, "pull_request": _pull(links, home, entry.after, entry.by)}
            yield _event("pull_request", action, links, home, entry.by, payload | more)
    else:
        for action, more in _actions(links, home, entry):
            payload = {"issue": issue_shape.issue(links, home, entry.after)}
            yield _event("issues", action, links, home, entry.by, payload | more)


def _comment(links: Links, home: Repository, entry: Entry, comment: Comment) -> Event:
    payload: dict[str, Any] = {
        "issue": issue_shape.issue(links, home, entry.after),
        "comment": issue_shape.comment(links, home, comment),
    }
    if entry.comment_before:
        payload["changes"] = {"body": {"from": entry.comment_before.body}}
    return _event("issue_comment", _COMMENT_ACTIONS[entry.deed], links, home, entry.by, payload)


def _review(links: Links, home: Repository, entry: Entry) -> Event:
    payload: dict[str, Any] = {"pull_request": _pull(links, home, entry.after, entry.by)}
    if entry.remark:
        payload["comment"] = review_shape.remark(links, home, entry.remark)
        return _event("pull_request_review_comment", "created", links, home, entry.by, payload)
    if entry.review:
        told = review_shape.review(links, home, entry.review)
        payload["review"] = {**told, "state": told["state"].lower()}
    return _event("pull_request_review", "submitted", links, home, entry.by, payload)


def _actions(links: Links, home: Repository, entry: Entry) -> Iterator[tuple[str, Json]]:
    """Each change by itself, as GitHub tells them."""
    if entry.deed is Deed.OPENED:
        yield "opened", {}
    for verb, names in (("labeled", entry.labels_added), ("unlabeled", entry.labels_removed)):
        yield from ((verb, {"label": label(links, home, home.labels.named(name))}) for name in names)
    for verb, people in (("assigned", entry.assigned), ("unassigned", entry.unassigned)):
        yield from ((verb, {"assignee": person(links, somebody)}) for somebody in people)
    if not entry.before:
        return
    if changes := _changes(entry.before, entry.after):
        yield "edited", {"changes": changes}
    yield from _pull_actions(entry, entry.before)
    if entry.before.is_open is not entry.after.is_open:
        yield "reopened" if entry.after.is_open else "closed", {}


def _pull_actions(entry: Entry, before: Issue) -> Iterator[tuple[str, Json]]:
    was, now = before.pull, entry.after.pull
    if not was or not now:
        return
    if entry.deed is Deed.PUSHED:
        yield "synchronize", {"before": was.head_commit, "after": now.head_commit}
    if was.is_draft is not now.is_draft:
        yield "converted_to_draft" if now.is_draft else "ready_for_review", {}


def _changes(before: Issue, after: Issue) -> Json:
    fields = {"title": (before.title, after.title), "body": (before.body, after.body)}
    return {name: {"from": old} for name, (old, new) in fields.items() if old != new}


def _event(name: str, action: str, links: Links, home: Repository, by: Person, payload: Json) -> Event:
    return Event(name, action, {"action": action, **payload, **_common(links, home, by)})


def _common(links: Links, home: Repository, by: Person) -> Json:
    return {"repository": repository(links, home, by), "sender": person(links, by)}


def _pull(links: Links, home: Repository, one: Issue, by: Person) -> Json:
    pull = one.pull
    if not pull:
        return {}
    return issue_shape.pull_request(links, home, one, pull, by)
