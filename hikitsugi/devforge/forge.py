"""The development forge: people, repositories and the calls it has answered, all in memory but the git folders."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from itertools import count
from pathlib import Path
from threading import Lock

from hikitsugi.devforge.apps import App, Apps
from hikitsugi.devforge.bare_git import BareGit
from hikitsugi.devforge.faults import Faults
from hikitsugi.devforge.hooks import Hook
from hikitsugi.devforge.journal import Clock
from hikitsugi.devforge.kinds import KINDS, KindName
from hikitsugi.devforge.quick_actions import QuickActions, separate
from hikitsugi.devforge.records import Call, Comment, Entry, Issue, Permission, Person
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Listener, Repository
from hikitsugi.domain.errors import WillNeverWork

_REMEMBERED_CALLS = 100_000


@dataclass(frozen=True)
class Said:
    """What came of a comment: quick actions that were carried out, and the comment unless it held nothing else."""

    comment: Comment | None
    done: tuple[str, ...] = ()


class DevForge:
    """Everything the demo and the tests seed, read and serve."""

    def __init__(
        self,
        data_folder: Path,
        kind: KindName = "github",
        call_limit: int | None = None,
        now: Clock = lambda: datetime.now(UTC),
    ) -> None:
        self.data_folder = data_folder
        self.kind = KINDS[kind]
        self.call_limit = call_limit or self.kind.call_limit
        self.now = now
        self.faults = Faults()
        self._calls: deque[Call] = deque(maxlen=_REMEMBERED_CALLS)
        self._ids = count(1)
        self._lock = Lock()
        self._people: dict[str, Person] = {}
        self._repositories: dict[str, Repository] = {}
        self._listeners: list[Listener] = []
        self.apps = Apps(self._ids.__next__, now)

    def add_person(
        self, login: str, token: str, permission: Permission | str = Permission.WRITE, *, is_bot: bool = False
    ) -> Person:
        """Give somebody an account, a token and a permission in every repository."""
        return self._welcome(login, token, Permission(permission), is_bot=is_bot)

    def add_app(self, slug: str, public_key: str, permission: Permission | str = Permission.WRITE) -> App:
        """Register a GitHub App by its public key (PEM); it acts as `SLUG[bot]` in every repository."""
        person = self._welcome(f"{slug}[bot]", "", Permission(permission), is_bot=True, is_app=True)
        return self.apps.register(slug, public_key, person)

    def grant(self, repository: str, login: str, permission: Permission | str) -> None:
        """Give somebody another permission in one repository; with `none` it does not exist for them."""
        self.repository(repository).grant(self.person(login), Permission(permission))

    def add_repository(self, full_name: str, files: Mapping[str, str]) -> Repository:
        """Make `owner/name` with these files in a first commit on `main`."""
        if not self.kind.full_name.fullmatch(full_name):
            raise WillNeverWork(f"{full_name!r} is not a repository's name; write it as {self.kind.wanted_name}.")
        with self._lock:
            git = BareGit.create(self.data_folder / f"{full_name}.git", files)
            repository = Repository(self.kind, full_name, git, self._ids.__next__, self.now, self._hear)
            self._repositories[full_name.lower()] = repository
            return repository

    def add_hook(
        self, repository: str, url: str, secret: str = "", signing_token: str = "", events: Iterable[str] = ("*",)
    ) -> Hook:
        """Send a repository's events to an address of this machine."""
        return self.repository(repository).hooks.add(url, events, secret, signing_token)

    def open_issue(self, repository: str, title: str, body: str, author: str, labels: Iterable[str] = ()) -> Issue:
        """Open an issue in somebody's name."""
        return self.repository(repository).tracker.open_issue(self.person(author), title, body, labels)

    def comment(self, repository: str, number: int, author: str, body: str) -> Comment:
        """Comment on an issue in somebody's name."""
        home = self.repository(repository)
        said = self.say(home, home.tracker.issue(number), self.person(author), body)
        if not said.comment:
            raise WillNeverWork("The forge saves no comment that holds quick actions alone; they were carried out.")
        return said.comment

    def say(self, home: Repository, one: Issue, author: Person, body: str) -> Said:
        """Comment on an issue or pull request, with GitLab's quick actions carried out and left out."""
        tracker = home.tracker_of(one)
        if not home.kind.has_quick_actions:
            return Said(tracker.comment(one.number, author, body))
        with home.journal.lock:
            kept, orders = separate(body, one)
            comment = tracker.comment(one.number, author, kept) if kept.strip() or not orders else None
            actions = QuickActions(home, one, home.member(author), self._find_person)
            return Said(comment, tuple(actions.carry_out(orders)))

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
        if not token:
            return None
        given = token.encode()
        found = next((person for person in self.people if compare_digest(person.token.encode(), given)), None)
        return found or self.apps.person_with(token)

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

    def person_numbered(self, person_id: int) -> Person:
        """Somebody by their id."""
        found = next((somebody for somebody in self.people if somebody.id == person_id), None)
        if not found:
            raise NotThere(f"person {person_id}")
        return found

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell somebody of everything that happens, until the returned function is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _hear(self, home: Repository, entry: Entry) -> None:
        for listener in list(self._listeners):
            listener(home, entry)

    def _find_person(self, login: str) -> Person | None:
        return self._people.get(login.lower())

    def _welcome(self, login: str, token: str, permission: Permission, *, is_bot: bool, is_app: bool = False) -> Person:
        with self._lock:
            if login.lower() in self._people or (not token and not is_app) or self.person_with(token):
                raise WillNeverWork(f"The person {login!r} needs a name and a token that nobody else has.")
            person = Person(next(self._ids), login, token, permission, is_bot, is_app)
            self._people[login.lower()] = person
            return person
