"""What is shown and said on the forge: one state, once, and without secrets."""

import pytest

from activities.forge_activities import (
    ForgeActivities,
    OpenChangeRequest,
    PostComment,
    PostResult,
    Reconcile,
    ShowState,
    Work,
)
from hikitsugi.domain.address import Kind
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.policy import LabelNames, Language, Policy
from hikitsugi.domain.proof import is_ready
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.states import OF_OUR_WORK, State
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.verification import CheckRun, Placeholder, Verified
from hikitsugi.domain.workspace import Published
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import CONVERSATION, ISSUE, SECRET, asked_for, step
from tests.activities.nameless import NamelessForge
from tests.workflows.fakes import BOT, FakeForge

PASSED = CheckRun(command="make", exit_code=0)
SUBMIT = ("submit", {"status": "done", "summary": f"Used {SECRET}.", "evidence": f"echo {SECRET}"})


def activities(forge: FakeForge, memory: SqlMemory, *, confined: bool = True) -> ForgeActivities:
    return ForgeActivities(
        {"github": forge}, {"github": Policy(language="en")}, memory, Redactor([SECRET]), confined=confined
    )


def result(language: Language = "ja", sequence: int | None = 1) -> PostResult:
    return PostResult(
        issue=ISSUE,
        key="ab12:result-0",
        language=language,
        submitted=None if sequence is None else TurnRef(conversation=CONVERSATION, sequence=sequence),
        published=Published(commit="c" * 40, files_changed=1),
        change_request="http://forge.example/octo/repo/pull/2",
    )


async def test_an_issue_is_taken_up_with_what_the_forge_shows_and_the_rules_that_hold(
    forge: FakeForge, memory: SqlMemory
):
    called = await step(activities(forge, memory).take_up, ISSUE)
    assert (called.title, called.author, called.is_open) == ("It fails", "alice", True)
    assert called.policy == Policy(language="en")
    assert set(called.labels) == {"task:misc", "a human's label"}
    assert called.bot == BOT


async def test_an_issue_is_taken_up_though_the_forge_does_not_tell_our_name(memory: SqlMemory):
    called = await step(activities(NamelessForge(ISSUE), memory).take_up, ISSUE)
    assert (called.title, called.bot) == ("It fails", None)


@pytest.mark.req("CD-06")
@pytest.mark.lesson("C26")
@pytest.mark.parametrize("author", [BOT, "helper[bot]"])
async def test_a_request_of_ours_is_not_taken_up_under_whichever_name_we_opened_it(
    forge: FakeForge, memory: SqlMemory, author: str
):
    forge.names, forge.author, forge.body = frozenset({BOT, "helper[bot]"}), author, "Closes #1"
    request = ISSUE.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
    with pytest.raises(WillNeverWork, match="is worked on as github:octo/repo/issues/1"):
        await step(activities(forge, memory).take_up, request)


@pytest.mark.req("CH-06")
@pytest.mark.lesson("C17")
@pytest.mark.parametrize("state", OF_OUR_WORK)
async def test_exactly_one_state_is_shown_and_peoples_labels_stay(forge: FakeForge, memory: SqlMemory, state: State):
    labels = LabelNames(completed="済")
    forge.labels |= {"processing", "paused", "completed", "P1"}
    for _ in range(2):
        await step(activities(forge, memory).show_state, ShowState(issue=ISSUE, state=state, labels=labels))
        assert forge.labels & set(labels.states) == {labels.of(state)}
        assert forge.labels - set(labels.states) == {"task:misc", "a human's label", "completed", "P1"}


@pytest.mark.req("OP-05", "BY-08")
async def test_a_comment_is_posted_once_and_without_secrets(forge: FakeForge, memory: SqlMemory):
    request = PostComment(issue=ISSUE, key="ab12:stopped", body=f"It said {SECRET}.")
    for _ in range(2):
        await step(activities(forge, memory).post_comment, request)
    assert [comment.body.splitlines()[0] for comment in forge.comments] == ["It said [redacted]."]


@pytest.mark.req("BY-08")
async def test_comments_that_may_come_late_are_looked_after(forge: FakeForge, memory: SqlMemory):
    assert not await step(activities(forge, memory).post_comment, PostComment(issue=ISSUE, key="k", body="x"))
    await step(activities(forge, memory).reconcile, Reconcile(issue=ISSUE, keys=("k", "other")))
    assert forge.reconciled == ["k", "other"]
    assert forge.reconciled_at == [ISSUE, ISSUE]


