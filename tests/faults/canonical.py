"""What an outsider sees of an issue in the end, without what differs between any two runs."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import unified_diff
from typing import NamedTuple

from hikitsugi.devforge import DevForge
from hikitsugi.devforge.records import Issue
from hikitsugi.devforge.repository import Repository

_CHANCE = re.compile(r"<!-- .*? -->|`[0-9a-f]{8}`|http://\S+|#\d+|\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")
_TURNS = re.compile(r"(?<=モデル呼び出し )\d+|(?<=確認 )\d+(?= 回)")
_COST = re.compile(r"費用 \$([\d.]+)")
_TOKENS = re.compile(r"[\d,]+(?= トークン)")


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


def canonical(forge: DevForge, repository: str, number: int, by_chance: int) -> SeenIssue:
    """The issue as it stands on the forge; turns that the model took only by chance are not counted."""
    home = forge.repository(repository)
    issue = forge.issue(repository, number)
    said = forge.comments(repository, number)
    pulls = _pulls(forge, repository, number)

    def plain(text: str) -> str:
        without = _TOKENS.sub("…", _COST.sub("…", _CHANCE.sub("…", text)))
        return _TURNS.sub(lambda told: str(int(told[0]) - by_chance), without)

    return SeenIssue(
        title=issue.title,
        labels=frozenset(issue.labels),
        comments=tuple(SeenComment(c.author.login, plain(c.body), len(c.reactions)) for c in said),
        requests=tuple((plain(pull.title), plain(pull.body)) for pull in pulls),
        tree=_tree(home, branch_of(number)),
    )


def differences(seen: Sequence[SeenIssue], expected: Sequence[SeenIssue]) -> list[str]:
    """What is seen otherwise than expected, line by line."""
    pairs = zip(_lines(seen), _lines(expected), strict=True)
    return [line for one, other in pairs for line in unified_diff(other, one, "expected", "seen", lineterm="", n=3)]


def _lines(issues: Sequence[SeenIssue]) -> list[list[str]]:
    """Every issue as text."""
    return [
        "\n".join(
            [
                f"{issue.title} {sorted(issue.labels)} {issue.tree}",
                *(f"{said.author} ({said.reactions}): {said.text}" for said in issue.comments),
                *(f"{title}: {body}" for title, body in issue.requests),
            ]
        ).splitlines()
        for issue in issues
    ]


def cost_of(forge: DevForge, repository: str, number: int) -> float:
    """What the work on an issue cost, as its change request tells it; 0 where there is none."""
    told = [_COST.findall(pull.body) for pull in _pulls(forge, repository, number)]
    return sum(float(cost) for costs in told for cost in costs)


def branch_of(number: int) -> str:
    """The work branch of an issue."""
    return f"hikitsugi/issue-{number}"


def _pulls(forge: DevForge, repository: str, number: int) -> list[Issue]:
    return [pull for pull in forge.pulls(repository) if pull.pull and pull.pull.head == branch_of(number)]


def _tree(home: Repository, branch: str) -> str | None:
    commit = home.git.commit_of(branch)
    return home.git.commit(commit).tree if commit else None
