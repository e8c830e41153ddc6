"""People, labels, emojis and notes in GitLab's words."""

from datetime import UTC, datetime
from typing import Any

from hikitsugi.devforge.records import Comment, Issue, Label, Permission, Person, Reaction
from hikitsugi.devforge.repository import Repository

Json = dict[str, Any]
ACCESS_LEVELS = {Permission.NONE: 0, Permission.READ: 10, Permission.WRITE: 30, Permission.ADMIN: 40}
_NOTHING_TOLD = ("location", "linkedin", "twitter", "discord", "website_url", "github", "job_title", "pronouns")


def stamp(moment: datetime) -> str:
    """A time as GitLab writes it: milliseconds in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def stamp_or_none(moment: datetime | None) -> str | None:
    """A time that may not have come."""
    return stamp(moment) if moment else None


def person(site: str, somebody: Person) -> Json:
    """The short form of a person."""
    return {
        "id": somebody.id,
        "username": somebody.login,
        "public_email": None,
        "name": somebody.login,
        "state": "active",
        "locked": False,
        "avatar_url": f"{site}/-/avatar.svg",
        "web_url": f"{site}/{somebody.login}",
    }


def person_or_none(site: str, somebody: Person | None) -> Json | None:
    """A person where there may be none."""
    return person(site, somebody) if somebody else None


def own_account(site: str, somebody: Person) -> Json:
    """The long form that people see of themselves."""
    return {
        **person(site, somebody),
        **dict.fromkeys(_NOTHING_TOLD, ""),
        "created_at": stamp(somebody.joined_at),
        "bio": "",
        "organization": "",
        "bot": somebody.is_bot,
        "work_information": None,
        "followers": 0,
        "following": 0,
        "local_time": None,
        "last_sign_in_at": None,
        "confirmed_at": stamp(somebody.joined_at),
        "last_activity_on": None,
        "email": f"{somebody.login}@localhost.localdomain",
        "theme_id": 1,
        "color_scheme_id": 1,
        "projects_limit": 100_000,
        "current_sign_in_at": None,
        "can_create_group": False,
        "can_create_project": False,
        "two_factor_enabled": False,
        "external": False,
        "private_profile": False,
        "commit_email": f"{somebody.login}@localhost.localdomain",
    }


def member(site: str, somebody: Person) -> Json:
    """A person with what they may do in a project."""
    return {
        **person(site, somebody),
        "access_level": ACCESS_LEVELS[somebody.permission],
        "created_at": stamp(somebody.joined_at),
        "expires_at": None,
        "membership_state": "active",
    }


def label(one: Label) -> Json:
    """A label where it is named."""
    return {
        "id": one.id,
        "name": one.name,
        "description": one.description or None,
        "description_html": one.description,
        "text_color": "#FFFFFF",
        "color": f"#{one.color}",
        "archived": False,
    }


def project_label(home: Repository, one: Label) -> Json:
    """A label of a project, with how often it is used."""
    issues = [issue for issue in home.tracker.issues if one.name in issue.labels]
    pulls = [pull for pull in home.pulls if one.name in pull.labels and pull.is_open]
    return {
        **label(one),
        "open_issues_count": sum(issue.is_open for issue in issues),
        "closed_issues_count": sum(not issue.is_open for issue in issues),
        "open_merge_requests_count": len(pulls),
        "subscribed": False,
        "priority": None,
        "is_project_label": True,
    }


def award(site: str, one: Reaction, awardable: Comment) -> Json:
    """One emoji on a note."""
    return {
        "id": one.id,
        "name": one.content,
        "user": person(site, one.author),
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.created_at),
        "awardable_id": awardable.id,
        "awardable_type": "Note",
        "url": None,
    }


def note(site: str, home: Repository, one: Issue, comment: Comment) -> Json:
    """What somebody said, or what the forge noted, on an issue or merge request."""
    return {
        "id": comment.id,
        "type": None,
        "body": comment.body,
        "author": person(site, comment.author),
        "created_at": stamp(comment.created_at),
        "updated_at": stamp(comment.updated_at),
        "system": comment.is_system,
        "noteable_id": one.id,
        "noteable_type": noteable_type(one),
        "project_id": home.id,
        "commit_id": None,
        "resolvable": False,
        "confidential": False,
        "internal": False,
        "imported": False,
        "imported_from": "none",
        "noteable_iid": one.number,
        "commands_changes": {},
    }


def noteable_type(one: Issue) -> str:
    """What a note stands on."""
    return "MergeRequest" if one.pull else "Issue"
