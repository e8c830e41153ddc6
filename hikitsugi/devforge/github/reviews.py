"""Routes for reviews of pull requests and the remarks on their lines."""

from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from hikitsugi.devforge.github import review_shape as shape
from hikitsugi.devforge.github.asking import At, Caller, Direction, Home, Paged, Sort, in_utc, whole_second
from hikitsugi.devforge.github.comments import Words
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.records import Person, Remark, Verdict
from hikitsugi.devforge.refusals import NotAllowed
from hikitsugi.devforge.repository import Repository
from hikitsugi.devforge.reviews import NewRemark

routes = APIRouter(route_class=GitHubRoute)


class RemarkWish(BaseModel):
    """A comment on a line."""

    body: str
    path: str = ""
    line: int | None = None
    side: Literal["LEFT", "RIGHT"] = "RIGHT"
    in_reply_to: int | None = None

    def as_new(self) -> NewRemark:
        """The comment as the repository takes it."""
        return NewRemark(self.body, self.path, self.line, self.side, self.in_reply_to)


class ReviewWish(BaseModel):
    """A judgement, with comments on lines."""

    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
    body: str = ""
    comments: list[RemarkWish] = []


@routes.get("/pulls/comments")
def list_remarks(
    home: Home,
    links: At,
    page: Paged,
    since: datetime | None = None,
    sort: Sort = "created",
    direction: Direction | None = None,
) -> list[Json]:
    """The remarks on all pull requests."""
    chosen = [one for one in home.reviews.remarks if since is None or whole_second(one.updated_at) >= in_utc(since)]
    if sort == "updated":
        chosen.sort(key=lambda one: (one.updated_at, one.id))
    if direction == "desc":
        chosen.reverse()
    return [shape.remark(links, home, one) for one in page.cut(chosen)]


@routes.get("/pulls/comments/{remark_id}")
def read_remark(remark_id: int, home: Home, links: At) -> Json:
    """One remark."""
    return shape.remark(links, home, home.reviews.remark(remark_id))


@routes.patch("/pulls/comments/{remark_id}")
def reword_remark(remark_id: int, home: Home, caller: Caller, links: At, words: Words) -> Json:
    """Replace a remark's text; its author and those who may write can."""
    _refuse_strangers(home, remark_id, caller)
    return shape.remark(links, home, home.reviews.reword(remark_id, words.body))


@routes.delete("/pulls/comments/{remark_id}", status_code=204)
def delete_remark(remark_id: int, home: Home, caller: Caller) -> Response:
    """Take a remark back; its author and those who may write can."""
    _refuse_strangers(home, remark_id, caller)
    home.reviews.withdraw(remark_id)
    return Response(status_code=204)


@routes.get("/pulls/{number}/comments")
def remarks_of_pull(number: int, home: Home, links: At, page: Paged) -> list[Json]:
    """The remarks on one pull request, oldest first."""
    return [shape.remark(links, home, one) for one in page.cut(_remarks(home, number))]


@routes.post("/pulls/{number}/comments", status_code=201)
def remark(number: int, home: Home, caller: Caller, links: At, wish: RemarkWish) -> Json:
    """Comment on a line, or answer such a comment."""
    return shape.remark(links, home, home.reviews.say(*home.pull(number), caller, wish.as_new()))


@routes.post("/pulls/{number}/comments/{remark_id}/replies", status_code=201)
def reply(number: int, remark_id: int, home: Home, caller: Caller, links: At, words: Words) -> Json:
    """Answer a comment on a line."""
    new = NewRemark(words.body, "", in_reply_to=home.reviews.remark(remark_id).id)
    return shape.remark(links, home, home.reviews.say(*home.pull(number), caller, new))


@routes.get("/pulls/{number}/reviews")
def list_reviews(number: int, home: Home, links: At, page: Paged) -> list[Json]:
    """The reviews of one pull request, oldest first."""
    home.pull(number)
    return [shape.review(links, home, one) for one in page.cut(home.reviews.of(number))]


@routes.post("/pulls/{number}/reviews")
def submit_review(number: int, home: Home, caller: Caller, links: At, wish: ReviewWish) -> Json:
    """Judge a pull request."""
    issue, pull = home.pull(number)
    remarks = [one.as_new() for one in wish.comments]
    review = home.reviews.submit(issue, pull, caller, wish.body, Verdict[wish.event], remarks)
    return shape.review(links, home, review)


@routes.get("/pulls/{number}/reviews/{review_id}")
def read_review(number: int, review_id: int, home: Home, links: At) -> Json:
    """One review."""
    return shape.review(links, home, home.reviews.review(number, review_id))


@routes.get("/pulls/{number}/reviews/{review_id}/comments")
def remarks_of_review(number: int, review_id: int, home: Home, links: At, page: Paged) -> list[Json]:
    """The remarks that came with one review."""
    found = [one for one in _remarks(home, number) if one.review_id == review_id]
    return [shape.remark(links, home, one) for one in page.cut(found)]


def _remarks(home: Repository, number: int) -> list[Remark]:
    home.pull(number)
    return [one for one in home.reviews.remarks if one.number == number]


def _refuse_strangers(home: Repository, remark_id: int, caller: Person) -> None:
    if not caller.may_write and home.reviews.remark(remark_id).author != caller:
        raise NotAllowed(caller.login)
