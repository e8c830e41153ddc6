"""Every writing verb, done by the forge but reported as failed: the next attempt finds it done."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hikitsugi.devforge.faults import Failing, Fault
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import NewChangeRequest
from tests.forges.world import World

Verb = Callable[[], Awaitable[object]]
LOST_ANSWERS = (Failing.BAD_GATEWAY, Failing.DROP, Failing.TOO_MANY, Failing.HALF, Failing.CUT)


@pytest.fixture(params=LOST_ANSWERS)
def how(request: pytest.FixtureRequest) -> Failing:
    return request.param


async def lose_the_answer_of(here: World, how: Failing, verb: Verb) -> None:
    """The first attempt is done and reported as failed, the second is told the truth."""
    here.dev.faults.add(Fault(how=how, method="POST|PUT|PATCH|DELETE", when="after"))
    with pytest.raises(TryAgainLater):
        await verb()
    assert here.dev.faults.waiting == []
    await verb()


@pytest.mark.req("CH-12")
async def test_a_comment_is_there_once(here: World, how: Failing):
    address = here.open_issue()
    await lose_the_answer_of(here, how, lambda: here.forge.post_comment(address, "done", "k"))
    assert len(here.said(address)) == 1


async def test_a_comment_is_edited(here: World, how: Failing):
    address = here.open_issue()
    posted = await here.forge.post_comment(address, "1 of 2", "k")
    await lose_the_answer_of(here, how, lambda: here.forge.edit_comment(address, posted.id, "2 of 2", "k"))
    (said,) = here.said(address)
    assert said.startswith("2 of 2")


@pytest.mark.req("CH-12")
async def test_duplicates_are_taken_back(here: World):
    address = here.open_issue()
    first = await here.forge.post_comment(address, "done", "k")
    for _ in range(3):
        here.say(address, first.body, "bot")
    await lose_the_answer_of(here, Failing.BAD_GATEWAY, lambda: here.forge.reconcile_comment(address, "k"))
    assert [comment.id for comment in await here.forge.read_comments(address)] == [first.id]


@pytest.mark.req("CH-12")
async def test_a_comment_that_appears_late_is_reconciled(here: World):
    address = here.open_issue()
    here.dev.faults.add(Fault(how=Failing.DROP, method="POST", when="late", seconds=0.2))
    with pytest.raises(TryAgainLater):
        await here.forge.post_comment(address, "done", "k")
    await here.forge.post_comment(address, "done", "k")
    await here.until(lambda: len(here.said(address)) == 2)
    assert await here.forge.reconcile_comment(address, "k") == 1
    assert len(here.said(address)) == 1


@pytest.mark.lesson("C17")
async def test_labels_are_changed(here: World):
    address = here.open_issue("processing", "bug")
    change = lambda: here.forge.change_labels(address, ["completed"], ["processing"])  # noqa: E731
    await lose_the_answer_of(here, Failing.BAD_GATEWAY, change)
    assert here.labels(address) == {"bug", "completed"}


async def test_a_comment_is_acknowledged(here: World):
    address = here.open_issue()
    said = here.say(address, "please")
    here.dev.faults.add(Fault(how=Failing.BAD_GATEWAY, method="POST", when="after"))
    for _ in range(2):
        await here.forge.acknowledge(address, said)
    (comment,) = here.dev.comments(here.repository, address.number)
    assert [mark.content for mark in comment.reactions] == ["eyes"]


@pytest.mark.parametrize("failing", [Failing.BAD_GATEWAY, Failing.DROP])
async def test_a_branch_is_there(here: World, failing: Failing):
    await lose_the_answer_of(here, failing, lambda: here.forge.ensure_branch(here.home, "topic", "main"))
    assert here.branch("topic") == here.branch("main")


async def test_a_change_request_is_there_once_and_changed(here: World, how: Failing, tmp_path: Path):
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Fix", body="")
    await lose_the_answer_of(here, how, lambda: here.forge.open_change_request(wanted))
    (pull,) = here.dev.pulls(here.repository)
    update = lambda: here.forge.update_change_request(here.home, pull.number, "Fix it", "x")  # noqa: E731
    await lose_the_answer_of(here, how, update)
    await lose_the_answer_of(here, how, lambda: here.forge.set_draft(here.home, pull.number, draft=True))
    (pull,) = here.dev.pulls(here.repository)
    assert pull.body == "x"
    found = await here.forge.find_change_request(here.home, "topic")
    assert found
    assert found.is_draft


@pytest.mark.req("CD-10")
async def test_a_limit_tells_how_long_to_wait(here: World):
    here.dev.faults.add(Fault(how=Failing.TOO_MANY, retry_after=17))
    with pytest.raises(TryAgainLater, match="limits our requests") as limited:
        await here.forge.look(here.home, None)
    assert limited.value.after == timedelta(seconds=17)


@pytest.mark.lesson("C1", "C2")
@pytest.mark.parametrize("how", [Failing.SERVER_ERROR, Failing.HALF, Failing.CUT, Failing.DROP])
async def test_a_look_that_fails_anywhere_loses_and_repeats_nothing(here: World, how: Failing):
    addresses = [here.open_issue() for _ in range(3)]
    cursor = await here.started()
    said = {here.say(address, "hello") for address in addresses}
    calls = {"github": 2, "gitlab": 5}[here.name]
    await here.forge.whoami()
    for passing in range(calls):
        here.dev.faults.add(Fault(how=Failing.SLOW, times=passing, seconds=0) if passing else Fault(how=how))
        if passing:
            here.dev.faults.add(Fault(how=how))
        with pytest.raises(TryAgainLater):
            await here.forge.look(here.home, cursor)
    sighting = await here.forge.look(here.home, cursor)
    assert {comment.id for news in sighting.news for comment in news.comments} == said
    assert await here.news(sighting.cursor) == ()
