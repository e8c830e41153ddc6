"""What every forge adapter does, on the development forge over HTTP with the real client."""

import asyncio
import json
from pathlib import Path

import pytest

from hikitsugi.devforge.faults import Failing, Fault
from hikitsugi.domain.address import Kind, RepositoryAddress
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import NewChangeRequest, wording_of
from hikitsugi.domain.ports import Forge
from tests.forges.world import World


@pytest.mark.req("CD-06")
async def test_it_knows_whose_token_it_has(here: World):
    forge: Forge = here.forge
    assert await forge.whoami() == "bot"


@pytest.mark.req("CD-04")
async def test_it_reads_an_issue(here: World):
    address = here.open_issue("task:misc", "bug")
    issue = await here.forge.read_issue(address)
    assert (issue.address, issue.title, issue.body, issue.author) == (address, "Sum is wrong", "It says 5.", "ann")
    assert issue.is_open
    assert set(issue.labels) == {"task:misc", "bug"}
    assert issue.url.startswith(here.url)


async def test_many_asked_at_once_are_not_mixed_up(here: World):
    addresses = [here.open_issue() for _ in range(40)]
    issues = await asyncio.gather(*map(here.forge.read_issue, addresses))
    assert [issue.address for issue in issues] == addresses


@pytest.mark.req("TW-04")
async def test_what_is_not_there_will_never_work(here: World):
    with pytest.raises(WillNeverWork, match=f"{here.repository}#99"):
        await here.forge.read_issue(here.address(99))
    with pytest.raises(WillNeverWork, match="acme/nothing"):
        await here.forge.look(RepositoryAddress(forge=here.name, repository="acme/nothing"), None)


@pytest.mark.lesson("C5", "C6")
async def test_it_reads_all_comments_oldest_first(here: World):
    address = here.open_issue()
    ids = [here.say(address, f"comment {n}") for n in range(250)]
    comments = await here.forge.read_comments(address)
    assert [comment.id for comment in comments] == ids
    assert (comments[0].author, comments[0].body) == ("ann", "comment 0")


async def test_it_tells_who_maintains_the_repository(here: World):
    assert [await here.forge.may_write(here.home, who) for who in ("ann", "guest", "nobody")] == [True, False, False]


@pytest.mark.req("CH-12")
async def test_a_comment_posted_twice_is_there_once(here: World):
    address = here.open_issue()
    here.say(address, "<!-- hikitsugi:step-1 -->")
    first = await here.forge.post_comment(address, "done", "step-1")
    again = await here.forge.post_comment(address, "done, told differently", "step-1")
    other = await here.forge.post_comment(address, "more", "step-2")
    assert (again.id, again.body) == (first.id, first.body)
    assert other.id != first.id
    assert first.is_ours
    assert len(await here.forge.read_comments(address)) == 3


async def test_a_comment_is_found_again_behind_many_others(here: World):
    address = here.open_issue()
    first = await here.forge.post_comment(address, "done", "step-1")
    for n in range(220):
        here.say(address, f"comment {n}")
    assert (await here.forge.post_comment(address, "done", "step-1")).id == first.id


async def test_a_comment_longer_than_the_forge_takes_is_posted_short(here: World):
    posted = await here.forge.post_comment(here.open_issue(), "x" * 1_100_000, "long")
    assert posted.is_ours
    assert "✂" in posted.body


@pytest.mark.lesson("C17")
async def test_labels_of_people_survive(here: World):
    address = here.open_issue("task:misc", "bug")
    for _ in range(2):
        await here.forge.change_labels(address, ["processing"], ["completed"])
    here.label(address, "P0", "good first issue")
    for _ in range(2):
        await here.forge.change_labels(address, ["completed"], ["processing", "paused"])
    assert here.labels(address) == {"task:misc", "bug", "P0", "good first issue", "completed"}


async def test_labels_with_odd_names_come_off(here: World):
    address = here.open_issue("area/core #1?", "待ち")
    await here.forge.change_labels(address, [], ["area/core #1?", "待ち"])
    assert here.labels(address) == set()


async def test_a_comment_is_acknowledged_once_and_a_withdrawn_one_stops_nothing(here: World):
    address = here.open_issue()
    kept, withdrawn = here.say(address, "please"), here.say(address, "oh")
    here.withdraw(withdrawn)
    for comment_id in (kept, kept, withdrawn):
        await here.forge.acknowledge(address, comment_id)
    (comment,) = here.dev.comments(here.repository, address.number)
    assert [(mark.author.login, mark.content) for mark in comment.reactions] == [("bot", "eyes")]
    seen = await here.forge.read_comment(address, kept)
    assert seen
    assert (seen.body, seen.wording) == ("please", wording_of("please"))


