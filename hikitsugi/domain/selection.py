"""Which issues an external agent may be given, and in what order."""

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.branch_names import branch_for
from hikitsugi.domain.issue import Base, Issue
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.value import Value

PRIORITIES = ("p0", "p1", "p2", "p3")
NEVER_GIVEN = frozenset({"story", "epic"})

_PER_PRIORITY = 2**32
_LONGEST_BODY = 65_536
_FENCED = re.compile(r"^ {0,3}+(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1[`~]*+[ \t]*+$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(?P<title>[^\n]*)$|^ {0,3}(?P<underlined>\S[^\n]*)\n {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE
)
_DELIVERABLES = re.compile(r"成果物|\bdeliverables?\b", re.IGNORECASE)


class TaskType(StrEnum):
    """What an agent can be asked to do."""

    DEVELOPMENT = "development"
    REVIEW = "review"


class Card(Value):
    """What the board keeps of an issue or request that an agent may be given."""

    address: IssueAddress
    title: str
    body: str
    url: str
    author: str
    labels: tuple[str, ...]
    role: str
    branch: str
    rank: int
    """By priority, then by number."""
    seems_taken: bool = False
    """Whether it is labelled as in progress, although the board may know of nobody who has it."""
    task_type: TaskType = TaskType.DEVELOPMENT
    behind: IssueAddress | None = None
    """The issue that a request to be reviewed was made for."""

    @property
    def shelf(self) -> str:
        """Where agents that fit look for it."""
        return shelf(str(self.address.home), self.role, self.task_type)

    @property
    def place(self) -> int:
        """Its place on the shelf: what seems to be taken comes last, in case nobody knows of it."""
        return self.rank + self.seems_taken * (len(PRIORITIES) + 1) * _PER_PRIORITY


class Rules(Value):
    """How an operator's labels are read: the roles, of which the first is meant where none is named."""

    labels: LabelNames = LabelNames()
    roles: tuple[str, ...] = ("CODER",)

    def development_card(self, issue: Issue, base: Base) -> Card | None:
        """The task in an issue; None when it is not for agents now."""
        labels = folded(issue.labels)
        excluded = NEVER_GIVEN | {self.labels.needs_review.casefold()}
        if issue.address.kind is not Kind.ISSUE or not issue.is_open or labels & excluded:
            return None
        if deliverables_in(issue.body[:_LONGEST_BODY]) is None:
            return None
        return self._card(issue, branch_for(issue.address.number, issue.body, base.branch))

    def review_cards(self, waiting: Sequence[Issue], requests: Iterable[Issue], base: Base) -> list[Card]:
        """The reviews in open requests from branches of issues that wait for one."""
        branches = {branch_for(issue.address.number, issue.body, base.branch): issue for issue in waiting}
        cards = [
            self._review_card(request, request.request.head, branches[request.request.head])
            for request in requests
            if request.request and request.request.head in branches
        ]
        return [card for card in cards if card]

    def _review_card(self, request: Issue, branch: str, behind: Issue) -> Card | None:
        """None when the request was reviewed, or its issue is not to be given."""
        if not request.is_open or self.awaits_review(request) or NEVER_GIVEN & folded(behind.labels):
            return None
        return self._card(request, branch, behind)

    def awaits_review(self, issue: Issue) -> bool:
        """Whether an open issue or request is labelled as waiting for a review."""
        return issue.is_open and self.labels.needs_review.casefold() in folded(issue.labels)

    def role_of(self, labels: Collection[str]) -> str:
        """The role a label names; none means the first."""
        named = folded(labels)
        return next((role for role in self.roles if role.casefold() in named), self.roles[0])

    def _card(self, issue: Issue, branch: str, behind: Issue | None = None) -> Card:
        marks = behind or issue
        return Card(
            address=issue.address,
            title=issue.title,
            body=issue.body[:_LONGEST_BODY],
            url=issue.url,
            author=issue.author,
            labels=issue.labels,
            role=self.role_of(marks.labels),
            branch=branch,
            rank=_rank(folded(marks.labels), issue.address.number),
            seems_taken=self.labels.in_progress.casefold() in folded(issue.labels),
            task_type=TaskType.REVIEW if behind else TaskType.DEVELOPMENT,
            behind=behind.address if behind else None,
        )


def _rank(labels: Collection[str], number: int) -> int:
    priority = next((n for n, name in enumerate(PRIORITIES) if name in labels), len(PRIORITIES))
    return priority * _PER_PRIORITY + number


def shelf(home: str, role: str, task_type: str) -> str:
    """Names the candidates of one repository, role and type of task."""
    return f"{home}|{role}|{task_type}"


def home_of(shelf: str) -> str:
    """The repository whose candidates a shelf holds."""
    return shelf.rsplit("|", 2)[0]


def deliverables_in(body: str) -> str | None:
    """What stands under the heading that promises deliverables; None without one."""
    text = _FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), body.replace("\r\n", "\n"))
    headings = list(_HEADING.finditer(text))
    for n, heading in enumerate(headings):
        if _DELIVERABLES.search(heading["title"] or heading["underlined"] or ""):
            end = headings[n + 1].start() if n + 1 < len(headings) else len(text)
            return body.replace("\r\n", "\n")[heading.end() : end].strip()
    return None


def folded(labels: Iterable[str]) -> frozenset[str]:
    """Labels as forges compare them: capital letters make no difference."""
    return frozenset(label.casefold() for label in labels)
