"""Issues, comments and pull requests in GitHub's words."""

from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import (
    Json,
    association,
    node_id,
    person,
    person_or_none,
    stamp,
    stamp_or_none,
)
from hikitsugi.devforge.github.repository_shape import labels, owner, repository
from hikitsugi.devforge.records import Comment, Issue, Person, Pull, Reaction
from hikitsugi.devforge.repository import Repository

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def issue(links: Links, home: Repository, one: Issue) -> Json:
    """An issue, or a pull request where issues are listed."""
    url, page = f"{links.repository(home)}/issues/{one.number}", _page(links, home, one)
    told = {
        **_common(links, home, one),
        "node_id": node_id("I", one.id),
        "url": url,
        "repository_url": links.repository(home),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page,
        "comments": home.tracker.comment_count(one.number),
        "closed_by": person_or_none(links, one.closed_by),
        "state_reason": one.reason,
        "performed_via_github_app": None,
        "reactions": no_reactions(url),
    }
    if one.pull:
        told |= {"draft": one.pull.is_draft, "pull_request": _pull_links(links, home, one, one.pull)}
    return told


def comment(links: Links, home: Repository, one: Comment) -> Json:
    """A comment on an issue or pull request."""
    base = f"{links.repository(home)}/issues"
    url = f"{base}/comments/{one.id}"
    return {
        "id": one.id,
        "node_id": node_id("IC", one.id),
        "url": url,
        "issue_url": f"{base}/{one.number}",
        "html_url": f"{_page(links, home, home.tracker.issue(one.number))}#issuecomment-{one.id}",
        "user": person(links, one.author),
        "author_association": association(home.member(one.author), home.owner),
        "body": one.body,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
        "performed_via_github_app": None,
        "reactions": _reactions(url, one.reactions),
    }


def reaction(links: Links, one: Reaction) -> Json:
    """One emoji on a comment."""
    return {
        "id": one.id,
        "node_id": node_id("REA", one.id),
        "user": person(links, one.author),
        "content": one.content,
        "created_at": stamp(one.created_at),
    }


def pull_in_list(links: Links, home: Repository, one: Issue, pull: Pull, caller: Person) -> Json:
    """A pull request as it stands in a list."""
    base = links.repository(home)
    url, issue_url = f"{base}/pulls/{one.number}", f"{base}/issues/{one.number}"
    addresses = {
        "self": url,
        "html": _page(links, home, one),
        "issue": issue_url,
        "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{base}/statuses/{pull.head_commit}",
    }
    in_body = ("issue", "comments", "review_comments", "review_comment", "commits", "statuses")
    return {
        **_common(links, home, one),
        "node_id": node_id("PR", one.id),
        "url": url,
        "html_url": addresses["html"],
        "diff_url": f"{addresses['html']}.diff",
        "patch_url": f"{addresses['html']}.patch",
        **{f"{key}_url": addresses[key] for key in in_body},
        "merged_at": stamp_or_none(pull.merge.at if pull.merge else None),
        "merge_commit_sha": pull.merge.commit if pull.merge else None,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _side(links, home, pull.head, pull.head_commit, caller) | ({"repo": None} if pull.is_from_fork else {}),
        "base": _side(links, home, pull.base, pull.base_commit, caller),
        "_links": {key: {"href": href} for key, href in addresses.items()},
        "auto_merge": None,
        "draft": pull.is_draft,
    }


def pull_request(links: Links, home: Repository, one: Issue, pull: Pull, caller: Person) -> Json:
    """A pull request asked for alone, with what git says about it."""
    difference = home.difference(pull)
    mergeable = home.git.merges_cleanly(pull.base_commit, pull.head_commit) if one.is_open else None
    return {
        **pull_in_list(links, home, one, pull, caller),
        "merged": bool(pull.merge),
        "merged_by": person_or_none(links, pull.merge.by if pull.merge else None),
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": {True: "clean", False: "dirty", None: "unknown"}[mergeable],
        "comments": home.tracker.comment_count(one.number),
        "review_comments": sum(remark.number == one.number for remark in home.reviews.remarks),
        "maintainer_can_modify": False,
        "commits": difference.commits,
        "additions": difference.additions,
        "deletions": difference.deletions,
        "changed_files": difference.files,
    }


def _common(links: Links, home: Repository, one: Issue) -> Json:
    assignees = [person(links, somebody) for somebody in one.assignees]
    return {
        "id": one.id,
        "number": one.number,
        "title": one.title,
        "body": one.body or None,
        "state": "open" if one.is_open else "closed",
        "locked": False,
        "active_lock_reason": None,
        "user": person(links, one.author),
        "author_association": association(home.member(one.author), home.owner),
        "labels": labels(links, home, one.labels),
        "milestone": None,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
        "closed_at": stamp_or_none(one.closed_at),
    }


def _page(links: Links, home: Repository, one: Issue) -> str:
    return links.site + home.place_of(one)


def _pull_links(links: Links, home: Repository, one: Issue, pull: Pull) -> Json:
    page = _page(links, home, one)
    return {
        "url": f"{links.repository(home)}/pulls/{one.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": stamp_or_none(pull.merge.at if pull.merge else None),
    }


def _side(links: Links, home: Repository, branch: str, commit: str, caller: Person) -> Json:
    return {
        "label": f"{home.owner}:{branch}",
        "ref": branch,
        "sha": commit,
        "user": owner(links, home),
        "repo": repository(links, home, caller),
    }


def no_reactions(url: str) -> Json:
    """The emojis of what nobody has reacted to."""
    return _reactions(url, ())


def _reactions(url: str, given: tuple[Reaction, ...]) -> Json:
    counts = {content: sum(one.content == content for one in given) for content in REACTIONS}
    return {"url": f"{url}/reactions", "total_count": len(given), **counts}