async def test_a_pushed_branch_gets_one_change_request(here: World, tmp_path: Path):
    remote = await here.forge.git_remote(here.home)
    assert remote.default_branch == "main"
    await here.push(remote, "hikitsugi/issue-1", tmp_path / "clone")
    wanted = NewChangeRequest(home=here.home, head="hikitsugi/issue-1", base="main", title="Fix", body="Closes #1")
    first = await here.forge.open_change_request(wanted)
    again = await here.forge.open_change_request(wanted.model_copy(update={"title": "Other"}))
    assert first == again
    assert (first.head, first.base, first.is_open, first.is_draft) == ("hikitsugi/issue-1", "main", True, False)
    assert len(here.dev.pulls(here.repository)) == 1


@pytest.mark.req("TW-04")
async def test_a_branch_that_is_not_there_gets_no_change_request(here: World):
    wanted = NewChangeRequest(home=here.home, head="nothing", base="main", title="Fix", body="")
    with pytest.raises(WillNeverWork, match=r"with 4\d\d"):
        await here.forge.open_change_request(wanted)


@pytest.mark.req("CD-07", "TW-08")
@pytest.mark.lesson("P8", "C6")
async def test_the_first_look_tells_every_open_issue_and_no_comment(here: World):
    addresses = [here.open_issue() for _ in range(120)]
    here.say(addresses[0], "an old word")
    sighting = await here.forge.look(here.home, None)
    assert {str(news.address) for news in sighting.news} == set(map(str, addresses))
    assert all(news.issue and not news.comments for news in sighting.news)
    assert await here.news(sighting.cursor) == ()


@pytest.mark.lesson("C9")
async def test_what_is_said_between_the_first_look_and_the_reading_of_the_issue_is_read_and_is_news(here: World):
    address = here.open_issue()
    cursor = await here.started()
    said = here.say(address, "one more thing")
    assert [comment.id for comment in await here.forge.read_comments(address)] == [said]
    (news,) = await here.news(cursor)
    assert [comment.id for comment in news.comments] == [said]


@pytest.mark.lesson("C9")
async def test_what_is_said_during_the_first_look_is_read_afterwards_and_what_follows_is_news(here: World):
    address = here.open_issue()
    here.dev.faults.add(Fault(how=Failing.SLOW, seconds=0.3))
    looking = asyncio.create_task(here.started())
    await here.until(lambda: here.dev.faults.waiting == [])
    during = here.say(address, "meanwhile")
    cursor = await looking
    after = here.say(address, "and then")
    assert [comment.id for comment in await here.forge.read_comments(address)] == [during, after]
    told = [comment.id for news in await here.news(cursor) for comment in news.comments]
    assert told in ([after], [during, after])


@pytest.mark.req("TW-08", "CH-12")
async def test_new_comments_come_once_grouped_by_issue_and_in_order(here: World):
    one, two = here.open_issue(), here.open_issue()
    cursor = await here.started()
    said = [here.say(one, "first"), here.say(two, "elsewhere"), here.say(one, "second")]
    sighting = await here.forge.look(here.home, json.loads(json.dumps(cursor)))
    told = {str(news.address): [comment.id for comment in news.comments] for news in sighting.news}
    assert told == {str(one): [said[0], said[2]], str(two): [said[1]]}
    assert await here.news(sighting.cursor) == ()


@pytest.mark.lesson("C3")
async def test_an_edit_comes_again_even_within_the_same_second(here: World):
    address = here.open_issue()
    cursor = await here.started()
    comment_id = here.say(address, "add 2 and 2")
    sighting = await here.forge.look(here.home, cursor)
    here.correct(comment_id, "add 2 and 3")
    (news,) = await here.news(sighting.cursor)
    assert [(comment.id, comment.body) for comment in news.comments] == [(comment_id, "add 2 and 3")]


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C1")
async def test_a_second_comment_right_after_the_first_was_seen_is_found(here: World):
    address = here.open_issue()
    sighting = await here.forge.look(here.home, await here.started())
    for _ in range(3):
        said = here.say(address, "one more")
        sighting = await here.forge.look(here.home, sighting.cursor)
        assert [comment.id for news in sighting.news for comment in news.comments] == [said]
    assert await here.news(sighting.cursor) == ()


@pytest.mark.req("CD-04")
@pytest.mark.lesson("C7")
async def test_what_the_forge_notes_down_itself_is_no_comment(here: World):
    address = here.open_issue()
    cursor = await here.started()
    here.label(address, "task:misc", "bug")
    said = here.say(address, "done")
    (news,) = await here.news(cursor)
    assert [comment.id for comment in news.comments] == [said]
    assert [comment.id for comment in await here.forge.read_comments(address)] == [said]


