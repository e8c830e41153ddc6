"""Reviews of pull requests and the remarks on their lines."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hikitsugi.devforge.journal import Journal
from hikitsugi.devforge.records import Deed, Issue, Person, Pull, Remark, Review, Verdict
from hikitsugi.devforge.refusals import Invalid, NotThere


@dataclass(frozen=True)
class NewRemark:
    """What is to be said on which line."""

    body: str
    path: str
    line: int | None = None
    side: str = "RIGHT"
    in_reply_to: int | None = None


class Reviews:
    """The reviews of one repository."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._reviews: dict[int, Review] = {}
        self._remarks: dict[int, Remark] = {}

    @property
    def remarks(self) -> list[Remark]:
        """All remarks, oldest first."""
        return list(self._remarks.values())

    def of(self, number: int) -> list[Review]:
        """The reviews of one pull request, oldest first."""
        return [review for review in self._reviews.values() if review.number == number]

    def review(self, number: int, review_id: int) -> Review:
        """One review."""
        found = self._reviews.get(review_id)
        if not found or found.number != number:
            raise NotThere(f"review {review_id}")
        return found

    def remark(self, remark_id: int) -> Remark:
        """One remark."""
        try:
            return self._remarks[remark_id]
        except KeyError:
            raise NotThere(f"review comment {remark_id}") from None

    def submit(
        self, issue: Issue, pull: Pull, author: Person, body: str, verdict: Verdict, remarks: Iterable[NewRemark] = ()
    ) -> Review:
        """Judge a pull request, with remarks on its lines."""
        remarks = list(remarks)
        if not body.strip() and not remarks and verdict is not Verdict.APPROVE:
            raise Invalid("PullRequestReview", "body", "missing_field")
        with self._journal.lock:
            now = self._journal.now()
            review = Review(self._journal.next_id(), issue.number, author, body, verdict, pull.head_commit, now)
            self._reviews[review.id] = review
            self._journal.write(Deed.REVIEWED, author, issue, review=review)
            for new in remarks:
                self._add(issue, pull, review, new)
            return review

    def say(self, issue: Issue, pull: Pull, author: Person, new: NewRemark) -> Remark:
        """Remark on one line, which is a review of its own, or answer a remark."""
        with self._journal.lock:
            if new.in_reply_to:
                first = self.remark(new.in_reply_to)
                new = replace(new, path=first.path, line=first.line, side=first.side)
            now = self._journal.now()
            review = Review(self._journal.next_id(), issue.number, author, "", Verdict.COMMENT, pull.head_commit, now)
            self._reviews[review.id] = review
            return self._add(issue, pull, review, new)

    def reword(self, remark_id: int, body: str) -> Remark:
        """Replace the text of a remark."""
        with self._journal.lock:
            new = replace(self.remark(remark_id), body=body, updated_at=self._journal.now())
            self._remarks[remark_id] = new
            return new

    def withdraw(self, remark_id: int) -> None:
        """Take a remark back."""
        with self._journal.lock:
            del self._remarks[self.remark(remark_id).id]

    def _add(self, issue: Issue, pull: Pull, review: Review, new: NewRemark) -> Remark:
        if not new.body.strip():
            raise Invalid("PullRequestReviewComment", "body", "missing_field")
        now = self._journal.now()
        remark = Remark(
            id=self._journal.next_id(),
            review_id=review.id,
            number=issue.number,
            author=review.author,
            body=new.body,
            path=new.path,
            line=new.line,
            commit=pull.head_commit,
            created_at=now,
            updated_at=now,
            side=new.side,
            in_reply_to=new.in_reply_to,
        )
        self._remarks[remark.id] = remark
        self._journal.write(Deed.REMARKED, review.author, issue, review=review, remark=remark)
        return remark