@pytest.mark.req("CH-12")
async def test_late_duplicates_are_looked_for_where_the_comment_was_written(forge: FakeForge, memory: SqlMemory):
    request = ISSUE.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
    order = Reconcile(issue=ISSUE, keys=("k", "other"), places={"other": request})
    await step(activities(forge, memory).reconcile, order)
    assert forge.reconciled_at == [ISSUE, request]


@pytest.mark.req("CH-02", "OP-05", "BY-08")
@pytest.mark.parametrize(("language", "heading"), [("ja", "## 実行完了"), ("en", "## Done")])
async def test_a_result_is_posted_once_and_without_secrets(
    forge: FakeForge, memory: SqlMemory, language: Language, heading: str
):
    await asked_for(memory, SUBMIT)
    for _ in range(2):
        await step(activities(forge, memory).post_result, result(language))
    assert forge.ours == [heading]
    body = forge.comments[0].body
    assert "Used [redacted]." in body
    assert SECRET not in body
    assert "sandbox.kind" not in body


@pytest.mark.req("OP-06")
async def test_a_result_says_when_commands_were_not_confined(forge: FakeForge, memory: SqlMemory):
    await asked_for(memory, SUBMIT)
    await step(activities(forge, memory, confined=False).post_result, result())
    assert "sandbox.kind: none" in forge.comments[0].body


@pytest.mark.lesson("C19")
async def test_a_result_without_a_submission_says_so(forge: FakeForge, memory: SqlMemory):
    await asked_for(memory, ("run", {"command": "make"}))
    await step(activities(forge, memory).post_result, result("en", None))
    await step(activities(forge, memory).post_result, result("en").model_copy(update={"key": "other"}))
    assert all("did not reach its end" in comment.body for comment in forge.comments)
    assert len(forge.comments) == 2


@pytest.mark.req("PL-07", "OP-05", "BY-08")
async def test_the_work_branch_gets_one_change_request_that_names_the_issue(forge: FakeForge, memory: SqlMemory):
    await asked_for(memory, SUBMIT)
    request = OpenChangeRequest(
        issue=ISSUE,
        issue_title="It fails",
        branch="hikitsugi/issue-1",
        language="en",
        submitted=TurnRef(conversation=CONVERSATION, sequence=1),
    )
    made = [await step(activities(forge, memory).open_change_request, request) for _ in range(2)]
    assert {(one.url, one.is_draft) for one in made} == {("http://forge.example/octo/repo/pull/2", True)}
    assert forge.titles == ["It fails (#1)"] * 2
    (opened,) = forge.requests
    assert (opened.head, opened.base, opened.title) == ("hikitsugi/issue-1", "main", "It fails (#1)")
    assert opened.body.startswith("Closes #1\n")
    assert SECRET not in opened.body


@pytest.mark.req("BY-03")
async def test_where_there_are_no_drafts_title_text_and_result_say_that_it_is_not_ready(
    forge: FakeForge, memory: SqlMemory
):
    await asked_for(memory, SUBMIT)
    forge.has_drafts = False
    turn = TurnRef(conversation=CONVERSATION, sequence=1)
    request = OpenChangeRequest(issue=ISSUE, issue_title="It fails", branch="b", language="en", submitted=turn)
    opened = await step(activities(forge, memory).open_change_request, request)
    assert not opened.is_draft
    assert forge.titles[-1] == "WIP: It fails (#1)"
    assert "not ready to be merged" in forge.bodies[-1]
    await step(activities(forge, memory).post_result, result("en").model_copy(update={"is_draft": opened.is_draft}))
    assert "not ready to be merged" in forge.comments[-1].body
    shown = Work(verified=Verified(commit="c", checks=(CheckRun(command="make", exit_code=0),)))
    await step(activities(forge, memory).open_change_request, request.model_copy(update={"work": shown}))
    assert forge.titles[-1] == "It fails (#1)"
    assert "not ready" not in forge.bodies[-1]


@pytest.mark.req("BY-03")
@pytest.mark.parametrize(
    "found",
    [
        Verified(commit="c"),
        Verified(commit="c", checks=(CheckRun(command="make", exit_code=1),)),
        Verified(commit="c", checks=(PASSED,), placeholders=(Placeholder(path="a.py", line=1, text="pass"),)),
        Verified(commit="c", checks=(PASSED,), touches_instructions=("AGENTS.md",)),
    ],
)
def test_work_that_raises_doubts_is_not_ready(found: Verified):
    done = Submission(status=SubmissionStatus.DONE, summary="Did it.", evidence="It works, believe me.")
    assert not is_ready(done, found)
    assert not is_ready(done, None)
    assert is_ready(done, Verified(commit="c", checks=(PASSED,)))
    assert not is_ready(
        done.model_copy(update={"status": SubmissionStatus.BLOCKED}), Verified(commit="c", checks=(PASSED,))
    )
