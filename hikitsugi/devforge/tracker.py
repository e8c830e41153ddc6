"""The issues, comments and labels of one repository; every change is made whole under one lock."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from threading import RLock

from hikitsugi.devforge.records import Comment, Edit, Issue, Label, Person, Pull, Reaction
from hikitsugi.devforge.refusals import Invalid, NotThere

LONGEST_TEXT = 65_536
REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
PLAIN_COLOR = "ededed"
KNOWN_COLORS = {
    "processing": "1d76db",
    "awaiting-response": "fbca04",
    "completed": "2da44e",
    "paused": "8b949e",
    "stopped": "57606a",
    "failed": "d1242f",
    "in-progress": "0e8a9e",
    "needs-review": "bf8700",
    "task:misc": "8250df",
    "task:dogfooding": "bf3989",
}


class Tracker:
    """Issues and what is said about them."""

    def __init__(self, next_id: Callable[[], int]) -> None:
        self.lock = RLock()
        self._next_id = next_id
        self._issues: dict[int, Issue] = {}
        self._threads: dict[int, dict[int, Comment]] = {}
        self._places: dict[int, int] = {}
        self._labels: dict[str, Label] = {}

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
        _refuse_bad_text("Issue", "title", title)
        _refuse_bad_text("Issue", "body", body, may_be_empty=True)
        with self.lock:
            number, now = len(self._issues) + 1, _now()
            issue = Issue(
                id=self._next_id(),
                number=number,
                title=title,
                body=body,
                author=author,
                created_at=now,
                updated_at=now,
                labels=self._spelled(labels),
                assignees=tuple(dict.fromkeys(assignees)),
                pull=pull,
            )
            self._issues[number] = issue
            self._threads[number] = {}
            return issue

    def edit(self, number: int, by: Person, edit: Edit) -> Issue:
        """Apply what the edit names; an edit that changes nothing leaves the time of update alone."""
        if edit.title is not None:
            _refuse_bad_text("Issue", "title", edit.title)
        if edit.body is not None:
            _refuse_bad_text("Issue", "body", edit.body, may_be_empty=True)
        with self.lock:
            old = self.issue(number)
            new = replace(
                old,
                title=old.title if edit.title is None else edit.title,
                body=old.body if edit.body is None else edit.body,
                labels=old.labels if edit.labels is None else self._spelled(edit.labels),
                assignees=old.assignees if edit.assignees is None else tuple(dict.fromkeys(edit.assignees)),
            )
            return self._store(old, _with_state(new, by, edit))

    def mark(self, number: int, pull: Pull) -> Issue:
        """Record what became of a pull request."""
        with self.lock:
            old = self.issue(number)
            return self._store(old, replace(old, pull=pull))

    def thread(self, number: int) -> list[Comment]:
        """The comments of one issue, oldest first."""
        self.issue(number)
        return list(self._threads[number].values())

    def comments(self) -> list[Comment]:
        """The comments of all issues, oldest first."""
        with self.lock:
            return sorted((c for thread in self._threads.values() for c in thread.values()), key=lambda c: c.id)

    def comment_count(self, number: int) -> int:
        """How many comments an issue has."""
        return len(self._threads[number])

    def find_comment(self, comment_id: int) -> Comment:
        """One comment by its id."""
        with self.lock:
            if comment_id not in self._places:
                raise NotThere(f"comment {comment_id}")
            return self._threads[self._places[comment_id]][comment_id]

    def comment(self, number: int, author: Person, body: str) -> Comment:
        """Say something on an issue, which counts as an update of it."""
        _refuse_bad_text("IssueComment", "body", body)
        with self.lock:
            issue, now = self.issue(number), _now()
            comment = Comment(self._next_id(), number, author, body, created_at=now, updated_at=now)
            self._places[comment.id] = number
            self._threads[number][comment.id] = comment
            self._issues[number] = replace(issue, updated_at=now)
            return comment

    def edit_comment(self, comment_id: int, body: str) -> Comment:
        """Replace the text of a comment."""
        _refuse_bad_text("IssueComment", "body", body)
        with self.lock:
            comment = replace(self.find_comment(comment_id), body=body, updated_at=_now())
            self._threads[comment.number][comment_id] = comment
            return comment

    def delete_comment(self, comment_id: int) -> None:
        """Take a comment back."""
        with self.lock:
            number = self.find_comment(comment_id).number
            del self._threads[number][comment_id], self._places[comment_id]
            self._issues[number] = replace(self._issues[number], updated_at=_now())

    def react(self, comment_id: int, author: Person, content: str) -> tuple[Reaction, bool]:
        """Put an emoji on a comment; the same one again is the one that is there, and not new."""
        if content not in REACTIONS:
            raise Invalid("Reaction", "content", "invalid")
        with self.lock:
            comment = self.find_comment(comment_id)
            for reaction in comment.reactions:
                if (reaction.author, reaction.content) == (author, content):
                    return reaction, False
            reaction = Reaction(self._next_id(), author, content, _now())
            self._threads[comment.number][comment_id] = replace(comment, reactions=(*comment.reactions, reaction))
            return reaction, True

    @property
    def labels(self) -> list[Label]:
        """All labels of the repository, by name."""
        return sorted(self._labels.values(), key=lambda label: label.name.lower())

    def label(self, name: str) -> Label:
        """One label; capital letters make no difference."""
        try:
            return self._labels[name.lower()]
        except KeyError:
            raise NotThere(f"label {name}") from None

    def define_label(self, name: str, color: str | None = None, description: str = "") -> Label:
        """Make a label that does not exist yet."""
        if not name.strip():
            raise Invalid("Label", "name", "missing_field")
        if color is not None and not re.fullmatch("[0-9a-fA-F]{6}", color):
            raise Invalid("Label", "color", "invalid")
        with self.lock:
            if name.lower() in self._labels:
                raise Invalid("Label", "name", "already_exists")
            label = Label(self._next_id(), name, color or KNOWN_COLORS.get(name, PLAIN_COLOR), description)
            self._labels[name.lower()] = label
            return label

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

    def _spelled(self, names: Iterable[str]) -> tuple[str, ...]:
        known = (self._labels.get(name.lower()) or self.define_label(name) for name in names)
        return tuple(dict.fromkeys(label.name for label in known))

    def _store(self, old: Issue, new: Issue) -> Issue:
        if new != old:
            new = replace(new, updated_at=_now())
            self._issues[new.number] = new
        return new


def _with_state(issue: Issue, by: Person, edit: Edit) -> Issue:
    if edit.is_open is None or edit.is_open is issue.is_open:
        return issue
    if edit.is_open:
        return replace(issue, closed_at=None, closed_by=None, reason="reopened")
    return replace(issue, closed_at=_now(), closed_by=by, reason=edit.reason or "completed")


def _refuse_bad_text(resource: str, field: str, text: str, *, may_be_empty: bool = False) -> None:
    if not may_be_empty and not text.strip():
        raise Invalid(resource, field, "missing_field")
    if len(text) > LONGEST_TEXT:
        raise Invalid(resource, field, "custom", f"{field} is too long (maximum is {LONGEST_TEXT} characters)")


def _now() -> datetime:
    return datetime.now(UTC)
