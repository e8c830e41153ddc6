"""The development forge: people, repositories and the calls it has answered, all in memory but the git folders."""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from hmac import compare_digest
from itertools import count
from pathlib import Path
from threading import Lock

from hikitsugi.devforge.bare_git import BareGit
from hikitsugi.devforge.records import Call, Comment, Issue, Permission, Person
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository
from hikitsugi.devforge.tracker import Tracker
from hikitsugi.domain.errors import WillNeverWork

HOURLY_LIMIT = 5000
_REMEMBERED_CALLS = 100_000
# The API's own first words cannot be owners, and `.git` ends the clone address, not the name.
_FULL_NAME = re.compile(
    r"(?!(api|repos|repositories|user)/)[a-z0-9][a-z0-9-]*/[a-z0-9_][a-z0-9_.-]*(?<!\.git)", re.IGNORECASE
)


class DevForge:
    """Everything the demo and the tests seed, read and serve."""

    def __init__(self, data_folder: Path, hourly_limit: int = HOURLY_LIMIT) -> None:
        self.data_folder = data_folder
        self.hourly_limit = hourly_limit
        self._calls: deque[Call] = deque(maxlen=_REMEMBERED_CALLS)
        self._ids = count(1)
        self._lock = Lock()
        self._people: dict[str, Person] = {}
        self._repositories: dict[str, Repository] = {}

    def add_person(
        self, login: str, token: str, permission: Permission | str = Permission.WRITE, *, is_bot: bool = False
    ) -> Person:
        """Give somebody an account, a token and a permission in every repository."""
        with self._lock:
            if login.lower() in self._people or not token or self.person_with(token):
                raise WillNeverWork(f"The person {login!r} needs a name and a token that nobody else has.")
            person = Person(next(self._ids), login, token, Permission(permission), is_bot)
            self._people[login.lower()] = person
            return person

    def add_repository(self, full_name: str, files: Mapping[str, str]) -> Repository:
        """Make `owner/name` with these files in a first commit on `main`."""
        if not _FULL_NAME.fullmatch(full_name):
            raise WillNeverWork(f"{full_name!r} is not a repository's name; write it as OWNER/NAME.")
        with self._lock:
            git = BareGit.create(self.data_folder / f"{full_name}.git", files)
            repository = Repository(next(self._ids), full_name, git, Tracker(self._ids.__next__))
            self._repositories[full_name.lower()] = repository
            return repository

    def open_issue(self, repository: str, title: str, body: str, author: str, labels: Iterable[str] = ()) -> Issue:
        """Open an issue in somebody's name."""
        return self.repository(repository).tracker.open_issue(self.person(author), title, body, labels)

    def comment(self, repository: str, number: int, author: str, body: str) -> Comment:
        """Comment in somebody's name."""
        return self.repository(repository).tracker.comment(number, self.person(author), body)

    def issue(self, repository: str, number: int) -> Issue:
        """One issue or pull request."""
        return self.repository(repository).tracker.issue(number)

    def comments(self, repository: str, number: int) -> list[Comment]:
        """The comments of an issue or pull request, oldest first."""
        return self.repository(repository).tracker.thread(number)

    def pulls(self, repository: str) -> list[Issue]:
        """The pull requests of a repository, oldest first."""
        return self.repository(repository).pulls

    @property
    def people(self) -> list[Person]:
        """Everybody, in the order they came."""
        return list(self._people.values())

    @property
    def repositories(self) -> list[Repository]:
        """All repositories, in the order they came."""
        return list(self._repositories.values())

    @property
    def requests(self) -> list[Call]:
        """The requests answered so far, oldest first."""
        return list(self._calls)

    def record(self, call: Call) -> None:
        """Note an answered request."""
        self._calls.append(call)

    def person(self, login: str) -> Person:
        """Somebody by name; capital letters make no difference."""
        try:
            return self._people[login.lower()]
        except KeyError:
            raise NotThere(f"person {login}") from None

    def person_with(self, token: str) -> Person | None:
        """Whom a token belongs to."""
        given = token.encode()
        return next((person for person in self.people if compare_digest(person.token.encode(), given)), None)

    def repository(self, full_name: str) -> Repository:
        """A repository by name; capital letters make no difference."""
        try:
            return self._repositories[full_name.lower()]
        except KeyError:
            raise NotThere(f"repository {full_name}") from None

    def repository_with(self, repository_id: int) -> Repository:
        """A repository by its id."""
        found = next((home for home in self.repositories if home.id == repository_id), None)
        if not found:
            raise NotThere(f"repository {repository_id}")
        return found
