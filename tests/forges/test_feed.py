"""Reading a list again and again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from hikitsugi.forges.feed import OVERLAP, Feed, Page, Reading, Version

START = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Line:
    """An entry of a made-up list."""

    id: int
    version: Version


def line(id_: int, second: float, mark: str = "") -> Line:
    return Line(id_, Version(START + timedelta(seconds=second), mark))


def at(second: float) -> Version:
    return Version(START + timedelta(seconds=second))


def page(*lines: Line, is_last: bool = True, etag: str | None = '"1"', clock: float = 0) -> Page[Line]:
    return Page(lines, is_last=is_last, etag=etag, at=START + timedelta(seconds=clock))


def read(feed: Feed, *pages: Page[Line]) -> Reading[Line]:
    reading = Reading[Line](feed)
    for answered in pages:
        assert not reading.is_done
        reading.take(answered)
    return reading


def test_the_first_pass_ends_one_overlap_before_the_servers_clock():
    reading = read(Feed(), page(line(1, -5000), line(2, -10)))
    assert reading.next_feed() == Feed(since=START - OVERLAP, seen={2: at(-10)})


@pytest.mark.req("CD-10")
def test_address_and_etag_stay_while_nothing_happens():
    feed = Feed(since=START, seen={1: at(0)})
    again = read(feed, page(line(1, 0), etag='"a"')).next_feed()
    assert again == Feed(since=START, etag='"a"', seen={1: at(0)})
    unchanged = Reading[Line](again)
    assert unchanged.etag == '"a"'
    unchanged.unchanged()
    assert unchanged.is_done
    assert unchanged.next_feed() == again


def test_news_move_the_address_and_forget_the_etag():
    feed = read(Feed(since=START, etag='"a"'), page(line(1, 10), line(2, 300), clock=300)).next_feed()
    assert feed == Feed(since=START + timedelta(seconds=240), seen={2: at(300)})


def test_a_stamp_ahead_of_the_servers_clock_does_not_hide_what_comes_before_it():
    feed = read(Feed(since=START), page(line(1, 9000), clock=300)).next_feed()
    assert feed == Feed(since=START + timedelta(seconds=240), seen={1: at(9000)})


@pytest.mark.req("CH-12")
def test_a_late_entry_within_the_overlap_is_fresh_once():
    feed = Feed(since=START, seen={2: at(60)})
    reading = read(feed, page(line(1, 5), line(2, 60)))
    assert reading.fresh == (line(1, 5),)
    assert read(reading.next_feed(), page(line(1, 5), line(2, 60))).fresh == ()


@pytest.mark.lesson("C3")
def test_an_edit_is_fresh_and_an_outdated_version_is_not():
    feed = Feed(since=START, seen={1: at(20)})
    assert read(feed, page(line(1, 30))).fresh == (line(1, 30),)
    assert read(feed, page(line(1, 10))).fresh == ()


@pytest.mark.lesson("C3")
def test_a_second_change_within_one_second_is_fresh_too():
    feed = read(Feed(since=START), page(line(1, 20, "a"))).next_feed()
    assert read(feed, page(line(1, 20, "a"))).fresh == ()
    assert read(feed, page(line(1, 20, "b"))).fresh == (line(1, 20, "b"),)


def test_of_two_versions_in_one_pass_the_later_is_kept_at_its_place():
    reading = read(Feed(since=START), page(line(1, 1), line(2, 2), is_last=False), page(line(2, 2), line(1, 3)))
    assert reading.fresh == (line(2, 2), line(1, 3))


@pytest.mark.lesson("C5")
def test_a_full_page_asks_on_from_its_last_time():
    reading = read(Feed(since=START), page(line(1, 1), line(2, 2), is_last=False))
    assert (reading.since, reading.page, reading.etag) == (at(2).at, 1, None)


def test_page_numbers_are_used_only_within_one_second():
    reading = read(Feed(since=START), page(line(1, 1), line(2, 1), is_last=False))
    assert (reading.since, reading.page) == (START, 2)
    reading.take(page(line(3, 1), line(4, 2), is_last=False))
    assert (reading.since, reading.page) == (at(2).at, 1)


def test_a_server_that_ignores_where_we_ask_is_not_asked_for_ever():
    endless = page(line(1, 1), line(2, 2), is_last=False)
    assert read(Feed(since=START), endless, endless).is_done


def test_a_full_first_page_leaves_no_etag_since_news_would_be_on_a_later_page():
    seen = {1: at(1), 2: at(2)}
    feed = Feed(since=START, seen=seen)
    first, second = page(line(1, 1), line(2, 2), is_last=False, clock=20), page(line(2, 2), clock=20)
    assert read(feed, first, second).next_feed() == feed


def test_a_full_window_in_which_nothing_happens_is_left_behind_by_the_servers_clock():
    feed = Feed(since=START, seen={1: at(1), 2: at(2)})
    first, second = page(line(1, 1), line(2, 2), is_last=False, clock=600), page(line(2, 2), clock=600)
    assert read(feed, first, second).next_feed() == Feed(since=START + timedelta(seconds=540))


@pytest.mark.req("TW-08")
def test_a_feed_survives_its_way_through_json():
    feed = Feed(since=START, etag='W/"x"', seen={5: Version(START, "ab"), 6: at(1)})
    assert Feed.model_validate(feed.model_dump(mode="json")) == feed
