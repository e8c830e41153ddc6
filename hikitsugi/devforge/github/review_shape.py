"""Reviews and the remarks on lines, in GitHub's words."""

from hikitsugi.devforge.github.issue_shape import no_reactions
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import Json, association, node_id, person, stamp
from hikitsugi.devforge.records import Remark, Review
from hikitsugi.devforge.repository import Repository


def review(links: Links, home: Repository, one: Review) -> Json:
    """One person's judgement of a pull request."""
    pull = f"{links.repository(home)}/pulls/{one.number}"
    page = f"{links.page(home)}/pull/{one.number}#pullrequestreview-{one.id}"
    return {
        "id": one.id,
        "node_id": node_id("PRR", one.id),
        "user": person(links, one.author),
        "body": one.body,
        "state": one.verdict.value,
        "html_url": page,
        "pull_request_url": pull,
        "author_association": association(home.member(one.author), home.owner),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull}},
        "submitted_at": stamp(one.submitted_at),
        "updated_at": stamp(one.submitted_at),
        "commit_id": one.commit,
    }


def remark(links: Links, home: Repository, one: Remark) -> Json:
    """One comment on a line."""
    base = f"{links.repository(home)}/pulls"
    url, pull = f"{base}/comments/{one.id}", f"{base}/{one.number}"
    page = f"{links.page(home)}/pull/{one.number}#discussion_r{one.id}"
    told: Json = {
        "id": one.id,
        "node_id": node_id("PRRC", one.id),
        "url": url,
        "pull_request_review_id": one.review_id,
        "diff_hunk": "",
        "path": one.path,
        "position": one.line,
        "original_position": one.line,
        "commit_id": one.commit,
        "original_commit_id": one.commit,
        "user": person(links, one.author),
        "body": one.body,
        "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at),
        "html_url": page,
        "pull_request_url": pull,
        "author_association": association(home.member(one.author), home.owner),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull}},
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": one.line,
        "original_line": one.line,
        "side": one.side,
        "subject_type": "line" if one.line else "file",
        "reactions": no_reactions(url),
    }
    return told | ({"in_reply_to_id": one.in_reply_to} if one.in_reply_to else {})
