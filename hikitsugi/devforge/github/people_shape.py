"""People in GitHub's words."""

from datetime import UTC, datetime
from typing import Any

from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.records import Permission, Person

Json = dict[str, Any]

_USER_LINKS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}
_NOTHING_TOLD = ("name", "company", "blog", "location", "email", "hireable", "bio")
_COUNTS = (
    "public_repos",
    "public_gists",
    "followers",
    "following",
    "private_gists",
    "total_private_repos",
    "owned_private_repos",
    "disk_usage",
    "collaborators",
)


def stamp(moment: datetime) -> str:
    """A time as GitHub writes it: whole seconds in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_or_none(moment: datetime | None) -> str | None:
    """A time that may not have come."""
    return stamp(moment) if moment else None


def node_id(kind: str, number: int) -> str:
    """The opaque id GraphQL would use."""
    return f"{kind}_{number}"


def account(links: Links, login: str, account_id: int, kind: str = "User") -> Json:
    """The short form of an account."""
    url = f"{links.api}/users/{login}"
    return {
        "login": login,
        "id": account_id,
        "node_id": node_id("U", account_id),
        "avatar_url": f"{links.site}/-/avatar.svg",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{links.site}/{login}",
        **{key: url + path for key, path in _USER_LINKS.items()},
        "type": kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def person(links: Links, somebody: Person) -> Json:
    """The short form of a person, as it stands in issues and comments."""
    return account(links, somebody.login, somebody.id, "Bot" if somebody.is_bot else "User")


def person_or_none(links: Links, somebody: Person | None) -> Json | None:
    """A person where there may be none."""
    return person(links, somebody) if somebody else None


def own_account(links: Links, somebody: Person) -> Json:
    """The long form that people see of themselves."""
    return {
        **person(links, somebody),
        **dict.fromkeys(_NOTHING_TOLD),
        **dict.fromkeys(_COUNTS, 0),
        "email": f"{somebody.login}@localhost.localdomain",
        "two_factor_authentication": False,
        "created_at": stamp(somebody.joined_at),
        "updated_at": stamp(somebody.joined_at),
    }


def permissions(somebody: Person) -> dict[str, bool]:
    """What a person may do, as flags."""
    is_admin = somebody.permission is Permission.ADMIN
    return {
        "pull": somebody.permission is not Permission.NONE,
        "triage": somebody.may_write,
        "push": somebody.may_write,
        "maintain": is_admin,
        "admin": is_admin,
    }


def permission(links: Links, somebody: Person) -> Json:
    """The answer to what somebody may do in a repository."""
    level = str(somebody.permission)
    user = {**person(links, somebody), "role_name": level, "permissions": permissions(somebody)}
    return {"permission": level, "role_name": level, "user": user}


def association(somebody: Person, owner: str) -> str:
    """How somebody stands to a repository."""
    if somebody.login.lower() == owner.lower():
        return "OWNER"
    return "COLLABORATOR" if somebody.may_write else "NONE"
