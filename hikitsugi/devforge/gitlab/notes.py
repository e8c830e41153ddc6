"""Routes for what is said on issues and merge requests, and the emojis on it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from hikitsugi.devforge.gitlab import shape
from hikitsugi.devforge.gitlab.asking import Caller, Forge, Home, Noteable, Noteables, Paged, Site, Sort, wish
from hikitsugi.devforge.gitlab.errors import error
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json
from hikitsugi.devforge.records import Comment, Entry, Issue, Person
from hikitsugi.devforge.refusals import NotAllowed, NotThere
from hikitsugi.devforge.repository import Repository
from hikitsugi.devforge.tracker import Tracker

routes = APIRouter(route_class=GitLabRoute, prefix="/{place:noteables}/{iid:int}")


class Words(BaseModel):
    """The text of a note."""

    body: str


class Emoji(BaseModel):
    """An emoji's name."""

    name: str


Spoken = Annotated[Words, Depends(wish(Words))]


@routes.get("/notes")
def list_notes(
    home: Home,
    one: Noteable,
    noteables: Noteables,
    site: Site,
    page: Paged,
    order_by: Literal["created_at", "updated_at"] = "created_at",
    sort: Sort = "desc",
    activity_filter: Literal["all_notes", "only_comments", "only_activity"] = "all_notes",
) -> list[Json]:
    """What was said and noted, newest first unless asked otherwise."""
    wanted = {"all_notes": (True, False), "only_comments": (False,), "only_activity": (True,)}[activity_filter]
    chosen = [note for note in noteables.notes(one.number) if note.is_system in wanted]
    chosen.sort(key=lambda note: (getattr(note, order_by), note.id), reverse=sort == "desc")
    return [shape.note(site, home, one, note) for note in page.cut(chosen)]


@routes.post("/notes", status_code=201)
def write_note(
    home: Home, one: Noteable, caller: Caller, forge: Forge, site: Site, words: Spoken, response: Response
) -> Json:
    """Say something; quick actions are carried out and left out, and alone they leave no note."""
    said = forge.say(home, one, caller, words.body)
    if said.comment:
        return shape.note(site, home, one, said.comment)
    response.status_code = 202
    return {"commands_changes": {}, "summary": list(said.done)}


@routes.get("/notes/{note_id:int}")
def read_note(note_id: int, home: Home, one: Noteable, noteables: Noteables, site: Site) -> Json:
    """One note."""
    return shape.note(site, home, one, _note(noteables, one, note_id))


@routes.put("/notes/{note_id:int}")
def change_note(
    note_id: int, home: Home, one: Noteable, noteables: Noteables, caller: Caller, site: Site, words: Spoken
) -> Json:
    """Replace a note's text; its author and maintainers can."""
    _refuse_strangers(_note(noteables, one, note_id), caller)
    return shape.note(site, home, one, noteables.edit_comment(note_id, words.body, caller))


@routes.delete("/notes/{note_id:int}", status_code=204)
def delete_note(note_id: int, one: Noteable, noteables: Noteables, caller: Caller) -> Response:
    """Take a note back; its author and maintainers can."""
    _refuse_strangers(_note(noteables, one, note_id), caller)
    noteables.delete_comment(note_id, caller)
    return Response(status_code=204)


@routes.get("/discussions")
def list_discussions(home: Home, one: Noteable, noteables: Noteables, site: Site, page: Paged) -> list[Json]:
    """The notes, each a discussion of its own, oldest first."""
    return [
        {"id": f"{note.id:040x}", "individual_note": True, "notes": [shape.note(site, home, one, note)]}
        for note in page.cut(noteables.notes(one.number))
    ]


@routes.get("/notes/{note_id:int}/award_emoji")
def list_awards(note_id: int, one: Noteable, noteables: Noteables, site: Site, page: Paged) -> list[Json]:
    """The emojis on a note."""
    note = _note(noteables, one, note_id)
    return [shape.award(site, given, note) for given in page.cut(note.reactions)]


@routes.post("/notes/{note_id:int}/award_emoji", status_code=201)
def give_award(
    note_id: int,
    one: Noteable,
    noteables: Noteables,
    caller: Caller,
    site: Site,
    emoji: Annotated[Emoji, Depends(wish(Emoji))],
) -> Any:
    """Put an emoji on a note; the same one again is an error."""
    note = _note(noteables, one, note_id)
    given, is_new = noteables.react(note_id, caller, emoji.name)
    if not is_new:
        return error(404, "404 Award Emoji Name has already been taken Not Found")
    return shape.award(site, given, note)


@routes.get("/resource_label_events")
def label_events(home: Home, one: Noteable, site: Site, page: Paged) -> list[Json]:
    """Which labels came and went, oldest first."""
    entries = [entry for entry in home.journal.entries if entry.after.id == one.id]
    return page.cut([event for entry in entries for event in _label_events(site, home, one, entry)])


def _label_events(site: str, home: Repository, one: Issue, entry: Entry) -> list[Json]:
    changes = [("add", name) for name in entry.labels_added] + [("remove", name) for name in entry.labels_removed]
    if entry.comment or entry.review:
        return []
    return [
        {
            "id": entry.id * 100 + at,
            "user": shape.person(site, entry.by),
            "created_at": shape.stamp(entry.at),
            "resource_type": shape.noteable_type(one),
            "resource_id": one.id,
            "label": shape.label(home.labels.named(name)),
            "action": action,
        }
        for at, (action, name) in enumerate(changes)
    ]


def _note(noteables: Tracker, one: Issue, note_id: int) -> Comment:
    note = noteables.find_comment(note_id)
    if note.number != one.number:
        raise NotThere(f"comment {note_id}")
    return note


def _refuse_strangers(note: Comment, caller: Person) -> None:
    if note.is_system or (not caller.may_write and note.author != caller):
        raise NotAllowed(caller.login)
