"""Addresses: what is written is what is read, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress

names = st.text("abcXYZ019_-", min_size=1, max_size=12)
parts = st.text("abcXYZ019_.-", min_size=1, max_size=12)
repositories = st.lists(parts, min_size=2, max_size=4).map("/".join)
numbers = st.integers(min_value=1, max_value=10**9)

NO_REPOSITORY = [
    "",
    "github",
    "owner/repo",
    "github:repo",
    "github:/repo",
    "github:owner/",
    ":owner/repo",
    "git hub:owner/repo",
    "github:owner/re po",
    "github:owner/repo\n",
    "github:owner/repo?x=1",
    "github:ówner/repo",
]
NO_ISSUE = [
    "",
    "12",
    "github:owner/repo",
    "github:owner/repo#12",
    "owner/repo/issues/12",
    "github:owner/repo/issues/",
    "github:owner/repo/issues/0",
    "github:owner/repo/issues/012",
    "github:owner/repo/issues/-1",
    "github:owner/repo/issues/１２",
    "github:owner/repo/issues/12/",
    "github:owner/repo/issues/12\n",
    "github:owner/repo/pulls/12",
    "github:repo/issues/12",
    "https://github.com/owner/repo/issues/12",
]


@given(forge=names, repository=repositories)
def test_a_repository_reads_back_as_it_was_written(forge: str, repository: str):
    address = RepositoryAddress(forge=forge, repository=repository)
    assert RepositoryAddress.parse(str(address)) == address


@pytest.mark.req("TW-01")
@given(forge=names, repository=repositories, kind=st.sampled_from(Kind), number=numbers)
def test_a_workflow_id_reads_back_as_the_issue_it_names(forge: str, repository: str, kind: Kind, number: int):
    address = IssueAddress(forge=forge, repository=repository, kind=kind, number=number)
    assert IssueAddress.parse(str(address)) == address
    assert RepositoryAddress.parse(str(address.home)) == address.home


@given(st.text(max_size=40))
def test_whatever_is_read_as_an_issue_is_written_the_same(text: str):
    try:
        address = IssueAddress.parse(text)
    except ValueError:
        return
    assert str(address) == text


@pytest.mark.req("TW-01")
@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("github:owner/repo/issues/12", "owner/repo#12"),
        ("github:owner/repo/pull/12", "owner/repo#12"),
        ("gitlab:group/sub/repo/issues/7", "group/sub/repo#7"),
        ("gitlab:group/repo/merge_requests/3", "group/repo!3"),
    ],
)
def test_the_forms_of_the_contract_are_read_and_shortened(text: str, short: str):
    address = IssueAddress.parse(text)
    assert str(address) == text
    assert address.short == short


@pytest.mark.parametrize("text", NO_REPOSITORY)
def test_what_is_no_repository_is_refused_with_the_form_to_write(text: str):
    with pytest.raises(ValueError, match="write it as FORGE:OWNER/REPO"):
        RepositoryAddress.parse(text)


@pytest.mark.parametrize("text", NO_ISSUE)
def test_what_is_no_issue_is_refused_with_the_form_to_write(text: str):
    with pytest.raises(ValueError, match="write it as FORGE:OWNER/REPO/issues/NUMBER"):
        IssueAddress.parse(text)


def test_two_numbers_are_two_addresses_and_equal_ones_are_one():
    first = IssueAddress(forge="github", repository="owner/repo", number=1)
    assert first != first.model_copy(update={"number": 2})
    assert first == IssueAddress.parse("github:owner/repo/issues/1")
