"""Where the two kinds of forge differ in what they keep; how they speak lies in their own packages."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

KindName = Literal["github", "gitlab"]


@dataclass(frozen=True)
class Kind:
    """One kind of forge."""

    name: KindName
    full_name: re.Pattern[str]
    wanted_name: str
    calls: re.Pattern[str]
    numbers_are_shared: bool
    touch_interval: timedelta
    longest_text: int
    drafts_are_titles: bool
    pulls_need_commits: bool
    pages_below: str
    pulls_place: str
    pull_word: str
    call_limit: int
    limit_window: timedelta

    @property
    def has_quick_actions(self) -> bool:
        """Whether lines such as `/close` are orders to the forge, and changes leave system notes."""
        return self.name == "gitlab"

    @property
    def emojis_touch(self) -> bool:
        """Whether an emoji on a comment moves the comment's time of update, though nobody changed its text."""
        return self.name == "gitlab"


# The API's own first words cannot be owners, and `.git` ends the clone address, not the name.
GITHUB = Kind(
    name="github",
    full_name=re.compile(
        r"(?!(api|app|graphql|repos|repositories|user)/)[a-z0-9][a-z0-9-]*/[a-z0-9_][a-z0-9_.-]*(?<!\.git)",
        re.IGNORECASE,
    ),
    wanted_name="OWNER/NAME",
    calls=re.compile(r"^/(api|repos|repositories|user|rate_limit|app|graphql)(/|$)|\.git/"),
    numbers_are_shared=True,
    touch_interval=timedelta(0),
    longest_text=65_536,
    drafts_are_titles=False,
    pulls_need_commits=True,
    pages_below="",
    pulls_place="pull",
    pull_word="pull request",
    call_limit=5000,
    limit_window=timedelta(hours=1),
)
GITLAB = Kind(
    name="gitlab",
    full_name=re.compile(r"(?!api/)[a-z0-9_][a-z0-9_-]*(/[a-z0-9_][a-z0-9_.-]*)+(?<!\.git)", re.IGNORECASE),
    wanted_name="GROUP/PROJECT",
    calls=re.compile(r"^/api/|\.git/"),
    numbers_are_shared=False,
    touch_interval=timedelta(minutes=1),
    longest_text=1_000_000,
    drafts_are_titles=True,
    pulls_need_commits=False,
    pages_below="/-",
    pulls_place="merge_requests",
    pull_word="merge request",
    call_limit=2000,
    limit_window=timedelta(minutes=1),
)
KINDS: dict[KindName, Kind] = {"github": GITHUB, "gitlab": GITLAB}
