"""A made-up GitLab with everything a real one does to its readers: throttled times, lag, skew, bursts, edits, kills."""

import asyncio
import json
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hikitsugi.domain.ports import Cursor
from hikitsugi.forges.client import Answer, Parameters
from hikitsugi.forges.gitlab_look import first_look, next_look
from tests.forges.gitlab_payloads import HOME, note, noteable

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
PAGE = 3
ISSUES = 3
MINUTE = timedelta(seconds=60)


@dataclass(frozen=True)
class Version:
    """One state of a note or of an issue's time, and when a reader can see it."""

    at: datetime
    visible_at: datetime


@dataclass
class Said:
    """A note with its states; the last visible one counts."""

    iid: int
    versions: list[Version] = field(default_factory=list[Version])
    is_deleted: bool = False


@dataclass
class Project:
    """A project with a few issues, answered by replicas that lag behind."""

    now: datetime = START
    notes: dict[int, Said] = field(default_factory=dict[int, Said])
    times: dict[int, list[Version]] = field(
        default_factory=lambda: {iid: [Version(START - MINUTE * 60, START - MINUTE * 60)] for iid in range(ISSUES)}
    )
    meanwhile: Callable[[], None] = lambda: None

    def say(self, iid: int, skew: int, lag: int) -> None:
        self.notes[len(self.notes)] = Said(iid, [self._version(skew, lag)])
        self._touch(iid, skew, lag)

    def edit(self, id_: int, skew: int, lag: int) -> None:
        said, version = self.notes[id_], self._version(skew, lag)
        if version.at > said.versions[-1].at and version.visible_at >= said.versions[-1].visible_at:
            said.versions.append(version)
            self._touch(said.iid, skew, lag)

    def relabel(self, iid: int, skew: int, lag: int) -> None:
        self.times[iid].append(self._version(skew, lag))

    def _touch(self, iid: int, skew: int, lag: int) -> None:
        stamp = self._version(skew, lag)
        if stamp.at - self.times[iid][-1].at > MINUTE:
            self.times[iid].append(stamp)

    def _version(self, skew: int, lag: int) -> Version:
        return Version(self.now + timedelta(seconds=skew), self.now + timedelta(seconds=lag))

    def final(self) -> set[tuple[str, str]]:
        return {(str(id_), str(len(said.versions))) for id_, said in self.notes.items() if not said.is_deleted}

    async def get(self, path: str, parameters: Parameters | None = None, *, allow: Collection[int] = ()) -> Answer:
        asked = parameters or {}
        if path.endswith("/merge_requests"):
            entries: list[Any] = []
        elif path.endswith("/issues"):
            entries = self._issues(asked)
        else:
            entries = self._notes(int(path.split("/")[-2]))
        page = int(asked.get("page", 1))
        rest = entries[page * PAGE :]
        headers = {
            "date": format_datetime(self.now, usegmt=True),
            "x-next-page": str(page + 1) if rest else "",
            "x-total": str(len(entries)),
        }
        self.meanwhile()
        return Answer("gitlab", f"GET {path}", 200, headers, json.dumps(entries[(page - 1) * PAGE : page * PAGE]))

    def _issues(self, asked: Parameters) -> list[Any]:
        since = datetime.fromisoformat(str(asked.get("updated_after", "2000-01-01T00:00:00+00:00")))
        shown = ((self._seen(times), iid) for iid, times in self.times.items())
        listed = sorted((version.at, iid) for version, iid in shown if version and version.at >= since)
        return [noteable(iid, at=at.isoformat(), notes=len(self._notes(iid))) for at, iid in listed]

    def _notes(self, iid: int) -> list[Any]:
        shown: list[Any] = []
        for id_, said in self.notes.items():
            version = self._seen(said.versions)
            if version and said.iid == iid and not said.is_deleted:
                number = said.versions.index(version) + 1
                entry = note(id_, str(number), at=said.versions[0].at.isoformat())
                shown.append({**entry, "updated_at": version.at.isoformat()})
        return sorted(shown, key=lambda entry: (entry["updated_at"], entry["id"]), reverse=True)

    def _seen(self, versions: list[Version]) -> Version | None:
        return next((version for version in reversed(versions) if version.visible_at <= self.now), None)


@dataclass
class Watcher:
    """Looks again and again; what it delivered and its cursor are kept together."""

    project: Project
    cursor: Cursor
    delivered: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def look(self, *, killed: bool = False) -> None:
        sighting = asyncio.run(next_look(self.project, HOME, "", self.cursor, frozenset({"bot"})))
        if not killed:
            self.delivered += [(one.id, one.body) for news in sighting.news for one in news.comments]
            self.cursor = json.loads(json.dumps(sighting.cursor))


