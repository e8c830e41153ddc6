"""What every forge adapter does to its own comments, branches and change requests; each verb twice."""

from pathlib import Path

import pytest

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import ChangeRequest, NewChangeRequest
from hikitsugi.forges.marker import marked
from tests.forges.world import World


async def opened(here: World, folder: Path, title: str = "Fix") -> ChangeRequest:
    await here.push(await here.forge.git_remote(here.home), "topic", folder / "clone")
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title=title, body="Closes #1")
    return await here.forge.open_change_request(wanted)


async def test_a_comment_is_read_again_until_it_is_withdrawn(here: World):
    address = here.open_issue()
    comment_id = here.say(address, "please")
    comment = await here.forge.read_comment(address, comment_id)
    assert comment
    assert (comment.id, comment.author, comment.body) == (comment_id, "ann", "please")
    here.withdraw(comment_id)
    assert await here.forge.read_comment(address, comment_id) is None
    assert await here.forge.read_comment(address, "operator:1f0c") is None


async def test_our_comment_is_edited_in_place_and_keeps_its_marker(here: World):
    address = here.open_issue()
    posted = await here.forge.post_comment(address, "1 of 2", "progress")
    for _ in range(2):
        edited = await here.forge.edit_comment(address, posted.id, "2 of 2", "progress")
        assert edited
        assert (edited.id, edited.is_ours) == (posted.id, True)
    assert here.said(address) == [marked("2 of 2", "progress", 1000)]
    assert (await here.forge.post_comment(address, "again", "progress")).id == posted.id


@pytest.mark.req("LC-03")
async def test_a_comment_that_is_gone_is_not_edited_but_can_be_written_anew(here: World):
    address = here.open_issue()
    posted = await here.forge.post_comment(address, "1 of 2", "progress")
    here.withdraw(posted.id)
    assert await here.forge.edit_comment(address, posted.id, "2 of 2", "progress") is None
    assert here.said(address) == []
    await here.forge.post_comment(address, "2 of 2", "progress")
    assert here.said(address) == [marked("2 of 2", "progress", 1000)]


@pytest.mark.req("CH-12")
async def test_late_duplicates_of_our_comment_are_taken_back_and_nothing_else(here: World):
    address = here.open_issue()
    first = await here.forge.post_comment(address, "done", "k")
    for body, author in [(marked("done", "k", 1000), "bot"), (marked("done", "k", 1000), "ann")]:
        here.say(address, body, author)
    await here.forge.post_comment(address, "done", "other")
    here.say(address, marked("done", "k", 1000), "bot")
    assert [await here.forge.reconcile_comment(address, "k") for _ in range(2)] == [2, 0]
    left = await here.forge.read_comments(address)
    assert [(comment.author, comment.id == first.id) for comment in left] == [
        ("bot", True),
        ("ann", False),
        ("bot", False),
    ]


@pytest.mark.req("CH-12")
async def test_late_duplicates_on_a_change_request_are_taken_back_too(here: World, tmp_path: Path):
    request = await opened(here, tmp_path)
    address = here.request_address(request)
    first = await here.forge.post_comment(address, "done", "k")
    here.say_on_request(request, marked("done", "k", 1000), "bot")
    assert [await here.forge.reconcile_comment(address, "k") for _ in range(2)] == [1, 0]
    assert [comment.id for comment in await here.forge.read_comments(address)] == [first.id]


async def test_where_nothing_was_said_nothing_is_reconciled(here: World):
    assert await here.forge.reconcile_comment(here.open_issue(), "k") == 0


async def test_a_change_request_gets_another_title_and_text(here: World, tmp_path: Path):
    request = await opened(here, tmp_path)
    for _ in range(2):
        updated = await here.forge.update_change_request(here.home, request.number, "Fix it", "Closes #2")
        assert updated == request
    (pull,) = here.dev.pulls(here.repository)
    assert (pull.title, pull.body) == ("Fix it", "Closes #2")


async def test_a_change_request_becomes_a_draft_and_ready_again(here: World, tmp_path: Path):
    request = await opened(here, tmp_path)
    for wanted in (True, True, False, False):
        changed = await here.forge.set_draft(here.home, request.number, draft=wanted)
        assert (changed.number, changed.is_draft) == (request.number, wanted)
        found = await here.forge.find_change_request(here.home, "topic")
        assert found == changed
    (pull,) = here.dev.pulls(here.repository)
    assert pull.title == "Fix"


@pytest.mark.req("BY-03")
async def test_where_there_are_no_drafts_a_request_is_opened_as_it_can_be(here: World, tmp_path: Path):
    here.dev.repository(here.repository).has_drafts = False
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Fix", body="", draft=True)
    has_drafts = here.name == "gitlab"
    request = await here.forge.open_change_request(wanted)
    assert (request.is_open, request.is_draft) == (True, has_drafts)
    assert await here.forge.open_change_request(wanted) == request
    for _ in range(2):
        stands = await here.forge.set_draft(here.home, request.number, draft=True)
        assert (stands.number, stands.is_draft) == (request.number, has_drafts)
    assert not (await here.forge.set_draft(here.home, request.number, draft=False)).is_draft
    assert len(here.dev.pulls(here.repository)) == 1


