"""Of any history of sessions on any issues, exactly the right context is inherited."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.handover import Context
from hikitsugi.domain.session import Ending
from hikitsugi.memory.store import SqlMemory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
EXPIRY = timedelta(days=90)
# Neighbours that differ in one part of the key alone.
PLACES = [
    ("github", "{}/repo", Kind.ISSUE, 12),
    ("github", "{}/repo", Kind.PULL_REQUEST, 12),
    ("github", "{}/repo", Kind.ISSUE, 1),
    ("github", "{}/other", Kind.ISSUE, 12),
    ("gitlab", "{}/repo", Kind.ISSUE, 12),
    ("gitlab", "{}/sub/repo", Kind.ISSUE, 12),
]
sessions = st.tuples(
    st.integers(0, len(PLACES) - 1), st.sampled_from(Ending), st.integers(0, 200), st.sampled_from(["要約", " "])
)


@pytest.mark.req("CI-01", "CI-02", "CI-08", "CI-09")
@pytest.mark.lesson("C24")
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@given(history=st.lists(sessions, max_size=12, unique_by=lambda session: (session[0], session[2])))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_the_newest_that_may_be_inherited_and_never_another_issues(
    memory: SqlMemory, history: list[tuple[int, Ending, int, str]]
):
    owner = uuid4().hex
    issues = [
        IssueAddress(forge=forge, repository=repository.format(owner), kind=kind, number=number)
        for forge, repository, kind, number in PLACES
    ]
    contexts = [
        Context(
            id=uuid4().hex,
            issue=issues[place],
            session=session,
            ending=ending,
            ended_at=NOW - timedelta(days=days),
            summary=summary,
        )
        for session, (place, ending, days, summary) in enumerate(history)
    ]
    for context in contexts:
        await memory.records.keep_context(context)
    for issue in issues:
        found = await memory.records.find_context(issue, NOW - EXPIRY)
        assert found == _expected(issue, contexts)


def _expected(issue: IssueAddress, contexts: list[Context]) -> Context | None:
    """By the words of the specification: newest completed or stopped within 90 days; without a summary, none."""
    may_be = [
        each
        for each in contexts
        if each.issue == issue and each.ending is not Ending.FAILED and NOW - each.ended_at <= EXPIRY
    ]
    newest = max(may_be, key=lambda each: each.ended_at, default=None)
    return newest if newest and newest.summary.strip() else None
