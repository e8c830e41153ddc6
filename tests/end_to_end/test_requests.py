"""A labelled pull or merge request is worked on its own branch; one of ours belongs to its issue."""

import subprocess
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.cli.demo import sample
from hikitsugi.devforge.kinds import KindName
from hikitsugi.devforge.records import Edit, Issue
from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.status import Status
from tests.end_to_end.stage import AUTHOR, BOT, Stage, stage, until
from workflows.issue_workflow import IssueWorkflow

both_forges = pytest.mark.parametrize("kind", [pytest.param("github", marks=pytest.mark.long), "gitlab"])
BRANCH = "kenji/notes"
MORE = "README に使い方を書いてください。"


@both_forges
@pytest.mark.req("TW-01", "CH-03", "CH-08", "CD-04", "TW-05")
async def test_a_labelled_request_is_worked_on_its_own_branch_over_sessions_and_restarts(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, kind=kind) as s:
        _pushed(s, BRANCH)
        request = _opens_request(s)
        address = _address(s, request)
        async with s.product():
            await _comes_to(s, request, "awaiting-response", results=1)
        async with s.product():
            _says(s, request, MORE)
            await _comes_to(s, request, "awaiting-response", results=2)
            _says(s, request, "ありがとう")
            await _comes_to(s, request, "completed")
            _says(s, request, "もう一度お願いします。")
            await _comes_to(s, request, "awaiting-response", results=3)
            status = await _status(s, address)
        assert (status.issue, status.branch, status.session) == (str(address), BRANCH, 2)
        assert status.change_request
        assert status.change_request.endswith(f"/{address.kind}/{request.number}")
        assert {"NOTES.md", "receipt.py", "README.md"} <= _changed_files(s, BRANCH)
        assert s.forge.repository(s.repository).git.commit_of("hikitsugi/issue-1") is None
        assert [each.number for each in s.forge.pulls(s.repository)] == [request.number]


@both_forges
@pytest.mark.req("TW-01", "CD-04")
async def test_a_request_from_a_fork_is_answered_and_nothing_is_pushed(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, kind=kind) as s:
        home = s.forge.repository(s.repository)
        commit = _pushed(s, BRANCH)
        home.git.delete_ref(f"refs/heads/{BRANCH}", commit)
        author = s.forge.person(AUTHOR)
        request = home.open_pull_from_fork(author, sample.TITLE, sample.BODY, "notes", commit, "task:misc")
        before = home.git.refs("refs/")
        async with s.product():
            await _comes_to(s, request, "awaiting-response", results=1)
            _says(s, request, MORE)
            await _comes_to(s, request, "awaiting-response", results=2)
            status = await _status(s, _address(s, request))
        assert home.git.refs("refs/") == before
        assert (status.state, status.change_request) == ("awaiting-response", None)
        assert "フォークからのリクエスト" in _ours(s, request)[-1]
        asked = s.model.requests[0].body.model_dump_json()
        assert "It comes from a fork" in asked
        assert len(s.forge.pulls(s.repository)) == 1


@both_forges
@pytest.mark.req("TW-01")
@pytest.mark.lesson("C26")
async def test_a_request_of_ours_never_gets_a_workflow_of_its_own(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, kind=kind) as s, s.product():
        s.opens_issue()
        await s.comes_to("awaiting-response", results=1)
        home, [request] = s.forge.repository(s.repository), s.forge.pulls(s.repository)
        edit = Edit(body="Somebody wrote another text.", labels=("task:misc",))
        home.edit_pull(request.number, s.forge.person("kenji"), edit)
        _says(s, request, MORE)
        await _answered(s, request)
        await s.comes_to("awaiting-response")
        ours = f'WorkflowId STARTS_WITH "{s.issue.home}/" AND WorkflowType = "IssueWorkflow"'
        assert {found.id async for found in s.client.list_workflows(ours)} == {str(s.issue)}
        assert set(home.pull(request.number)[0].labels) == {"task:misc"}


def _pushed(s: Stage, branch: str) -> str:
    """Somebody's branch with a commit of their own."""
    clone = s.folder / "kenjis"
    bare = s.forge.data_folder / f"{s.repository}.git"
    subprocess.run(["git", "clone", "-q", str(bare), str(clone)], check=True)
    (clone / "NOTES.md").write_text("Notes\n")
    identity = ["-c", "user.name=kenji", "-c", "user.email=kenji@localhost"]
    subprocess.run(["git", "-C", str(clone), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(clone), *identity, "commit", "-q", "-m", "Notes"], check=True)
    subprocess.run(["git", "-C", str(clone), "push", "-q", "origin", f"HEAD:refs/heads/{branch}"], check=True)
    return str(s.forge.repository(s.repository).git.commit_of(branch))


def _opens_request(s: Stage) -> Issue:
    home = s.forge.repository(s.repository)
    author = s.forge.person(AUTHOR)
    return home.open_pull(author, sample.TITLE, sample.BODY, BRANCH, "main", labels=["task:misc"])


def _address(s: Stage, request: Issue) -> IssueAddress:
    kind = Kind.MERGE_REQUEST if s.forge.kind.name == "gitlab" else Kind.PULL_REQUEST
    return s.issue.model_copy(update={"kind": kind, "number": request.number})


def _says(s: Stage, request: Issue, body: str) -> None:
    s.forge.say(s.forge.repository(s.repository), request, s.forge.person("kenji"), body)


def _ours(s: Stage, request: Issue) -> list[str]:
    thread = s.forge.repository(s.repository).tracker_of(request).thread(request.number)
    return [comment.body for comment in thread if comment.author.login == BOT]


async def _comes_to(s: Stage, request: Issue, label: str, results: int | None = None) -> None:
    home = s.forge.repository(s.repository)

    async def there() -> bool:
        told = sum(body.startswith("## 実行完了") for body in _ours(s, request))
        return label in home.pull(request.number)[0].labels and results in {None, told}

    await until(there)


async def _answered(s: Stage, request: Issue) -> None:
    async def there() -> bool:
        return bool(_ours(s, request))

    await until(there)


async def _status(s: Stage, address: IssueAddress) -> Status:
    return await s.client.get_workflow_handle_for(IssueWorkflow.run, str(address)).query(IssueWorkflow.status)


def _changed_files(s: Stage, branch: str) -> set[str]:
    bare = s.forge.data_folder / f"{s.repository}.git"
    command = ["git", "--git-dir", str(bare), "diff", "--name-only", f"main...{branch}"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
