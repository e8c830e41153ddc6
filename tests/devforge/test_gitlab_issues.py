"""Issues, notes and labels through the real GitLab client."""

from datetime import timedelta
from typing import Any

import pytest
from gitlab import GitlabCreateError, GitlabGetError, GitlabHttpError, GitlabUpdateError
from gitlab.v4.objects import Project

from hikitsugi.devforge import DevForge
from tests.devforge.conftest import BOT_TOKEN, PROJECT, Clock, ProjectFor


def notes(project: Project, iid: int, **asked: Any) -> list[str]:
    path = f"/projects/{PROJECT.replace('/', '%2F')}/issues/{iid}/notes"
    return [note["body"] for note in listed(project, path, **asked)]


def listed(project: Project, path: str, **asked: Any) -> list[dict[str, Any]]:
    return list(project.manager.gitlab.http_list(path, iterator=True, **asked))


def test_an_issue_is_opened_labelled_answered_and_closed(project_for: ProjectFor, lab: DevForge):
    project = project_for("token-of-hanako")
    bot = lab.person("hikitsugi").id
    issue = project.issues.create(
        {"title": "足し算が違う", "description": "3 になるはず", "labels": ["task:misc"], "assignee_ids": [bot]}
    )
    project.issues.update(issue.iid, {"add_labels": "processing, P1", "remove_labels": ["task:misc"]})
    issue.notes.create({"body": "こんにちは"})
    project.issues.update(issue.iid, {"state_event": "close"})

    kept = lab.issue(PROJECT, issue.iid)
    assert (kept.title, kept.labels, kept.is_open) == ("足し算が違う", ("processing", "P1"), False)
    assert [person.login for person in kept.assignees] == ["hikitsugi"]
    assert [comment.body for comment in lab.comments(PROJECT, issue.iid)] == ["こんにちは"]


def test_a_project_is_found_by_encoded_path_and_by_number(project: Project, lab_url: str):
    found = project.manager.gitlab.projects.get(PROJECT)
    assert found.path_with_namespace == PROJECT
    assert project.manager.gitlab.projects.get(found.id).http_url_to_repo == f"{lab_url}/{PROJECT}.git"
    with pytest.raises(GitlabGetError, match="404 Project Not Found"):
        project.manager.gitlab.projects.get("example/none")


