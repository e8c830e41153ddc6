"""The feed of what happened in a project."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from hikitsugi.devforge.gitlab import shape
from hikitsugi.devforge.gitlab.asking import Home, Paged, Site, Sort
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json
from hikitsugi.devforge.records import Deed, Entry
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository

routes = APIRouter(route_class=GitLabRoute)
_ASKED_FOR = {"created": "opened", "commented": "commented on", "merged": "accepted", "pushed": "pushed to"}


@routes.get("/events")
def list_events(
    home: Home,
    site: Site,
    page: Paged,
    action: str = "",
    target_type: str = "",
    before: Annotated[date | None, Query()] = None,
    after: Annotated[date | None, Query()] = None,
    sort: Sort = "desc",
) -> list[Json]:
    """What happened, newest first; `after` and `before` are days that are themselves left out."""
    wanted = _ASKED_FOR.get(action, action)
    chosen = [
        entry
        for entry in home.journal.entries
        if (name := _action(entry))
        and wanted in {"", name}
        and target_type.lower() in {"", _target_type(entry).lower()}
        and (before is None or entry.at.date() < before)
        and (after is None or entry.at.date() > after)
        and _is_there(home, entry)
    ]
    if sort == "desc":
        chosen.reverse()
    return [_event(site, home, entry) for entry in page.cut(chosen)]


def _action(entry: Entry) -> str:
    """The event's name; many entries are none."""
    if entry.deed is Deed.OPENED:
        return "opened"
    if entry.deed is Deed.COMMENTED:
        return "commented on"
    if not entry.before or entry.before.is_open is entry.after.is_open:
        return ""
    if entry.after.is_open:
        return "reopened"
    return "accepted" if entry.after.pull and entry.after.pull.merge else "closed"


def _target_type(entry: Entry) -> str:
    return "Note" if entry.comment else shape.noteable_type(entry.after).replace("MergeRequest", "merge_request")


def _is_there(home: Repository, entry: Entry) -> bool:
    """Whether a note was not taken back, which takes its event away too."""
    if not entry.comment:
        return True
    try:
        return bool(home.tracker_of(entry.after).find_comment(entry.comment.id))
    except NotThere:
        return False


def _event(site: str, home: Repository, entry: Entry) -> Json:
    target = entry.comment or entry.after
    told: Json = {
        "id": entry.id,
        "project_id": home.id,
        "action_name": _action(entry),
        "target_id": target.id,
        "target_iid": entry.comment.id if entry.comment else entry.after.number,
        "target_type": "Note" if entry.comment else shape.noteable_type(entry.after),
        "author_id": entry.by.id,
        "target_title": entry.after.title,
        "created_at": shape.stamp(entry.at),
        "author": shape.person(site, entry.by),
        "imported": False,
        "imported_from": "none",
        "author_username": entry.by.login,
    }
    if entry.comment:
        now = home.tracker_of(entry.after).find_comment(entry.comment.id)
        told["note"] = shape.note(site, home, entry.after, now)
    return told
