"""A branch that an issue's text names is taken only when it can do no harm."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hikitsugi.domain.branch_names import branch_for, is_harmless

pytestmark = pytest.mark.req("BR-07")


@pytest.mark.parametrize(
    ("body", "branch"),
    [
        ("Branch: bugfix/issue-123", "bugfix/issue-123"),
        ("- **Branch**: `feature/login`", "feature/login"),
        ("ブランチ名: feature/ログイン", "feature/issue-7"),
        ("ブランチ:`fix/tax`", "fix/tax"),
        ("text\n## ブランチ名\n\n`feature/tax-2`\n\n## 成果物", "feature/tax-2"),
        ("## ブランチ名 (Branch name)\n\nfeature/issue-5", "feature/issue-5"),
        ("branch name: topic_1.2", "topic_1.2"),
        ("ブランチ名\uff08任意\uff09\uff1a feature/wide \t", "feature/wide"),
        ("We branch: here and there", "feature/issue-7"),
        ("", "feature/issue-7"),
        ("Branch:", "feature/issue-7"),
    ],
)
def test_the_named_branch_or_the_usual_one(body: str, branch: str):
    assert branch_for(7, body, "main") == branch


HARMFUL = [
    *("-u", "--upload-pack=x", "refs/heads/main", "heads/main", "..", "a..b", "@{", "a@{1}", "@", "HEAD", "head"),
    *(
        "main",
        "Main",
        "master",
        "develop",
        "release/1",
        "production",
        "gh-pages",
        "trunk-x/../main",
        "/a",
        "a/",
        "a//b",
    ),
    *(".a", "a/.b", "a.lock", "a.lock/b", "a.", "a b", "a\tb", "a~1", "a^", "a:b", "a?b", "a*", "a[b", "a\\b", "a\x7f"),
    *("origin/main", "x" * 101, "feature/\u202etset", "feature/x;rm -rf", "$(id)", "`id`", "a\nb", "refs/pull/1/head"),
]


@pytest.mark.parametrize("name", HARMFUL, ids=repr)
def test_harmful_names_are_not_taken(name: str):
    assert not is_harmless(name, "main")
    branch = branch_for(7, f"Branch: {name}\n\n## 成果物\nx", "main")
    assert branch == "feature/issue-7" or (branch != name and is_harmless(branch, "main"))


HOSTILE = [
    *(
        "branch: a{ }b",
        "branch{ }b",
        "branch ({ }",
        "branch: {*}",
        "## branch\n{\n} ",
        "## branch{ }\n>",
        "{ }branch",
    ),
    *(
        "{#}branch",
        "{## branch\n}",
        "{branch (\n}",
        "{branch: \n}",
        "branch: {a/}",
        "branch: {a.}",
        "{ブランチ名}",
        "{\r\n}",
    ),
]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("shape", HOSTILE, ids=repr)
def test_a_hostile_body_takes_no_longer_than_its_length(shape: str):
    before, rest = shape.split("{")
    repeated, after = rest.split("}")
    for length in (60_000, 1_000_000):
        body = before + repeated * (length // len(repeated)) + after
        assert branch_for(7, body, "main") == "feature/issue-7"


def test_a_branch_named_within_what_github_lets_people_write_is_found():
    assert branch_for(7, "x\n" * 32_000 + "Branch: feature/late", "main") == "feature/late"
    assert branch_for(7, "x\n" * 32_760 + "Branch: feature/cut-off", "main") == "feature/issue-7"


def test_the_default_branch_is_never_taken_whatever_it_is_called():
    assert branch_for(7, "Branch: Trunk/One", "trunk/one") == "feature/issue-7"


@given(st.text(max_size=40) | st.from_regex(r"[a-z./@{~^:-]{1,12}", fullmatch=True))
def test_what_is_taken_is_a_branch_name_to_git(name: str):
    if is_harmless(name, "main"):
        command = ["git", "check-ref-format", "--branch", name]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