LAG = st.integers(0, 6)
SKEW = st.integers(-2, 2)
NUMBERS: dict[str, Sequence[int]] = {
    "burst": range(1, 9),
    "edit": range(21),
    "delete": range(21),
    "relabel": range(ISSUES),
    "wait": (1, 2, 5, 30, 59, 61, 70, 2400),
    "look": (0,),
    "busy look": range(21),
    "killed look": (0,),
}
LONGEST = 40
Steps = list[tuple[str, int, int, int]]
STEPS = st.lists(
    st.one_of([st.tuples(st.just(kind), st.sampled_from(numbers), SKEW, LAG) for kind, numbers in NUMBERS.items()]),
    max_size=LONGEST,
)


def story_of_chance(seed: int) -> Steps:
    """A long story; the same for the same seed."""
    dice = random.Random(seed)  # noqa: S311 - made to be repeated
    kinds = dice.choices(list(NUMBERS), k=LONGEST)
    return [(kind, dice.choice(NUMBERS[kind]), dice.randint(-2, 2), dice.randint(0, 6)) for kind in kinds]


def play(steps: Steps) -> tuple[Project, Watcher]:
    project = Project()
    watcher = Watcher(project, asyncio.run(first_look(project, HOME, "")).cursor)
    for kind, number, skew, lag in steps:
        _step(project, watcher, kind, number, skew, lag)
    project.now += timedelta(seconds=200)
    watcher.look()
    watcher.look()
    return project, watcher


def _step(project: Project, watcher: Watcher, kind: str, number: int, skew: int, lag: int) -> None:
    match kind:
        case "burst":
            for n in range(number):
                project.say((number + n // 4) % ISSUES, skew, lag)
        case "edit" if number in project.notes:
            project.edit(number, skew, lag)
        case "delete" if number in project.notes:
            project.notes[number].is_deleted = True
        case "relabel":
            project.relabel(number, skew, lag)
        case "wait":
            project.now += timedelta(seconds=number)
        case "look":
            watcher.look()
        case "busy look":
            _look_while_people_write(project, watcher, number, lag)
        case "killed look":
            watcher.look(killed=True)
        case _:
            pass


def _look_while_people_write(project: Project, watcher: Watcher, number: int, lag: int) -> None:
    victims = iter(range(number, -1, -1))

    def meanwhile() -> None:
        project.now += timedelta(seconds=1)
        if number in project.notes:
            project.edit(number, 0, lag)
        if number % 3 == 0 and len(project.notes) < 100:
            project.say(number % ISSUES, 0, lag)
        victim = next(victims, None)
        if victim in project.notes:
            project.notes[victim].is_deleted = True

    project.meanwhile = meanwhile
    watcher.look()
    project.meanwhile = lambda: None


def story(told: str) -> Steps:
    """Steps without skew and lag, written as `burst 3, wait 5, look`."""
    steps = (step.split() for step in told.split(", "))
    return [(kind.replace("_", " "), int(number[0]) if number else 0, 0, 0) for kind, *number in steps]


THROTTLED_COMMENT = story("relabel 0, look, wait 45, relabel 1, wait 1, look, wait 5, burst 3")
THROTTLED_EDIT = story("burst 3, wait 200, look, relabel 0, look, wait 55, look, wait 3, edit 0")
DELETED_BETWEEN_PAGES = story("burst 7, wait 2400, burst 7, busy_look 10")
TIME_MOVED_BACK = [("burst", 1, 0, 1), ("relabel", 1, 1, 0), ("relabel", 1, 0, 1), ("look", 0, 0, 0)]


@pytest.mark.req("TW-08", "CH-12")
@pytest.mark.lesson("C1", "C2", "C3", "C5")
@settings(max_examples=300)
@example(THROTTLED_COMMENT)
@example(THROTTLED_EDIT)
@example(DELETED_BETWEEN_PAGES)
@example(TIME_MOVED_BACK)
@given(STEPS)
def test_every_last_version_is_delivered_once_and_none_twice(steps: Steps):
    project, watcher = play(steps)
    assert len(watcher.delivered) == len(set(watcher.delivered))
    assert project.final() <= set(watcher.delivered)
    kept: Any = watcher.cursor["issues"]
    assert kept["warm"] == {}


@pytest.mark.long
@pytest.mark.req("TW-08", "CH-12")
def test_of_a_hundred_thousand_versions_none_is_lost_or_repeated():
    written = seed = 0
    while written < 100_000:
        seed += 1
        project, watcher = play(story_of_chance(seed))
        written += sum(len(said.versions) for said in project.notes.values())
        assert len(watcher.delivered) == len(set(watcher.delivered)), f"repeated with seed {seed}"
        assert project.final() <= set(watcher.delivered), f"lost with seed {seed}"