async def test_a_draft_stays_one_when_its_title_changes(here: World, tmp_path: Path):
    request = await opened(here, tmp_path)
    await here.forge.set_draft(here.home, request.number, draft=True)
    updated = await here.forge.update_change_request(here.home, request.number, "Fix it", "")
    assert updated.is_draft
    ready = await here.forge.set_draft(here.home, request.number, draft=False)
    assert not ready.is_draft
    (pull,) = here.dev.pulls(here.repository)
    assert pull.title == "Fix it"


@pytest.mark.req("TW-04")
async def test_a_change_request_that_is_not_there_cannot_be_changed(here: World):
    with pytest.raises(WillNeverWork):
        await here.forge.set_draft(here.home, 99, draft=True)
    with pytest.raises(WillNeverWork):
        await here.forge.update_change_request(here.home, 99, "t", "b")


async def test_the_open_change_request_is_found_before_a_closed_one(here: World, tmp_path: Path):
    assert await here.forge.find_change_request(here.home, "topic") is None
    first = await opened(here, tmp_path)
    here.close_request(first)
    closed = await here.forge.find_change_request(here.home, "topic")
    assert closed
    assert (closed.number, closed.is_open) == (first.number, False)
    wanted = NewChangeRequest(home=here.home, head="topic", base="main", title="Again", body="")
    second = await here.forge.open_change_request(wanted)
    assert await here.forge.find_change_request(here.home, "topic") == second


async def test_a_branch_is_made_once_and_then_left_alone(here: World):
    for _ in range(2):
        await here.forge.ensure_branch(here.home, "agent/issue-1", "main")
    main = here.branch("main")
    assert here.branch("agent/issue-1") == main
    assert main
    await here.forge.ensure_branch(here.home, "from-a-commit", main)
    assert here.branch("from-a-commit") == main


@pytest.mark.req("TW-04")
async def test_a_branch_from_nowhere_will_never_work(here: World):
    with pytest.raises(WillNeverWork):
        await here.forge.ensure_branch(here.home, "topic", "nothing")


async def test_our_comments_and_requests_give_no_orders_to_the_forge(here: World, tmp_path: Path):
    address = here.open_issue("bug")
    await here.forge.post_comment(address, "/close\n/label ~P0\ntext\n/unlabel ~bug", "k")
    posted = await here.forge.post_comment(address, "fine", "k2")
    await here.forge.edit_comment(address, posted.id, "/close", "k2")
    issue = await here.forge.read_issue(address)
    assert (issue.is_open, issue.labels) == (True, ("bug",))
    assert "/close" in here.said(address)[0]
    request = await opened(here, tmp_path)
    await here.forge.update_change_request(here.home, request.number, "Fix", "/close\n/draft")
    found = await here.forge.find_change_request(here.home, "topic")
    assert found == request


@pytest.mark.req("TW-01")
async def test_a_request_is_read_with_its_branches_and_whether_it_comes_from_a_fork(here: World, tmp_path: Path):
    request = await opened(here, tmp_path)
    address = here.request_address(request)
    seen = await here.forge.read_issue(address)
    assert (seen.address, seen.request) == (address, request)
    assert not request.is_from_fork
    home = here.dev.repository(here.repository)
    forked = home.open_pull_from_fork(here.dev.person("guest"), "Copy", "", "topic", str(home.git.commit_of("topic")))
    seen = await here.forge.read_issue(address.model_copy(update={"number": forked.number}))
    assert seen.request
    assert (seen.request.head, seen.request.base, seen.request.is_from_fork) == ("topic", "main", True)
    assert await here.forge.find_change_request(here.home, "topic") == request


@pytest.mark.req("BR-04", "BR-07")
async def test_the_base_is_the_default_branch_and_its_newest_commit(here: World, tmp_path: Path):
    base = await here.forge.read_base(here.home)
    assert (base.branch, base.commit) == ("main", here.branch("main"))
    await here.push(await here.forge.git_remote(here.home), "main", tmp_path / "clone")
    assert (await here.forge.read_base(here.home)).commit == here.branch("main") != base.commit


@pytest.mark.req("BR-04")
async def test_only_commits_beyond_the_base_are_evidence(here: World, tmp_path: Path):
    base = await here.forge.read_base(here.home)
    assert not await here.forge.has_commits(here.home, "missing", "main")
    for _ in range(2):
        await here.forge.ensure_branch(here.home, "fresh", base.commit)
        assert not await here.forge.has_commits(here.home, "fresh", "main")
    await here.push(await here.forge.git_remote(here.home), "topic", tmp_path / "clone")
    assert await here.forge.has_commits(here.home, "topic", "main")


@pytest.mark.req("BR-09")
async def test_only_open_change_requests_are_listed(here: World, tmp_path: Path):
    assert await here.forge.list_change_requests(here.home) == []
    request = await opened(here, tmp_path)
    (listed,) = await here.forge.list_change_requests(here.home)
    assert listed == await here.forge.read_issue(listed.address)
    assert listed.request == request
    here.close_request(request)
    assert await here.forge.list_change_requests(here.home) == []
