"""A made-up list with everything a real one does to its readers: lag, skew, bursts, edits, outages, kills."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hikitsugi.forges.feed import Feed, Page, Reading, Version

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
PAGE = 3


@dataclass(frozen=True)
class Saying:
    """One state of a comment, and when a reader can see it."""

    id: int
    updated_at: datetime
    visible_at: datetime

    @property
    def version(self) -> Version:
        return Version(self.updated_at)


@dataclass
class CommentList:
    """A forge's list of comments, answered by replicas that lag behind."""

    now: datetime = START
    versions: list[Saying] = field(default_factory=list[Saying])
    deleted: set[int] = field(default_factory=set[int])

    def write(self, id_: int, skew: int, lag: int) -> None:
        stamp = self.now + timedelta(seconds=skew)
        known = [version.updated_at for version in self.versions if version.id == id_]
        # Entries that leave a second of several pages while it is read shift its page numbers: not covered.
        delay = 0 if known and self._is_crowded(known[-1]) else lag
        if not known or stamp > max(known):
            self.versions.append(Saying(id_, stamp, self.now + timedelta(seconds=delay)))

    def _is_crowded(self, second: datetime) -> bool:
        return sum(version.updated_at == second for version in self.versions) >= PAGE

    def final(self) -> set[tuple[int, datetime]]:
        latest = {version.id: version.updated_at for version in self.versions}
        return {(id_, at) for id_, at in latest.items() if id_ not in self.deleted}

    def edit_meanwhile(self, id_: int, lag: int) -> None:
        """Somebody edits while a look is under way."""
        self.now += timedelta(seconds=1)
        known = [version.updated_at for version in self.versions if version.id == id_]
        if known and not self._is_crowded(known[-1]):
            self.write(id_, 0, lag)

    def page(self, since: datetime | None, number: int) -> Page[Saying]:
        shown = {v.id: v for v in self.versions if v.visible_at <= self.now and v.id not in self.deleted}
        wanted = [v for v in shown.values() if since is None or v.updated_at >= since]
        wanted.sort(key=lambda version: (version.updated_at, version.id))
        entries = wanted[(number - 1) * PAGE : number * PAGE]
        return Page(entries, is_last=len(entries) < PAGE, etag=f"{since}{entries}", at=self.now)


@dataclass
class Reader:
    """Looks again and again; what it delivered and its feed are kept together."""

    comments: CommentList
    feed: Feed
    delivered: list[tuple[int, datetime]] = field(default_factory=list[tuple[int, datetime]])

    def look(self, *, killed: bool = False, meanwhile: Callable[[], None] = lambda: None) -> None:
        reading = Reading[Saying](self.feed)
        while not reading.is_done:
            page = self.comments.page(reading.since, reading.page)
            if reading.etag == page.etag:
                reading.unchanged()
            else:
                reading.take(page)
            meanwhile()
        if not killed:
            self.delivered += [(entry.id, entry.updated_at) for entry in reading.fresh]
            self.feed = Feed.model_validate(reading.next_feed().model_dump(mode="json"))


LAG = st.integers(0, 6)
SKEW = st.integers(-2, 2)
NUMBERS: dict[str, Sequence[int]] = {
    "burst": range(1, 9),
    "edit": range(31),
    "delete": range(31),
    "wait": (1, 2, 5, 30, 70, 2400),
    "look": (0,),
    "busy look": range(31),
    "killed look": (0,),
}
LONGEST = 50
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


def play(steps: Steps) -> tuple[CommentList, Reader]:
    comments = CommentList()
    reader = Reader(comments, Feed(since=START - timedelta(seconds=60)))
    newest = 0
    for kind, number, skew, lag in steps:
        if kind == "burst":
            for id_ in range(newest, newest + number):
                comments.write(id_, skew, lag)
            newest += number
        else:
            _step(comments, reader, kind, number, skew, lag)
    comments.now += timedelta(seconds=100)
    reader.look()
    reader.look()
    return comments, reader


def _step(comments: CommentList, reader: Reader, kind: str, number: int, skew: int, lag: int) -> None:
    match kind:
        case "edit" if any(version.id == number for version in comments.versions):
            comments.write(number, skew, lag)
        case "delete":
            comments.deleted.add(number)
        case "wait":
            comments.now += timedelta(seconds=number)
        case "look":
            reader.look()
        case "busy look":
            reader.look(meanwhile=lambda: comments.edit_meanwhile(number, lag))
        case "killed look":
            reader.look(killed=True)
        case _:
            pass


@pytest.mark.req("TW-08", "CH-12")
@pytest.mark.lesson("C1", "C2", "C5")
@settings(max_examples=500)
@given(STEPS)
def test_every_last_version_is_delivered_once_and_none_twice(steps: Steps):
    comments, reader = play(steps)
    assert len(reader.delivered) == len(set(reader.delivered))
    assert comments.final() <= set(reader.delivered)


@pytest.mark.long
@pytest.mark.req("TW-08", "CH-12")
def test_of_a_hundred_thousand_versions_none_is_lost_or_repeated():
    written = seed = 0
    while written < 100_000:
        seed += 1
        comments, reader = play(story_of_chance(seed))
        written += len(comments.versions)
        assert len(reader.delivered) == len(set(reader.delivered)), f"repeated with seed {seed}"
        assert comments.final() <= set(reader.delivered), f"lost with seed {seed}"


@pytest.mark.req("CD-10")
@settings(max_examples=100)
@given(STEPS)
def test_once_it_is_quiet_the_address_stays_and_one_page_answers(steps: Steps):
    comments, reader = play(steps)
    comments.now += timedelta(seconds=100)
    reader.look()
    reader.look()
    quiet = reader.feed
    assert comments.page(quiet.since, 1).etag == quiet.etag
    reader.look()
    assert reader.feed == quiet


@pytest.mark.req("CH-12")
def test_an_edit_while_catching_up_after_an_outage_hides_nothing():
    written = [step for _ in range(20) for step in (("burst", 1, 0, 0), ("wait", 30, 0, 0))]
    comments, reader = play([*written, ("busy look", 0, 0, 0)])
    assert comments.final() <= set(reader.delivered)
    assert len(reader.delivered) == 21
