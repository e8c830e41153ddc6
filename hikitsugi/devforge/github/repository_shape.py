"""Repositories, labels and what git holds, in GitHub's words."""

import base64
from typing import Any
from urllib.parse import quote

from hikitsugi.devforge.bare_git import Commit, Entry
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import Json, account, node_id, permissions, stamp
from hikitsugi.devforge.records import Label, Person
from hikitsugi.devforge.repository import Repository

_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_COUNTS = (
    "forks",
    "forks_count",
    "network_count",
    "size",
    "stargazers_count",
    "subscribers_count",
    "watchers",
    "watchers_count",
)
_NO = ("archived", "disabled", "fork", "has_discussions", "has_downloads", "has_pages", "has_projects", "has_wiki")
_UNSET = ("description", "homepage", "language", "license", "mirror_url")
_KINDS = {"tree": "dir", "blob": "file", "commit": "submodule"}


def repository(links: Links, home: Repository, caller: Person) -> Json:
    """A repository in full."""
    url, page = links.repository(home), links.page(home)
    open_issues = sum(issue.is_open for issue in home.tracker.issues)
    return {
        "id": home.id,
        "node_id": node_id("R", home.id),
        "name": home.name,
        "full_name": home.full_name,
        "owner": owner(links, home),
        "private": True,
        "visibility": "private",
        "html_url": page,
        "url": url,
        **{key: url + path for key, path in _LINKS.items()},
        "clone_url": f"{page}.git",
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "svn_url": page,
        **dict.fromkeys(_UNSET),
        **dict.fromkeys(_COUNTS, 0),
        **dict.fromkeys(_NO, False),
        "has_issues": True,
        "topics": [],
        "has_pull_requests": True,
        "default_branch": home.default_branch,
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "pushed_at": stamp(home.created_at),
        "created_at": stamp(home.created_at),
        "updated_at": stamp(home.created_at),
        "permissions": permissions(caller),
    }


def owner(links: Links, home: Repository) -> Json:
    """The account a repository stands under; it needs no person of that name."""
    return account(links, home.owner, home.id, "Organization")


def label(links: Links, home: Repository, one: Label) -> Json:
    """A label."""
    return {
        "id": one.id,
        "node_id": node_id("LA", one.id),
        "url": f"{links.repository(home)}/labels/{quote(one.name, safe='')}",
        "name": one.name,
        "description": one.description,
        "color": one.color,
        "default": False,
    }


def labels(links: Links, home: Repository, names: tuple[str, ...]) -> list[Json]:
    """The labels an issue carries."""
    return [label(links, home, home.labels.named(name)) for name in names]


def reference(links: Links, home: Repository, ref: str, commit: str) -> Json:
    """A git reference."""
    url = f"{links.repository(home)}/git"
    return {
        "ref": ref,
        "node_id": f"REF_{home.id}_{ref}",
        "url": f"{url}/{quote(ref)}",
        "object": {"type": "commit", "sha": commit, "url": f"{url}/commits/{commit}"},
    }


def short_branch(links: Links, home: Repository, name: str, commit: str) -> Json:
    """A branch as it stands in a list."""
    url = f"{links.repository(home)}/commits/{commit}"
    return {"name": name, "commit": {"sha": commit, "url": url}, "protected": False}


def branch(links: Links, home: Repository, name: str, commit: Commit) -> Json:
    """A branch with its last commit."""
    url = f"{links.repository(home)}/branches/{quote(name)}"
    return {
        "name": name,
        "commit": _commit(links, home, commit),
        "_links": {"self": url, "html": f"{links.page(home)}/tree/{quote(name)}"},
        "protected": False,
        "protection": {"enabled": False},
        "protection_url": f"{url}/protection",
    }


def content(links: Links, home: Repository, ref: str, entry: Entry, data: bytes | None = None) -> Json:
    """A file, with its bytes when it was asked for alone, or an entry of a folder."""
    base, path = links.repository(home), quote(entry.path)
    addresses = {
        "self": f"{base}/contents/{path}?ref={quote(ref, safe='')}",
        "git": f"{base}/git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.hash}",
        "html": f"{links.page(home)}/blob/{quote(ref)}/{path}",
    }
    told: dict[str, Any] = {
        "type": _KINDS[entry.kind],
        "size": entry.size,
        "name": entry.path.rpartition("/")[2],
        "path": entry.path,
        "sha": entry.hash,
        "url": addresses["self"],
        "git_url": addresses["git"],
        "html_url": addresses["html"],
        "download_url": None,
        "_links": addresses,
    }
    if data is not None:
        told |= {"encoding": "base64", "content": base64.encodebytes(data).decode()}
    return told


def _commit(links: Links, home: Repository, commit: Commit) -> Json:
    base, page = links.repository(home), links.page(home)
    who = {"name": commit.author, "email": commit.email, "date": stamp(commit.at)}
    parents = [{"sha": p, "url": f"{base}/commits/{p}", "html_url": f"{page}/commit/{p}"} for p in commit.parents]
    return {
        "url": f"{base}/commits/{commit.hash}",
        "sha": commit.hash,
        "node_id": f"C_{commit.hash}",
        "html_url": f"{page}/commit/{commit.hash}",
        "comments_url": f"{base}/commits/{commit.hash}/comments",
        "commit": {
            "url": f"{base}/git/commits/{commit.hash}",
            "author": who,
            "committer": who,
            "message": commit.message,
            "comment_count": 0,
            "tree": {"sha": commit.tree, "url": f"{base}/git/trees/{commit.tree}"},
        },
        "author": None,
        "committer": None,
        "parents": parents,
    }
