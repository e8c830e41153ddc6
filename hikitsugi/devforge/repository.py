"""One repository: its issues, its git half, and the pull requests that join both."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from hikitsugi.devforge.bare_git import DEFAULT_BRANCH, BareGit, Difference
from hikitsugi.devforge.drafts import is_draft as is_draft_title
from hikitsugi.devforge.hooks import Hooks
from hikitsugi.devforge.journal import Clock, Journal
from hikitsugi.devforge.kinds import Kind
from hikitsugi.devforge.label_book import LabelBook
from hikitsugi.devforge.records import Deed, Edit, Entry, Issue, Merge, Permission, Person, Pull
from hikitsugi.devforge.refusals import Duplicate, Invalid, NotMergeable, NotThere, Outdated, Unsupported
from hikitsugi.devforge.reviews import Reviews
from hikitsugi.devforge.system_notes import system_notes
from hikitsugi.devforge.tracker import Tracker

Listener = Callable[["Repository", Entry], None]
_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b", re.IGNORECASE)


class Repository:
    """What stands at `owner/name` of the forge; on GitLab the owner may be a group in a group."""

    def __init__(
        self, kind: Kind, full_name: str, git: BareGit, next_id: Callable[[], int], now: Clock, listen: Listener
    ) -> None:
        self.id = next_id()
        self.kind = kind
        self.full_name = full_name
        self.owner, _, self.name = full_name.rpartition("/")
        self.default_branch = DEFAULT_BRANCH
        self.git = git
        self.created_at = now()
        self.labels = LabelBook(next_id)
        self.journal = Journal(next_id, now, self._hear)
        self.tracker = Tracker(self.journal, self.labels, kind)
        self.pull_tracker = self.tracker if kind.numbers_are_shared else Tracker(self.journal, self.labels, kind)
        self.reviews = Reviews(self.journal)
        self.hooks = Hooks(next_id, now)
        self.has_drafts = True
        """Whether its plan knows draft pull requests; GitHub's free plan for private repositories does not."""
        self._listen = listen
        self._permissions: dict[str, Permission] = {}

    def grant(self, somebody: Person, permission: Permission) -> None:
        """Let somebody do more or less here than elsewhere."""
        self._permissions[somebody.login.lower()] = permission

    def member(self, somebody: Person) -> Person:
        """A person with the permission they have here."""
        return replace(somebody, permission=self._permissions.get(somebody.login.lower(), somebody.permission))

    def tracker_of(self, one: Issue) -> Tracker:
        """Where an issue or pull request is kept."""
        return self.pull_tracker if one.pull else self.tracker

    def place_of(self, one: Issue) -> str:
        """The path of an issue or pull request in the browser."""
        place = self.kind.pulls_place if one.pull else "issues"
        return f"/{self.full_name}{self.kind.pages_below}/{place}/{one.number}"

    @property
    def pulls(self) -> list[Issue]:
        """All pull requests, oldest first."""
        return [issue for issue in self.pull_tracker.issues if issue.pull]

    def pull(self, number: int) -> tuple[Issue, Pull]:
        """A pull request, with its branches as they stand now while it is open."""
        issue = self.pull_tracker.issue(number)
        if not issue.pull:
            raise NotThere(f"pull request {number}")
        return issue, self.current(issue, issue.pull)

    def current(self, issue: Issue, pull: Pull) -> Pull:
        """The branches read from git at this moment; a closed request keeps what it ended with."""
        if not issue.is_open or pull.is_from_fork:
            return pull
        head, base = self.git.commit_of(pull.head), self.git.commit_of(pull.base)
        return replace(pull, head_commit=head or pull.head_commit, base_commit=base or pull.base_commit)

    def open_pull(
        self,
        author: Person,
        title: str,
        body: str,
        head: str,
        base: str,
        *,
        is_draft: bool = False,
        labels: Iterable[str] = (),
        assignees: Iterable[Person] = (),
    ) -> Issue:
        """Propose one branch for another; a second open request for the same pair is refused."""
        with self.journal.lock:
            commits = self._comparable(head, base)
            for one in self._open_pulls():
                if one.pull and (one.pull.head, one.pull.base) == (head, base):
                    raise Duplicate(one.number, f"A pull request already exists for {self.owner}:{head}.")
            if self.kind.drafts_are_titles:
                is_draft = is_draft_title(title)
            self._refuse_draft(is_draft=is_draft)
            pull = Pull(head, base, *commits, is_draft)
            return self.pull_tracker.open_issue(author, title, body, labels, assignees, pull)

    def open_pull_from_fork(self, author: Person, title: str, body: str, head: str, commit: str, *labels: str) -> Issue:
        """Propose a commit of somebody's copy for the default branch; it is kept under a ref of the request's own."""
        with self.journal.lock:
            base_commit = str(self.git.commit_of(self.default_branch))
            pull = Pull(head, self.default_branch, commit, base_commit, is_from_fork=True)
            opened = self.pull_tracker.open_issue(author, title, body, labels, (), pull)
            self.git.create_ref(f"refs/{self.kind.pulls_place.replace('_', '-')}/{opened.number}/head", commit)
            return opened

    def edit_pull(self, number: int, by: Person, edit: Edit, base: str | None = None) -> Issue:
        """Change a pull request; closing it keeps the commits it closed with."""
        with self.journal.lock:
            issue, pull = self.pull(number)
            if edit.is_open and pull.merge:
                raise Invalid("PullRequest", "state", "invalid", "state cannot be changed. The pull request is merged.")
            if base and base != pull.base:
                _, base_commit = self._comparable(pull.head, base)
                pull = replace(pull, base=base, base_commit=base_commit)
            if self.kind.drafts_are_titles and edit.title is not None:
                pull = replace(pull, is_draft=is_draft_title(edit.title))
            is_closing = edit.is_open is False and issue.is_open
            return self.pull_tracker.edit(number, by, edit, pull if base or edit.title or is_closing else None)

    def set_draft(self, number: int, by: Person, *, is_draft: bool) -> Issue:
        """Make a pull request a draft or say that it is ready."""
        with self.journal.lock:
            _, pull = self.pull(number)
            self._refuse_draft(is_draft=is_draft)
            return self.pull_tracker.mark(number, by, replace(pull, is_draft=is_draft))

    def approve(self, number: int, by: Person, *, approves: bool = True) -> Issue:
        """Give or take back one's approval."""
        with self.journal.lock:
            _, pull = self.pull(number)
            others = tuple(somebody for somebody in pull.approved_by if somebody != by)
            return self.pull_tracker.mark(number, by, replace(pull, approved_by=(*others, by) if approves else others))

    def merge(self, number: int, by: Person, expected_head: str | None = None) -> str:
        """Merge a pull request and close the issues its text promises to close; the merge commit."""
        with self.journal.lock:
            issue, pull = self.pull(number)
            if not issue.is_open or pull.is_draft:
                raise NotMergeable("Pull Request is not mergeable")
            if expected_head and expected_head != pull.head_commit:
                raise Outdated("Head branch was modified. Review and try the merge again.")
            message = f"Merge {self.kind.pull_word} #{number} from {self.owner}/{pull.head}\n\n{issue.title}"
            commit = self.git.merge(pull.base, pull.head_commit, message)
            self.pull_tracker.merged(number, by, replace(pull, merge=Merge(commit, by, self.journal.now())))
            self._close_promised(issue, by)
            return commit

    def notice_push(self, by: Person) -> None:
        """Let the open pull requests know the commits that were pushed to their branches."""
        with self.journal.lock:
            for issue in self._open_pulls():
                if (
                    issue.pull
                    and not issue.pull.is_from_fork
                    and self.git.commit_of(issue.pull.head) not in {None, issue.pull.head_commit}
                ):
                    self.pull_tracker.mark(issue.number, by, self.current(issue, issue.pull), Deed.PUSHED)

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

    def _hear(self, entry: Entry) -> None:
        if self.kind.has_quick_actions:
            for text in system_notes(entry):
                self.tracker_of(entry.after).note_down(entry.after.number, entry.by, text)
        self._listen(self, entry)

    def _refuse_draft(self, *, is_draft: bool) -> None:
        if is_draft and not (self.has_drafts or self.kind.drafts_are_titles):
            raise Unsupported("Draft pull requests are not supported in this repository.")

    def _open_pulls(self) -> Iterable[Issue]:
        return (issue for issue in self.pulls if issue.is_open)

    def _comparable(self, head: str, base: str) -> tuple[str, str]:
        commits = {"head": self.git.commit_of(head), "base": self.git.commit_of(base)}
        for field, commit in commits.items():
            if commit is None:
                raise Invalid("PullRequest", field, "invalid")
        head_commit, base_commit = str(commits["head"]), str(commits["base"])
        if not self.git.have_common_history(base_commit, head_commit):
            reason = f"The {head} branch has no history in common with {base}"
            raise Invalid("PullRequest", "head", "custom", reason)
        if self.kind.pulls_need_commits and not self.git.difference(base_commit, head_commit).commits:
            raise Invalid("PullRequest", "head", "custom", f"No commits between {base} and {head}")
        return head_commit, base_commit

    def _close_promised(self, pull: Issue, by: Person) -> None:
        known = {issue.number for issue in self.tracker.issues}
        for number in {int(found) for found in _CLOSES.findall(f"{pull.title}\n{pull.body}")} & known:
            self.tracker.edit(number, by, Edit(is_open=False))