def test_changes_leave_system_notes_which_nobody_said(project: Project, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako", ["task:misc"])
    lab.comment(PROJECT, 1, "hanako", "said")
    project.issues.update(1, {"labels": ["processing"], "assignee_ids": [lab.person("taro").id]})
    project.issues.update(1, {"state_event": "close"})

    every = project.issues.get(1, lazy=True).notes.list(get_all=True)
    assert [(note.body, note.system) for note in every] == [
        ("closed", True),
        ("assigned to @taro", True),
        ('added ~"processing" and removed ~"task:misc" labels', True),
        ("said", False),
    ]
    assert notes(project, 1, activity_filter="only_comments") == ["said"]
    assert "said" not in notes(project, 1, activity_filter="only_activity")
    assert project.issues.get(1).user_notes_count == 1
    events = project.issues.get(1, lazy=True).resourcelabelevents.list(get_all=True)
    assert [(one.action, one.label["name"]) for one in events] == [
        ("add", "task:misc"),
        ("add", "processing"),
        ("remove", "task:misc"),
    ]
    assert len({one.id for one in events}) == 3


@pytest.mark.lesson("C5")
def test_notes_come_newest_first_and_on_pages(project: Project, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    said = [lab.comment(PROJECT, 1, "hanako", f"note {number}") for number in range(45)]
    lab.repository(PROJECT).tracker.edit_comment(said[3].id, "edited")

    assert len(notes(project, 1)) == 45
    assert notes(project, 1)[0] == "note 44"
    assert notes(project, 1, sort="asc")[0] == "note 0"
    assert notes(project, 1, order_by="updated_at")[0] == "edited"
    assert len(project.issues.get(1, lazy=True).notes.list(page=3, get_all=False)) == 5


def test_a_second_note_within_a_minute_does_not_touch_the_issue(lab: DevForge, clock: Clock, project: Project):
    opened = lab.open_issue(PROJECT, "Title", "", "hanako")
    lab.comment(PROJECT, 1, "hanako", "at once")
    assert lab.issue(PROJECT, 1).updated_at == opened.updated_at

    clock.forward(timedelta(seconds=61))
    lab.comment(PROJECT, 1, "hanako", "later")
    touched = lab.issue(PROJECT, 1).updated_at
    assert touched > opened.updated_at
    clock.forward(timedelta(seconds=30))
    lab.comment(PROJECT, 1, "hanako", "too soon")
    issue = project.issues.get(1)
    assert (lab.issue(PROJECT, 1).updated_at, issue.user_notes_count) == (touched, 3)

    project.issues.update(1, {"add_labels": "x"})
    assert lab.issue(PROJECT, 1).updated_at > touched


def test_open_labelled_issues_of_all_projects_are_one_list(project_for: ProjectFor, lab: DevForge):
    lab.add_repository("other/thing", {"a": "b"})
    for home in (PROJECT, "other/thing"):
        lab.open_issue(home, "Labelled", "", "hanako", ["task:misc"])
        lab.open_issue(home, "Unlabelled", "", "hanako")
    lab.grant("other/thing", "taro", "none")

    def asked(token: str, **how: Any) -> list[str]:
        query = {"labels": "task:misc", "state": "opened", "per_page": 1, **how}
        return [one["references"]["full"] for one in listed(project_for(token), "/issues", query_data=query)]

    assert asked(BOT_TOKEN, scope="all") == ["other/thing#1", f"{PROJECT}#1"]
    assert asked("token-of-taro", scope="all") == [f"{PROJECT}#1"]
    assert asked(BOT_TOKEN) == []


def test_updated_after_includes_its_own_moment(project: Project, lab: DevForge, clock: Clock):
    first = lab.open_issue(PROJECT, "First", "", "hanako")
    clock.forward(timedelta(minutes=5))
    lab.open_issue(PROJECT, "Second", "", "hanako")
    for since, expected in ((first.updated_at, [1, 2]), (first.updated_at + timedelta(seconds=1), [2])):
        found = project.issues.list(updated_after=since.isoformat(), order_by="updated_at", sort="asc", get_all=True)
        assert [one.iid for one in found] == expected


def test_events_tell_of_comments_by_day(project: Project, lab: DevForge, clock: Clock):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    said = lab.comment(PROJECT, 1, "hanako", "said")
    gone = lab.comment(PROJECT, 1, "hanako", "gone")
    lab.repository(PROJECT).tracker.delete_comment(gone.id)

    today = clock().date()
    (event,) = project.events.list(action="commented", after=str(today - timedelta(days=1)), get_all=True)
    assert (event.note["body"], event.note["noteable_iid"], event.target_id) == ("said", 1, said.id)
    assert not project.events.list(action="commented", after=str(today), get_all=True)
    assert [one.action_name for one in project.events.list(get_all=True)] == ["commented on", "opened"]


def test_an_emoji_is_given_once_and_a_repeat_is_an_error(project: Project, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    said = lab.comment(PROJECT, 1, "hanako", "Look")
    emojis = project.issues.get(1, lazy=True).notes.get(said.id, lazy=True).awardemojis
    emojis.create({"name": "eyes"})
    touched = project.issues.get(1, lazy=True).notes.get(said.id)
    assert (touched.body, touched.updated_at > touched.created_at) == ("Look", True)
    with pytest.raises(GitlabCreateError, match="already been taken") as repeated:
        emojis.create({"name": "eyes"})
    assert repeated.value.response_code == 404
    assert [one.name for one in emojis.list(get_all=True)] == ["eyes"]


def test_quick_actions_never_reach_the_note(project_for: ProjectFor, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako", ["task:misc"])
    thread = project_for("token-of-hanako").issues.get(1, lazy=True).notes
    thread.create({"body": 'Done.\n/label ~processing ~"two words"\n/assign me\n```\n/close\n```\n/approve'})
    (said,) = lab.comments(PROJECT, 1)
    assert said.body == "Done.\n```\n/close\n```\n/approve"
    kept = lab.issue(PROJECT, 1)
    assert kept.labels == ("task:misc", "processing", "two words")
    assert [person.login for person in kept.assignees] == ["hanako"]

    answer = thread.create({"body": "/close"})
    assert answer.attributes["summary"] == ["Closed this issue."]
    assert not hasattr(answer, "id")
    assert len(lab.comments(PROJECT, 1)) == 1
    assert not lab.issue(PROJECT, 1).is_open


def test_guests_may_speak_but_not_label(project_for: ProjectFor, lab: DevForge):
    lab.open_issue(PROJECT, "Title", "", "hanako")
    guest = project_for("token-of-taro")
    guest.issues.get(1, lazy=True).notes.create({"body": "I only read\n/close"})
    for change in ({"add_labels": "x"}, {"state_event": "close"}):
        with pytest.raises(GitlabUpdateError, match="403 Forbidden"):
            guest.issues.update(1, change)
    assert lab.issue(PROJECT, 1).is_open
    with pytest.raises(GitlabHttpError, match="403"):
        guest.manager.gitlab.http_get(f"/projects/{lab.repository(PROJECT).id}/hooks")


def test_members_are_told_with_their_level(project: Project, lab: DevForge):
    (hanako,) = project.manager.gitlab.users.list(username="Hanako", get_all=True)
    assert project.members_all.get(hanako.id).access_level == 40
    assert project.members_all.get(lab.person("taro").id).access_level == 10
    lab.grant(PROJECT, "taro", "write")
    assert project.members_all.get(lab.person("taro").id).access_level == 30
    lab.grant(PROJECT, "taro", "none")
    with pytest.raises(GitlabGetError, match="404"):
        project.members_all.get(lab.person("taro").id)
