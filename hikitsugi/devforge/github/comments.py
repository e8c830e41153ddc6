"""Routes for the comments on issues and pull requests, and the emojis on them."""

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import BaseModel

from hikitsugi.devforge.github import issue_shape as shape
from hikitsugi.devforge.github.asking import At, Caller, Direction, Home, Paged, Sort, in_utc, whole_second
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.records import Comment, Person
from hikitsugi.devforge.refusals import Invalid, NotAllowed
from hikitsugi.devforge.repository import Repository

routes = APIRouter(route_class=GitHubRoute)


class Words(BaseModel):
    """The text of a comment."""

    body: str


class Emoji(BaseModel):
    """A reaction's name."""

    content: str


@routes.get("/issues/comments")
def list_comments(
    home: Home,
    links: At,
    page: Paged,
    since: datetime | None = None,
    sort: Sort = "created",
    direction: Direction | None = None,
) -> list[Json]:
    """The comments of all issues; without `sort` they come oldest first, as GitHub lists them."""
    chosen = _since(home.tracker.comments(), since)
    if sort == "updated":
        chosen.sort(key=lambda comment: (comment.updated_at, comment.id))
    if direction == "desc":
        chosen.reverse()
    return [shape.comment(links, home, comment) for comment in page.cut(chosen)]


@routes.get("/issues/comments/{comment_id}")
def read_comment(comment_id: int, home: Home, links: At) -> Json:
    """One comment."""
    return shape.comment(links, home, home.tracker.find_comment(comment_id))


@routes.patch("/issues/comments/{comment_id}")
def edit_comment(comment_id: int, home: Home, caller: Caller, links: At, words: Words) -> Json:
    """Replace a comment's text; its author and those who may write can."""
    _refuse_strangers(home, comment_id, caller)
    return shape.comment(links, home, home.tracker.edit_comment(comment_id, words.body, caller))


@routes.delete("/issues/comments/{comment_id}", status_code=204)
def delete_comment(comment_id: int, home: Home, caller: Caller) -> Response:
    """Take a comment back; its author and those who may write can."""
    _refuse_strangers(home, comment_id, caller)
    home.tracker.delete_comment(comment_id, caller)
    return Response(status_code=204)


@routes.get("/issues/comments/{comment_id}/reactions")
def reactions(comment_id: int, home: Home, links: At, page: Paged, content: str = "") -> list[Json]:
    """The emojis on a comment."""
    given = home.tracker.find_comment(comment_id).reactions
    return page.cut([shape.reaction(links, one) for one in given if content in {"", one.content}])


@routes.post("/issues/comments/{comment_id}/reactions", status_code=201)
def react(comment_id: int, home: Home, caller: Caller, links: At, emoji: Emoji, response: Response) -> Json:
    """Put an emoji on a comment; 200 instead of 201 when it is there already."""
    if emoji.content not in shape.REACTIONS:
        raise Invalid("Reaction", "content", "invalid")
    reaction, is_new = home.tracker.react(comment_id, caller, emoji.content)
    response.status_code = 201 if is_new else 200
    return shape.reaction(links, reaction)


@routes.get("/issues/{number}/comments")
def comments_of_issue(number: int, home: Home, links: At, page: Paged, since: datetime | None = None) -> list[Json]:
    """The comments of one issue, oldest first."""
    chosen = _since(home.tracker.thread(number), since)
    return [shape.comment(links, home, comment) for comment in page.cut(chosen)]


@routes.post("/issues/{number}/comments", status_code=201)
def post_comment(number: int, home: Home, caller: Caller, links: At, words: Words) -> Json:
    """Comment on an issue or pull request."""
    return shape.comment(links, home, home.tracker.comment(number, caller, words.body))


def _since(comments: list[Comment], since: datetime | None) -> list[Comment]:
    if since is None:
        return comments
    return [comment for comment in comments if whole_second(comment.updated_at) >= in_utc(since)]


def _refuse_strangers(home: Repository, comment_id: int, caller: Person) -> None:
    if not caller.may_write and home.tracker.find_comment(comment_id).author != caller:
        raise NotAllowed(caller.login)
