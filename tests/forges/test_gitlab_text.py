"""Orders to GitLab in our texts, and titles of drafts."""

import pytest

from hikitsugi.forges.gitlab_text import as_draft, as_ready, inert


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("/close", "\\/close"),
        ("/Close ", "\\/Close "),
        ("done\n/label ~bug\nmore", "done\n\\/label ~bug\nmore"),
        ("/remove_label\r\n/assign\tme", "\\/remove_label\r\n\\/assign\tme"),
        ("```\n/merge\n", "```\n\\/merge\n"),
        ("a /close b\n /x/y\n/usr/bin/env python\n//note", "a /close b\n /x/y\n/usr/bin/env python\n//note"),
        ("", ""),
    ],
)
def test_a_line_that_gives_an_order_is_made_inert_and_paths_stay(text: str, safe: str):
    assert inert(text) == safe
    assert inert(safe) == safe


@pytest.mark.parametrize("title", ["Fix", "Draft: Fix", "draft: Draft: Fix", "[Draft] Fix", "(draft) Fix", "WIP: Fix"])
def test_a_title_is_a_drafts_once(title: str):
    assert as_draft(title) == "Draft: Fix"
    assert as_ready(title) == "Fix"


def test_a_title_that_only_speaks_of_drafts_stays():
    assert as_ready("Drafting: the plan") == "Drafting: the plan"
