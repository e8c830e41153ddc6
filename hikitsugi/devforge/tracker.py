"""The issues and comments of one repository; every change is made whole under one lock."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from hikitsugi.devforge.journal import Journal
from hikitsugi.devforge.kinds import Kind
from hikitsugi.devforge.label_book import LabelBook
from hikitsugi.devforge.records import Comment, Deed, Edit, Issue, Person, Pull, Reaction
from hikitsugi.devforge.refusals import Invalid, NotThere


class Tracker:
    """Issues and what is said about them."""

    def __init__(self, journal: Journal, labels: LabelBook, kind: Kind) -> None:
        self.lock = journal.lock
        self._journal = journal
        self._labels = labels
        self._kind = kind
        self._issues: dict[int, Issue] = {}
        self._threads: dict[int, dict[int, Comment]] = {}
        self._places: dict[int, int] = {}

    @property
    def issues(self) -> list[Issue]:
        """All issues and pull requests, oldest first."""
        return list(self._issues.values())

    def issue(self, number: int) -> Issue:
        """One issue or pull request."""
        try:
            return self._issues[number]
        except KeyError:
            raise NotThere(f"issue {number}") from None

    def open_issue(
        self,
        author: Person,
        title: str,
        body: str = "",
        labels: Iterable[str] = (),
        assignees: Iterable[Person] = (),
        pull: Pull | None = None,
    ) -> Issue:
        """Give the next number to a new issue or pull request."""
        self._refuse_bad_text("Issue", "title", title)
        self._refuse_bad_text("Issue", "body", body, may_be_empty=True)
        with self.lock:
            number, now = len(self._issues) + 1, self._journal.now()
            issue = Issue(
                id=self._journal.next_id(),
                number=number,
                title=title,
                body=body,
                author=author,
                created_at=now,
                updated_at=now,
                labels=self._labels.spelled(labels),
                assignees=tuple(dict.fromkeys(assignees)),
                pull=pull,
            )
            self._issues[number] = issue
            self._threads[number] = {}
            self._journal.write(Deed.OPENED, author, issue)
            return issue

    def edit(self, number: int, by: Person, edit: Edit, pull: Pull | None = None) -> Issue:
        """Apply what the edit names; an edit that changes nothing leaves the time of update alone."""
        if edit.title is not None:
            self._refuse_bad_text("Issue", "title", edit.title)
        if edit.body is not None:
            self._refuse_bad_text("Issue", "body", edit.body, may_be_empty=True)
        with self.lock:
            old = self.issue(number)
            new = replace(
                old,
                title=old.title if edit.title is None else edit.title,
                body=old.body if edit.body is None else edit.body,
                labels=old.labels if edit.labels is None else self._labels.spelled(edit.labels),
                assignees=old.assignees if edit.assignees is None else tuple(dict.fromkeys(edit.assignees)),
                pull=pull or old.pull,
            )
            return self._store(old, _with_state(new, by, edit, self._journal.now()), by)

    def mark(self, number: int, by: Person, pull: Pull, deed: Deed = Deed.CHANGED) -> Issue:
        """Record what became of a pull request."""
        with self.lock:
            old = self.issue(number)
            return self._store(old, replace(old, pull=pull), by, deed)

    def merged(self, number: int, by: Person, pull: Pull) -> Issue:
        """Close a pull request as merged."""
        with self.lock:
            old = self.issue(number)
            closed = _with_state(replace(old, pull=pull), by, Edit(is_open=False), self._journal.now())
            return self._store(old, closed, by)

    def thread(self, number: int) -> list[Comment]:
        """What people said on one issue, oldest first."""
        return [comment for comment in self.notes(number) if not comment.is_system]

    def notes(self, number: int) -> list[Comment]:
        """What people said and what the forge noted on one issue, oldest first."""
        self.issue(number)
        return list(self._threads[number].values())

    def comments(self) -> list[Comment]:
        """What people said on all issues, oldest first."""
        with self.lock:
            every = (c for thread in self._threads.values() for c in thread.values() if not c.is_system)
            return sorted(every, key=lambda c: c.id)

    def comment_count(self, number: int) -> int:
        """How many comments of people an issue has."""
        return sum(not comment.is_system for comment in self._threads[number].values())

    def find_comment(self, comment_id: int) -> Comment:
        """One comment by its id."""
        with self.lock:
            if comment_id not in self._places:
                raise NotThere(f"comment {comment_id}")
            return self._threads[self._places[comment_id]][comment_id]

    def comment(self, number: int, author: Person, body: str) -> Comment:
        """Say something on an issue, which touches it."""
        self._refuse_bad_text("IssueComment", "body", body)
        with self.lock:
            comment = self._add(number, author, body)
            self._touch(number)
            self._journal.write(Deed.COMMENTED, author, self.issue(number), comment=comment)
            return comment

    def note_down(self, number: int, by: Person, text: str) -> None:
        """Leave a system note about what somebody did."""
        with self.lock:
            self._add(number, by, text, is_system=True)

    def edit_comment(self, comment_id: int, body: str, by: Person | None = None) -> Comment:
        """Replace the text of a comment."""
        self._refuse_bad_text("IssueComment", "body", body)
        with self.lock:
            old = self.find_comment(comment_id)
            new = replace(old, body=body, updated_at=self._journal.now())
            self._threads[old.number][comment_id] = new
            if self._kind.touch_interval:
                self._touch(old.number)
            after = self.issue(old.number)
            self._journal.write(Deed.REWORDED, by or old.author, after, comment=new, comment_before=old)
            return new

    def delete_comment(self, comment_id: int, by: Person | None = None) -> None:
        """Take a comment back."""
        with self.lock:
            old = self.find_comment(comment_id)
            del self._threads[old.number][comment_id], self._places[comment_id]
            self._touch(old.number)
            self._journal.write(Deed.WITHDREW, by or old.author, self.issue(old.number), comment=old)

    def react(self, comment_id: int, author: Person, content: str) -> tuple[Reaction, bool]:
        """Put an emoji on a comment; the same one again is the one that is there, and not new."""
        with self.lock:
            comment = self.find_comment(comment_id)
            for reaction in comment.reactions:
                if (reaction.author, reaction.content) == (author, content):
                    return reaction, False
            now = self._journal.now()
            reaction = Reaction(self._journal.next_id(), author, content, now)
            touched = now if self._kind.emojis_touch else comment.updated_at
            reactions = (*comment.reactions, reaction)
            self._threads[comment.number][comment_id] = replace(comment, reactions=reactions, updated_at=touched)
            return reaction, True

    def add_labels(self, number: int, by: Person, names: Iterable[str]) -> Issue:
        """Put labels on an issue beside those it has."""
        with self.lock:
            return self.edit(number, by, Edit(labels=(*self.issue(number).labels, *names)))

    def remove_label(self, number: int, by: Person, name: str) -> Issue:
        """Take a label off an issue that carries it."""
        with self.lock:
            labels = self.issue(number).labels
            left = tuple(label for label in labels if label.lower() != name.lower())
            if left == labels:
                raise NotThere(f"label {name} on issue {number}")
            return self.edit(number, by, Edit(labels=left))

    def _add(self, number: int, author: Person, body: str, *, is_system: bool = False) -> Comment:
        self.issue(number)
        now = self._journal.now()
        comment = Comment(
            self._journal.next_id(), number, author, body, created_at=now, updated_at=now, is_system=is_system
        )
        self._places[comment.id] = number
        self._threads[number][comment.id] = comment
        return comment

    def _touch(self, number: int) -> None:
        """Move the time of update, but not twice within the interval the forge allows itself."""
        issue, now = self.issue(number), self._journal.now()
        if not self._kind.touch_interval or now - issue.updated_at > self._kind.touch_interval:
            self._issues[number] = replace(issue, updated_at=now)

    def _refuse_bad_text(self, resource: str, field: str, text: str, *, may_be_empty: bool = False) -> None:
        if not may_be_empty and not text.strip():
            raise Invalid(resource, field, "missing_field")
        if len(text) > self._kind.longest_text:
            reason = f"{field} is too long (maximum is {self._kind.longest_text} characters)"
            raise Invalid(resource, field, "custom", reason)

    def _store(self, old: Issue, new: Issue, by: Person, deed: Deed = Deed.CHANGED) -> Issue:
        if new == old:
            return old
        new = replace(new, updated_at=self._journal.now())
        self._issues[new.number] = new
        self._journal.write(deed, by, new, old)
        return new


def _with_state(issue: Issue, by: Person, edit: Edit, now: datetime) -> Issue:
    if edit.is_open is None or edit.is_open is issue.is_open:
        return issue
    if edit.is_open:
        return replace(issue, closed_at=None, closed_by=None, reason="reopened")
    return replace(issue, closed_at=now, closed_by=by, reason=edit.reason or "completed")
