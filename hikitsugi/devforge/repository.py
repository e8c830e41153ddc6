"""One repository: its issues, its git half, and the pull requests that join both."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from hikitsugi.devforge.bare_git import DEFAULT_BRANCH, BareGit, Difference
from hikitsugi.devforge.records import Edit, Issue, Merge, Person, Pull
from hikitsugi.devforge.refusals import Invalid, NotMergeable, NotThere, Outdated
from hikitsugi.devforge.tracker import Tracker

_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b", re.IGNORECASE)


class Repository:
    """What stands at `owner/name` of the forge."""

    def __init__(self, repository_id: int, full_name: str, git: BareGit, tracker: Tracker) -> None:
        self.id = repository_id
        self.full_name = full_name
        self.owner, self.name = full_name.split("/")
        self.default_branch = DEFAULT_BRANCH
        self.git = git
        self.tracker = tracker
        self.created_at = datetime.now(UTC)

    @property
    def pulls(self) -> list[Issue]:
        """All pull requests, oldest first."""
        return [issue for issue in self.tracker.issues if issue.pull]

    def pull(self, number: int) -> tuple[Issue, Pull]:
        """A pull request, with its branches as they stand now while it is open."""
        issue = self.tracker.issue(number)
        if not issue.pull:
            raise NotThere(f"pull request {number}")
        return issue, self.current(issue, issue.pull)

    def current(self, issue: Issue, pull: Pull) -> Pull:
        """The branches read from git at this moment; a closed request keeps what it ended with."""
        if not issue.is_open:
            return pull
        head, base = self.git.commit_of(pull.head), self.git.commit_of(pull.base)
        return replace(pull, head_commit=head or pull.head_commit, base_commit=base or pull.base_commit)

    def open_pull(
        self, author: Person, title: str, body: str, head: str, base: str, *, is_draft: bool = False
    ) -> Issue:
        """Propose one branch for another; a second open request for the same pair is refused."""
        with self.tracker.lock:
            commits = self._comparable(head, base)
            if any((p.head, p.base) == (head, base) for p in self._open_pulls()):
                reason = f"A pull request already exists for {self.owner}:{head}."
                raise Invalid("PullRequest", "head", "custom", reason)
            return self.tracker.open_issue(author, title, body, pull=Pull(head, base, *commits, is_draft))

    def edit_pull(self, number: int, by: Person, edit: Edit, base: str | None = None) -> Issue:
        """Change a pull request; closing it keeps the commits it closed with."""
        with self.tracker.lock:
            issue, pull = self.pull(number)
            if edit.is_open and pull.merge:
                raise Invalid("PullRequest", "state", "invalid", "state cannot be changed. The pull request is merged.")
            if base and base != pull.base:
                _, base_commit = self._comparable(pull.head, base)
                pull = replace(pull, base=base, base_commit=base_commit)
            if base or (edit.is_open is False and issue.is_open):
                self.tracker.mark(number, pull)
            return self.tracker.edit(number, by, edit)

    def merge(self, number: int, by: Person, expected_head: str | None = None) -> str:
        """Merge a pull request and close the issues its text promises to close; the merge commit."""
        with self.tracker.lock:
            issue, pull = self.pull(number)
            if not issue.is_open or pull.is_draft:
                raise NotMergeable("Pull Request is not mergeable")
            if expected_head and expected_head != pull.head_commit:
                raise Outdated("Head branch was modified. Review and try the merge again.")
            message = f"Merge pull request #{number} from {self.owner}/{pull.head}\n\n{issue.title}"
            commit = self.git.merge(pull.base, pull.head_commit, message)
            self.tracker.mark(number, replace(pull, merge=Merge(commit, by, datetime.now(UTC))))
            self.tracker.edit(number, by, Edit(is_open=False))
            self._close_promised(issue, by)
            return commit

    def difference(self, pull: Pull) -> Difference:
        """How much a pull request changes."""
        return self.git.difference(pull.base_commit, pull.head_commit)

    def pulls_naming(self, number: int) -> list[Issue]:
        """The pull requests whose text names an issue."""
        named = re.compile(rf"(?<![\w/])#{number}\b")
        return [pull for pull in self.pulls if named.search(f"{pull.title}\n{pull.body}")]

    def issues_named_in(self, pull: Issue) -> list[Issue]:
        """The issues that a pull request's text names."""
        numbers = {int(found) for found in re.findall(r"(?<![\w/])#(\d+)\b", f"{pull.title}\n{pull.body}")}
        return [issue for issue in self.tracker.issues if issue.number in numbers and not issue.pull]

    def _open_pulls(self) -> Iterable[Pull]:
        return (issue.pull for issue in self.pulls if issue.pull and issue.is_open)

    def _comparable(self, head: str, base: str) -> tuple[str, str]:
        commits = {"head": self.git.commit_of(head), "base": self.git.commit_of(base)}
        for field, commit in commits.items():
            if commit is None:
                raise Invalid("PullRequest", field, "invalid")
        head_commit, base_commit = str(commits["head"]), str(commits["base"])
        if not self.git.have_common_history(base_commit, head_commit):
            reason = f"The {head} branch has no history in common with {base}"
            raise Invalid("PullRequest", "head", "custom", reason)
        if not self.git.difference(base_commit, head_commit).commits:
            raise Invalid("PullRequest", "head", "custom", f"No commits between {base} and {head}")
        return head_commit, base_commit

    def _close_promised(self, pull: Issue, by: Person) -> None:
        known = {issue.number for issue in self.tracker.issues}
        for number in {int(found) for found in _CLOSES.findall(f"{pull.title}\n{pull.body}")} & known:
            self.tracker.edit(number, by, Edit(is_open=False))
