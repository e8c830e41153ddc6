"""Projects and what git holds of them, in GitLab's words."""

import base64
import hashlib
from urllib.parse import quote

from hikitsugi.devforge.bare_git import Commit, Entry
from hikitsugi.devforge.gitlab.shape import ACCESS_LEVELS, Json, stamp
from hikitsugi.devforge.records import Person
from hikitsugi.devforge.repository import Repository


def project(site: str, home: Repository, caller: Person) -> Json:
    """A project."""
    web = f"{site}/{home.full_name}"
    api = f"{site}/api/v4/projects/{home.id}"
    open_issues = sum(issue.is_open for issue in home.tracker.issues)
    return {
        "id": home.id,
        "description": None,
        "name": home.name,
        "name_with_namespace": home.full_name.replace("/", " / "),
        "path": home.name,
        "path_with_namespace": home.full_name,
        "created_at": stamp(home.created_at),
        "updated_at": stamp(home.created_at),
        "default_branch": home.default_branch,
        "tag_list": [],
        "topics": [],
        "ssh_url_to_repo": f"git@127.0.0.1:{home.full_name}.git",
        "http_url_to_repo": f"{web}.git",
        "web_url": web,
        "readme_url": None,
        "forks_count": 0,
        "avatar_url": None,
        "star_count": 0,
        "last_activity_at": stamp(home.journal.entries[-1].at if home.journal.entries else home.created_at),
        "visibility": "internal",
        "namespace": namespace(site, home),
        "_links": {"self": api, "issues": f"{api}/issues", "merge_requests": f"{api}/merge_requests"},
        "empty_repo": False,
        "archived": False,
        "issues_enabled": True,
        "merge_requests_enabled": True,
        "issues_access_level": "enabled",
        "repository_access_level": "enabled",
        "merge_requests_access_level": "enabled",
        "creator_id": 1,
        "open_issues_count": open_issues,
        "autoclose_referenced_issues": True,
        "merge_method": "merge",
        "squash_option": "default_off",
        "permissions": {
            "project_access": {"access_level": ACCESS_LEVELS[caller.permission], "notification_level": 3},
            "group_access": None,
        },
    }


def namespace(site: str, home: Repository) -> Json:
    """The group a project stands in."""
    return {
        "id": home.id,
        "name": home.owner.rpartition("/")[2],
        "path": home.owner.rpartition("/")[2],
        "kind": "group",
        "full_path": home.owner,
        "parent_id": None,
        "avatar_url": None,
        "web_url": f"{site}/groups/{home.owner}",
    }


def branch(site: str, home: Repository, name: str, commit: Commit) -> Json:
    """A branch with its last commit."""
    return {
        "name": name,
        "commit": commit_shape(site, home, commit),
        "merged": False,
        "protected": name == home.default_branch,
        "developers_can_push": False,
        "developers_can_merge": False,
        "can_push": True,
        "default": name == home.default_branch,
        "web_url": f"{site}/{home.full_name}/-/tree/{quote(name)}",
    }


def commit_shape(site: str, home: Repository, commit: Commit) -> Json:
    """A commit."""
    at = stamp(commit.at)
    return {
        "id": commit.hash,
        "short_id": commit.hash[:8],
        "created_at": at,
        "parent_ids": list(commit.parents),
        "title": commit.message.split("\n", 1)[0],
        "message": commit.message,
        "author_name": commit.author,
        "author_email": commit.email,
        "authored_date": at,
        "committer_name": commit.author,
        "committer_email": commit.email,
        "committed_date": at,
        "trailers": {},
        "extended_trailers": {},
        "web_url": f"{site}/{home.full_name}/-/commit/{commit.hash}",
    }


def file(entry: Entry, ref: str, commit: str, data: bytes) -> Json:
    """A file with its bytes."""
    return {
        "file_name": entry.path.rpartition("/")[2],
        "file_path": entry.path,
        "size": entry.size,
        "encoding": "base64",
        "content_sha256": hashlib.sha256(data).hexdigest(),
        "ref": ref,
        "blob_id": entry.hash,
        "commit_id": commit,
        "last_commit_id": commit,
        "execute_filemode": entry.mode == "100755",
        "content": base64.b64encode(data).decode(),
    }
