"""What a look and a decision cost in calls, however many issues are open and however long a conversation is."""

import math

import pytest

from benchmarks.polling import CHANGED, asked_per_issue, decided, looked
from hikitsugi.devforge.kinds import KindName
from hikitsugi.forges.client import PAGE_SIZE

LISTS = 2
"""Both forges are asked for two lists: issues and comments on GitHub, issues and merge requests on GitLab."""


@pytest.mark.parametrize("issues", [50, 500])
@pytest.mark.req("CH-10", "CD-10")
@pytest.mark.lesson("P8")
async def test_a_look_at_github_is_two_calls_that_are_free_when_nothing_happened(issues: int):
    looks = await looked("github", issues)
    assert [cost.calls for cost in looks] == [LISTS, LISTS, LISTS]
    assert (looks.idle.free, looks.busy.free) == (LISTS, 0)


@pytest.mark.parametrize("issues", [50, 500])
@pytest.mark.req("CH-10", "CD-10")
@pytest.mark.lesson("P8")
async def test_a_look_at_gitlab_is_two_calls_and_one_for_each_issue_that_changed(issues: int):
    looks = await looked("gitlab", issues)
    assert (looks.idle.calls, looks.busy.calls) == (LISTS, LISTS + CHANGED)
    assert looks.after.calls <= LISTS + CHANGED


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.lesson("P8")
async def test_asking_every_issue_is_what_a_look_does_not_cost(kind: KindName):
    assert await asked_per_issue(kind, 50) == math.ceil(50 / PAGE_SIZE) + 50


@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("CH-10")
async def test_a_conversation_of_a_hundred_comments_is_decided_about_far_below_five_seconds(kind: KindName):
    decision = await decided(kind, 100)
    assert decision.look.calls == {"github": LISTS, "gitlab": LISTS + 1}[kind]
    assert decision.hearing.calls == 1, "the 👀 alone"
    assert decision.look.seconds + decision.hearing.seconds < 2.5
