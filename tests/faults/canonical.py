"""What an outsider sees of an issue in the end, without what differs between any two runs."""

import re
from collections import Counter
from typing import NamedTuple

from hikitsugi.devforge import DevForge
from hikitsugi.devforge.repository import Repository

_CHANCE = re.compile(
    r"<!-- .*? -->|`[0-9a-f]{8}`|http://\S+|#\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\*モデル呼び出し .*?\*"
)


class SeenComment(NamedTuple):
    """Who said what, and how many reactions it got."""

    author: str
    text: str
    reactions: int


class SeenIssue(NamedTuple):
    """One issue with all that belongs to it."""

    title: str
    labels: frozenset[str]
    comments: tuple[SeenComment, ...]
    requests: tuple[tuple[str, str], ...]
    tree: str | None

    @property
    def duplicates(self) -> int:
        """How many comments and change requests are there more than once."""
        once = Counter[object](self.comments) + Counter[object](self.requests)
        return sum(number - 1 for number in once.values())


def canonical(forge: DevForge, repository: str, number: int) -> SeenIssue:
    """The issue as it stands on the forge."""
    home, branch = forge.repository(repository), f"hikitsugi/issue-{number}"
    issue = forge.issue(repository, number)
    said = forge.comments(repository, number)
    pulls = [pull for pull in forge.pulls(repository) if pull.pull and pull.pull.head == branch]
    return SeenIssue(
        title=issue.title,
        labels=frozenset(issue.labels),
        comments=tuple(SeenComment(c.author.login, without_chance(c.body), len(c.reactions)) for c in said),
        requests=tuple((without_chance(pull.title), without_chance(pull.body)) for pull in pulls),
        tree=_tree(home, branch),
    )


def without_chance(text: str) -> str:
    """The text without addresses, numbers, commit hashes, times, keys and costs.

    A command that a kill cut off is never run again unasked: the model is told, and asks for it in one more call.
    """
    return _CHANCE.sub("…", text)


def _tree(home: Repository, branch: str) -> str | None:
    commit = home.git.commit_of(branch)
    return home.git.commit(commit).tree if commit else None
