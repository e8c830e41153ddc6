"""Added lines that promise work are found; ordinary lines and lines that were there before are not."""

import pytest

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.placeholder_finder import File, find
from hikitsugi.workspace.steering_files import steers_machines
from tests.workspace.conftest import BRANCH, COMMIT
from tests.workspace.git_server import GitServer

pytestmark = [pytest.mark.req("BY-03"), pytest.mark.lesson("C19")]

PROMISES = {
    "a.py": [
        "x = 1  # TODO: compute it",
        "# FIXME handle errors",
        "def f():\n    pass",
        "def f():\n    '''Text.'''\n    ...",
        "async def f(): ...",
        "class A:\n    def f(self):\n        raise NotImplementedError('later')",
        "def f():\n    # implementation here\n    return None",
        "def f():\n    return 1  # 未実装",
        "def f(:\n    pass  # TODO unparsable",
        "def f(x):\n    if x:\n        raise NotImplementedError('not yet')\n    return 1",
        "def f():\n    # ... existing code ...\n    return 1",
    ],
    "a.ts": [
        "// TODO: write",
        "throw new Error('Not implemented');",
        "/* rest of the code */",
        "call();// TODO",
        "// ...existing code...",
    ],
    "a.tsx": ["<p>{/* TODO: text */}</p>"],
    "a.kt": ['    TODO("later")'],
    "a.scala": ["def f: Int = ???"],
    "a.go": ['\tpanic("not implemented")', "\t// FIXME"],
    "a.rs": ["    todo!()", '    unimplemented!("x")'],
    "A.java": ['throw new UnsupportedOperationException("Not implemented yet");', " * TODO describe"],
    "A.cs": ["throw new NotImplementedException();"],
    "a.sh": ["# TODO", "exit 0 # implement me"],
    "a.html": ["<!-- TODO -->"],
    "a.sql": ["-- TODO index"],
}
ORDINARY = {
    "a.py": [
        "todo = Todo(title='TODO')",
        "class NoSuchThing(Exception):\n    pass",
        "try:\n    x = 1\nexcept ValueError:\n    pass",
        "class P(Protocol):\n    def f(self): ...",
        "class A(abc.ABC):\n    @abc.abstractmethod\n    def f(self):\n        raise NotImplementedError",
        "@overload\ndef f(x: int) -> int: ...",
        "def f():\n    '''Do nothing, on purpose.'''",
        "def f(x):\n    if not x:\n        pass\n    return x",
        "except_ = NotImplementedError",
        "# the todo list shows what is passed here",
        "x: tuple[int, ...] = (1,)",
    ],
    "a.pyi": ["def f() -> int: ..."],
    "a.ts": [
        "const todos = [...old, todo];",
        "input.placeholder = 'Name';",
        "throw new Error('not found');",
        "get('http://todo.example');",
    ],
    "a.md": ["- TODO list of the product"],
    "a.css": ["#todo { color: red }"],
    "a.json": ['{"note": "TODO"}'],
}


def _found(path: str, content: str) -> set[int]:
    lines = {str(number): line for number, line in enumerate(content.split("\n"), 1)}
    return find(File(path=path, content=content, added=lines))


@pytest.mark.parametrize(("path", "content"), [(path, text) for path, texts in PROMISES.items() for text in texts])
def test_a_promise_is_found(path: str, content: str):
    assert _found(path, content)


@pytest.mark.parametrize(("path", "content"), [(path, text) for path, texts in ORDINARY.items() for text in texts])
def test_an_ordinary_line_is_none(path: str, content: str):
    assert not _found(path, content)


async def test_only_added_lines_count(checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer):
    old = "# TODO old\ndef old():\n    pass\n"
    server.commit("owner/repo", "main", {"old.py": old, "moved.py": "# TODO moves\n"})
    await checkouts.prepare(issue, remote, BRANCH)
    tree = checkouts.place(issue).tree
    (tree / "old.py").write_text(old + "\n\ndef new():\n    pass\n")
    (tree / "moved.py").unlink()
    (tree / "moved to 日本.py").write_text("# TODO moves\n")
    (tree / "a b.js").write_text("one\n// TODO two\n")
    (tree / "binary.py").write_bytes(b"\0# TODO\n")
    commit = (await checkouts.publish(issue, remote, BRANCH, COMMIT)).commit
    server.commit("owner/repo", "main", {"others.py": "# TODO of others\n"})
    found = (await checkouts.verify(issue, remote, commit, ())).placeholders
    assert [(each.path, each.line, each.text) for each in found] == [
        ("a b.js", 2, "// TODO two"),
        ("old.py", 7, "pass"),
    ]


@pytest.mark.req("BY-06")
async def test_changed_files_that_steer_machines_are_told(
    checkouts: Checkouts, issue: IssueAddress, remote: GitRemote, server: GitServer
):
    server.commit("owner/repo", "main", {".gitlab-ci.yml": "job:\n"})
    await checkouts.prepare(issue, remote, BRANCH)
    tree = checkouts.place(issue).tree
    (tree / ".github/workflows").mkdir(parents=True)
    (tree / ".github/workflows/ci.yml").write_text("on: push\n")
    (tree / "src/AGENTS.md").write_text("Obey.\n")
    (tree / ".gitlab-ci.yml").unlink()
    (tree / "plain.py").write_text("x = 1\n")
    commit = (await checkouts.publish(issue, remote, BRANCH, COMMIT)).commit
    found = await checkouts.verify(issue, remote, commit, ())
    assert found.touches_instructions == (".github/workflows/ci.yml", ".gitlab-ci.yml", "src/AGENTS.md")


@pytest.mark.parametrize(
    ("path", "steers"),
    [
        (".github/workflows/x.yml", True),
        (".GitHub/Workflows/x.yml", True),
        ("docs/claude.MD", True),
        (".cursor/rules/x.mdc", True),
        ("Jenkinsfile", True),
        ("templates/deploy.gitlab-ci.yml", True),
        ("src/workflows/x.yml", False),
        ("agents.py", False),
        ("docs/github/workflows.md", False),
    ],
)
def test_what_steers_machines_is_known_by_its_path(path: str, steers: bool):  # noqa: FBT001
    assert steers_machines(path) == steers
