"""Merge requests through the real GitLab client, over branches pushed with real git."""

import pytest
from gitlab import GitlabCreateError, GitlabMRClosedError
from gitlab.v4.objects import Project

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import PROJECT, ProjectFor, Publish

BRANCH = "hikitsugi/issue-1"
WANTED = {"title": "Draft: Fix", "source_branch": BRANCH, "target_branch": "main", "description": "Closes #1"}


def test_a_merge_request_has_its_own_numbers_and_follows_its_branch(
    project: Project, lab: DevForge, publish_to_lab: Publish
):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    first = publish_to_lab(BRANCH)
    request = project.mergerequests.create(WANTED)
    assert (request.iid, request.sha, request.state) == (1, first, "opened")
    second = publish_to_lab(BRANCH, "notes.md", "More\n")
    assert project.mergerequests.get(1).sha == second != first
    assert lab.issue(PROJECT, 1).title == "Title"


@pytest.mark.req("PR-01")
def test_a_second_merge_request_for_the_same_branch_is_refused(
    project: Project, lab: DevForge, publish_to_lab: Publish
):
    publish_to_lab(BRANCH)
    request = project.mergerequests.create(WANTED)
    with pytest.raises(GitlabCreateError, match=r"already exists for this source branch: !1") as refused:
        project.mergerequests.create(WANTED)
    assert refused.value.response_code == 409
    found = project.mergerequests.list(source_branch=BRANCH, state="opened", get_all=True)
    assert [one.iid for one in found] == [request.iid]
    assert not project.mergerequests.list(source_branch="other", get_all=True)
    assert len(lab.pulls(PROJECT)) == 1


def test_a_draft_is_a_word_in_the_title(project_for: ProjectFor, lab: DevForge, publish_to_lab: Publish):
    publish_to_lab(BRANCH)
    project = project_for("token-of-hanako")
    request = project.mergerequests.create(WANTED)
    assert (request.draft, request.detailed_merge_status) == (True, "draft_status")
    with pytest.raises(GitlabMRClosedError, match="405"):
        request.merge()

    request.title = "Fix"
    request.save()
    request = project.mergerequests.get(request.iid)
    assert (request.draft, request.detailed_merge_status) == (False, "mergeable")
    request.notes.create({"body": "Not yet\n/draft"})
    assert lab.pulls(PROJECT)[0].title == "Draft: Fix"
    assert [note.body for note in request.notes.list(get_all=True)] == [
        "marked this merge request as **draft**",
        "Not yet",
        "marked this merge request as **ready**",
    ]


def test_merging_closes_what_was_promised(project_for: ProjectFor, lab: DevForge, publish_to_lab: Publish):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    publish_to_lab(BRANCH)
    project = project_for("token-of-hanako")
    request = project.mergerequests.create(WANTED | {"title": "Fix"})
    with pytest.raises(GitlabMRClosedError, match="SHA does not match"):
        request.merge(sha="0" * 40)
    request.merge(sha=request.sha)

    assert project.mergerequests.get(request.iid).state == "merged"
    assert not lab.issue(PROJECT, 1).is_open
    assert b"a + b" in project.files.get("calculator.py", ref="main").decode()


def test_approve_is_a_quick_action_on_merge_requests_alone(
    project_for: ProjectFor, lab: DevForge, publish_to_lab: Publish
):
    publish_to_lab(BRANCH)
    request = project_for("token-of-hanako").mergerequests.create(WANTED)
    request.notes.create({"body": "/approve"})
    request.notes.create({"body": "Good\n/approve"})
    assert [one.body for one in lab.repository(PROJECT).pull_tracker.thread(1)] == ["Good"]
    pull = lab.pulls(PROJECT)[0].pull
    assert pull
    assert [somebody.login for somebody in pull.approved_by] == ["hanako"]


def test_branches_are_made_read_and_removed(project: Project):
    project.branches.create({"branch": BRANCH, "ref": "main"})
    assert project.branches.get(BRANCH).commit["id"] == project.branches.get("main").commit["id"]
    with pytest.raises(GitlabCreateError, match="Branch already exists"):
        project.branches.create({"branch": BRANCH, "ref": "main"})
    project.branches.delete(BRANCH)
    assert [one.name for one in project.branches.list(get_all=True)] == ["main"]
    assert project.files.get("docs/guide/start.md", ref="main").decode().decode() == "はじめに\n"