@pytest.mark.req("CH-12")
async def test_a_comment_on_a_closed_issue_is_news(here: World):
    address = here.open_issue()
    cursor = await here.started()
    here.close(address)
    sighting = await here.forge.look(here.home, cursor)
    assert [news.issue.is_open for news in sighting.news if news.issue] == [False]
    said = here.say(address, "still broken")
    (news,) = await here.news(sighting.cursor)
    assert [comment.id for comment in news.comments] == [said]


@pytest.mark.req("CH-12")
async def test_a_label_put_on_right_after_a_look_is_seen(here: World):
    address = here.open_issue()
    cursor = await here.started()
    here.label(address, "task:misc")
    (news,) = await here.news(cursor)
    assert news.issue
    assert news.issue.labels == ("task:misc",)


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C5", "C6")
async def test_hundreds_of_comments_at_once_come_once_each(here: World):
    address = here.open_issue()
    cursor = await here.started()
    ids = [here.say(address, f"comment {n}") for n in range(330)]
    sighting = await here.forge.look(here.home, cursor)
    (news,) = sighting.news
    assert [comment.id for comment in news.comments] == ids
    late = here.say(address, "and one more")
    (news,) = await here.news(sighting.cursor)
    assert [comment.id for comment in news.comments] == [late]


@pytest.mark.req("CH-05")
@pytest.mark.lesson("C8")
async def test_our_own_comments_are_no_news(here: World):
    address = here.open_issue()
    cursor = await here.started()
    await here.forge.post_comment(address, "working on it", "k")
    here.say(address, "unmarked words of ours", author="bot")
    theirs = here.say(address, "quoted:\n\n<!-- hikitsugi:k -->")
    (news,) = await here.news(cursor)
    assert [comment.id for comment in news.comments] == [theirs]


@pytest.mark.req("CD-04")
async def test_a_change_request_is_told_from_an_issue(here: World, tmp_path: Path):
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    cursor = await here.started()
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Topic", body="")
    opened = await here.forge.open_change_request(wanted)
    here.say_on_request(opened, "looks good")
    (news,) = await here.news(cursor)
    assert news.address.kind is not Kind.ISSUE
    assert news.issue
    assert (news.issue.address, len(news.comments)) == (news.address, 1)
    assert (await here.forge.read_issue(news.address)).address == news.address


@pytest.mark.req("CD-10")
@pytest.mark.lesson("P8")
async def test_an_idle_look_costs_two_calls_however_many_issues_are_open(here: World):
    with here.earlier():
        for _ in range(130):
            here.say(here.open_issue(), "hello")
    for _ in range(5):
        here.say(here.open_issue(), "hello")
    cursor = await here.started()
    for _ in range(3):
        cursor = (await here.forge.look(here.home, cursor)).cursor
    here.calls()
    idle = await here.forge.look(here.home, cursor)
    assert idle.news == ()
    assert idle.cursor == cursor
    status = {"github": 304, "gitlab": 200}[here.name]  # GitLab counts every call, so none is saved by a 304.
    assert here.calls() == [("GET", status), ("GET", status)]


@pytest.mark.req("CD-10")
@pytest.mark.lesson("P8")
async def test_a_look_costs_two_calls_and_on_gitlab_one_more_for_each_issue_that_changed(here: World):
    with here.earlier():
        addresses = [here.open_issue() for _ in range(120)]
    cursor = await here.started()
    for address in addresses[:10]:
        here.say(address, "hello")
        here.say(address, "and again within the minute in which GitLab moves no time")
    here.calls()
    news = await here.news(cursor)
    assert [len(issue.comments) for issue in news] == [2] * 10
    extra = {"github": 0, "gitlab": 10}[here.name]
    me = 1  # whose token it is, asked once
    assert len(here.calls()) == 2 + extra + me


async def test_each_verb_makes_few_calls(here: World):
    address = here.open_issue("task:misc")
    await here.forge.whoami()
    here.calls()
    await here.forge.read_issue(address)
    assert here.calls() == [("GET", 200)]
    await here.forge.post_comment(address, "done", "k")
    assert here.calls() == [("GET", 200), ("POST", 201)]
    await here.forge.post_comment(address, "done", "k")
    assert here.calls() == [("GET", 200)]
    await here.forge.change_labels(address, ["processing", "x"], ["task:misc", "absent"])
    expected = {"github": [("GET", 200), ("DELETE", 200), ("POST", 200)], "gitlab": [("PUT", 200)]}
    assert here.calls() == expected[here.name]
