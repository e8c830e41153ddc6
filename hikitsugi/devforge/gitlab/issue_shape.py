"""Issues and merge requests in GitLab's words."""

import re

from hikitsugi.devforge.gitlab.shape import Json, label, person, person_or_none, stamp, stamp_or_none
from hikitsugi.devforge.records import Issue, Pull
from hikitsugi.devforge.repository import Repository

_BOX = re.compile(r"^\s*[-*+] \[([ xX])\] ", re.MULTILINE)
_TIMES: Json = {
    "time_estimate": 0,
    "total_time_spent": 0,
    "human_time_estimate": None,
    "human_total_time_spent": None,
}


def issue(site: str, home: Repository, one: Issue, *, with_label_details: bool = False) -> Json:
    """An issue."""
    api = f"{site}/api/v4/projects/{home.id}"
    return {
        **_common(site, home, one, "#"),
        "state": "opened" if one.is_open else "closed",
        "labels": _labels(home, one, in_full=with_label_details),
        "type": "ISSUE",
        "merge_requests_count": len(home.pulls_naming(one.number)),
        "start_date": None,
        "due_date": None,
        "confidential": False,
        "issue_type": "issue",
        "weight": None,
        "blocking_issues_count": 0,
        "has_tasks": bool(_BOX.search(one.body)),
        "task_status": "",
        "_links": {
            "self": f"{api}/issues/{one.number}",
            "notes": f"{api}/issues/{one.number}/notes",
            "award_emoji": f"{api}/issues/{one.number}/award_emoji",
            "project": api,
            "closed_as_duplicate_of": None,
        },
        "severity": "UNKNOWN",
        "moved_to_id": None,
        "service_desk_reply_to": None,
    }


def merge_request(site: str, home: Repository, one: Issue, pull: Pull) -> Json:
    """A merge request as it stands in a list."""
    merge = pull.merge
    status = _merge_status(home, one, pull)
    return {
        **_common(site, home, one, "!"),
        "state": state(one),
        "labels": list(one.labels),
        "closed_by": None if merge else person_or_none(site, one.closed_by),
        "closed_at": None if merge else stamp_or_none(one.closed_at),
        "merged_by": person_or_none(site, merge.by if merge else None),
        "merge_user": person_or_none(site, merge.by if merge else None),
        "merged_at": stamp_or_none(merge.at if merge else None),
        "target_branch": pull.base,
        "source_branch": pull.head,
        "reviewers": [],
        "source_project_id": None if pull.is_from_fork else home.id,
        "target_project_id": home.id,
        "draft": pull.is_draft,
        "work_in_progress": pull.is_draft,
        "merge_when_pipeline_succeeds": False,
        "merge_status": "cannot_be_merged" if status == "conflict" else "can_be_merged",
        "detailed_merge_status": status,
        "merge_after": None,
        "sha": pull.head_commit,
        "merge_commit_sha": merge.commit if merge else None,
        "squash_commit_sha": None,
        "should_remove_source_branch": None,
        "force_remove_source_branch": False,
        "prepared_at": stamp(one.created_at),
        "reference": f"!{one.number}",
        "squash": False,
        "squash_on_merge": False,
        "has_conflicts": status == "conflict",
        "blocking_discussions_resolved": True,
        "approvals_before_merge": None,
    }


def merge_request_in_full(site: str, home: Repository, one: Issue, pull: Pull) -> Json:
    """A merge request asked for alone, with what git says about it."""
    return {
        **merge_request(site, home, one, pull),
        "subscribed": False,
        "changes_count": str(home.difference(pull).files),
        "latest_build_started_at": None,
        "latest_build_finished_at": None,
        "first_deployed_to_production_at": None,
        "pipeline": None,
        "head_pipeline": None,
        "diff_refs": {"base_sha": pull.base_commit, "head_sha": pull.head_commit, "start_sha": pull.base_commit},
        "merge_error": None,
        "rebase_in_progress": False,
        "first_contribution": False,
        "user": {"can_merge": True},
    }


def state(one: Issue) -> str:
    """The state of an issue or merge request."""
    if one.is_open:
        return "opened"
    return "merged" if one.pull and one.pull.merge else "closed"


def _merge_status(home: Repository, one: Issue, pull: Pull) -> str:
    if not one.is_open:
        return "not_open"
    if pull.is_draft:
        return "draft_status"
    return "mergeable" if home.git.merges_cleanly(pull.base_commit, pull.head_commit) else "conflict"


def _common(site: str, home: Repository, one: Issue, mark: str) -> Json:
    assignees = [person(site, somebody) for somebody in one.assignees]
    boxes = _BOX.findall(one.body)
    reference = f"{mark}{one.number}"
    return {
        "id": one.id,
        "iid": one.number,
        "project_id": home.id,
        "title": one.title,
        "description": one.body or None,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
        "closed_at": stamp_or_none(one.closed_at),
        "closed_by": person_or_none(site, one.closed_by),
        "milestone": None,
        "author": person(site, one.author),
        "assignees": assignees,
        "assignee": assignees[0] if assignees else None,
        "user_notes_count": home.tracker_of(one).comment_count(one.number),
        "upvotes": 0,
        "downvotes": 0,
        "discussion_locked": None,
        "web_url": site + home.place_of(one),
        "time_stats": _TIMES,
        "task_completion_status": {"count": len(boxes), "completed_count": sum(box != " " for box in boxes)},
        "references": {"short": reference, "relative": reference, "full": f"{home.full_name}{reference}"},
        "imported": False,
        "imported_from": "none",
    }


def _labels(home: Repository, one: Issue, *, in_full: bool) -> list[str] | list[Json]:
    return [label(home.labels.named(name)) for name in one.labels] if in_full else list(one.labels)
