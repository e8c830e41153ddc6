"""The tools answer the model in words, and change a file once."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.tools import Intent, Submission, ToolCall, ToolOutcome
from hikitsugi.workspace.bubblewrap import Bubblewrap
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.tools import READ_ONLY, TOOL_SPECS, WorkspaceTools

PYTHON = "def greet():\n    return 'helo'\n"


class Desk:
    """One conversation's use of the tools: remembers what was seen."""

    def __init__(self, tools: WorkspaceTools, issue: IssueAddress) -> None:
        self.tools, self.issue = tools, issue
        self.seen: dict[str, str] = {}

    async def use(self, name: str, **given: JsonValue) -> ToolOutcome:
        intent = await self.intend(name, **given)
        return intent if isinstance(intent, ToolOutcome) else await self.carry_out(intent)

    async def intend(self, name: str, **given: JsonValue) -> Intent | ToolOutcome:
        return await self.tools.intend(self.issue, ToolCall(id="call", name=name, input=given), self.seen)

    async def carry_out(self, intent: Intent) -> ToolOutcome:
        outcome = await self.tools.carry_out(self.issue, intent)
        if outcome.path and outcome.sha256:
            self.seen[outcome.path] = outcome.sha256
        return outcome


@pytest.fixture
def desk(tools: WorkspaceTools, issue: IssueAddress, place: Place) -> Desk:
    assert place.tree.is_dir()
    return Desk(tools, issue)


@pytest.mark.req("PL-06")
def test_seven_tools_are_shown_with_plain_schemas():
    assert [spec.name for spec in TOOL_SPECS] == ["read", "edit", "write", "glob", "grep", "run", "submit"]
    shown = json.dumps([spec.model_dump() for spec in TOOL_SPECS])
    assert "$ref" not in shown
    assert '"title"' not in shown
    assert len(shown) < 4000
    assert all(spec.input_schema["type"] == "object" and spec.description for spec in TOOL_SPECS)


async def test_reading_numbers_lines_and_remembers_the_hash(desk: Desk):
    outcome = await desk.use("read", path="src/greeting.py")
    assert outcome.text == "1→def greet():\n2→    return 'helo'"
    assert (outcome.path, outcome.is_error) == ("src/greeting.py", False)
    assert len(outcome.sha256 or "") == 64


async def test_reading_pages_through_a_long_file(desk: Desk, place: Place):
    (place.tree / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 1001)))
    first = await desk.use("read", path="long.txt")
    assert first.text.endswith("400→line 400\n(lines 1 to 400 of 1000; go on with start=401)")
    assert (await desk.use("read", path="long.txt", start=999)).text == "999→line 999\n1000→line 1000"
    (place.tree / "wide.txt").write_text("x" * 100_000)
    assert len((await desk.use("read", path="wide.txt")).text) < 3000


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("frobnicate", {}, "there are read, edit"),
        ("read", {}, "path: Field required"),
        ("read", {"path": "x", "extra": 1}, "extra"),
        ("read", {"path": "nothing.py"}, "no file nothing.py"),
        ("read", {"path": "../../etc/passwd"}, "outside"),
        ("read", {"path": "/etc/passwd"}, "outside"),
        ("read", {"path": ".git/config"}, "out of reach"),
        ("read", {"path": "src"}, "not a file"),
        ("read", {"path": "a\0b"}, "NUL"),
        ("read", {"path": "\ud800"}, "path"),
        ("read", {"path": "README.md", "start": 99}, "1 lines"),
        ("edit", {"path": "README.md", "old_string": "a", "new_string": "b"}, "read it first"),
        ("edit", {"path": "new.py", "old_string": "a", "new_string": "b"}, "no file"),
        ("write", {"path": "README.md", "content": "x"}, "read it first"),
        ("write", {"path": ".", "content": "x"}, "path of a file"),
        ("write", {"path": "README.md/x", "content": "x"}, "no plain file or folder"),
        ("grep", {"pattern": "("}, "search failed"),
        ("grep", {"pattern": "x", "mode": "all"}, "mode"),
        ("run", {"command": ""}, "command"),
        ("run", {"command": "a\0b"}, "NUL"),
        ("submit", {"status": "perhaps", "summary": "x"}, "status"),
        ("submit", {"status": "done", "summary": ""}, "summary"),
    ],
)
async def test_what_the_model_gets_wrong_is_answered(desk: Desk, name: str, given: dict[str, JsonValue], words: str):
    outcome = await desk.use(name, **given)
    assert outcome.is_error
    assert words in outcome.text


async def test_an_edit_shows_its_surroundings(desk: Desk, place: Place):
    (place.tree / "long.py").write_text("".join(f"x{number} = 1\n" for number in range(1, 21)))
    await desk.use("read", path="long.py")
    outcome = await desk.use("edit", path="long.py", old_string="x10 = 1", new_string="x10 = 2\ny = 3")
    shown = [*(f"{number}→x{number} = 1" for number in (7, 8, 9)), "10→x10 = 2", "11→y = 3", "12→x11 = 1"]
    assert outcome.text == "\n".join(["Edited long.py:", *shown, "13→x12 = 1", "14→x13 = 1"])


async def test_a_file_that_changed_since_it_was_read_is_not_edited(desk: Desk, place: Place):
    await desk.use("read", path="src/greeting.py")
    (place.tree / "src/greeting.py").write_text("other\n")
    outcome = await desk.use("edit", path="src/greeting.py", old_string="helo", new_string="hello")
    assert outcome.text == "src/greeting.py changed since you read it; read it again"


async def test_an_edit_that_does_not_fit_says_where_to_look(desk: Desk, place: Place):
    (place.tree / "a.py").write_text("value = 1\nother = 2\nother = 2\n")
    await desk.use("read", path="a.py")
    nearest = await desk.use("edit", path="a.py", old_string="valeu = 1", new_string="x")
    twice = await desk.use("edit", path="a.py", old_string="other = 2", new_string="x")
    same = await desk.use("edit", path="a.py", old_string="value", new_string="value")
    assert "the nearest line is 1→value = 1" in nearest.text
    assert "occurs on lines 2, 3" in twice.text
    assert "nothing to change" in same.text
    assert not (await desk.use("edit", path="a.py", old_string="other", new_string="y", replace_all=True)).is_error
    assert (place.tree / "a.py").read_text() == "value = 1\ny = 2\ny = 2\n"


@pytest.mark.parametrize(
    "given",
    [
        {"name": "edit", "path": "src/greeting.py", "old_string": "helo", "new_string": "hello"},
        {"name": "write", "path": "src/greeting.py", "content": "x = 1\n"},
        {"name": "write", "path": "deep/er/new.txt", "content": "new"},
    ],
)
async def test_an_intent_carried_out_twice_changes_the_file_once(desk: Desk, place: Place, given: dict[str, str]):
    await desk.use("read", path="src/greeting.py")
    intent = await desk.intend(given.pop("name"), **given)
    assert isinstance(intent, Intent)
    assert intent.path == given["path"]
    first = await desk.carry_out(intent)
    inode = (place.tree / given["path"]).stat().st_ino
    assert await desk.carry_out(intent) == first
    assert (place.tree / given["path"]).stat().st_ino == inode
    (place.tree / given["path"]).write_text("meanwhile\n")
    assert "changed meanwhile; read it again" in (await desk.carry_out(intent)).text


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"one\r\ntwo\r\n", b"ONE\r\ntwo\r\n"),
        (b"\xef\xbb\xbfone\n", b"\xef\xbb\xbfONE\n"),
        ("one 日本語\n".encode("cp932"), "ONE 日本語\n".encode("cp932")),
        ("one 日本語 です\n".encode("euc_jp"), "ONE 日本語 です\n".encode("euc_jp")),
        (b"one \xe9\xff\n", b"ONE \xe9\xff\n"),
        (b"one\r\nmixed\n", b"ONE\r\nmixed\n"),
        (b"one", b"ONE"),
    ],
)
async def test_line_ends_and_encoding_survive_an_edit(desk: Desk, place: Place, data: bytes, expected: bytes):
    (place.tree / "file.txt").write_bytes(data)
    await desk.use("read", path="file.txt")
    assert not (await desk.use("edit", path="file.txt", old_string="one", new_string="ONE")).is_error
    assert (place.tree / "file.txt").read_bytes() == expected


async def test_lines_can_be_replaced_in_a_file_with_dos_line_ends(desk: Desk, place: Place):
    (place.tree / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    await desk.use("read", path="dos.txt")
    await desk.use("edit", path="dos.txt", old_string="a\nb", new_string="x\ny\nz")
    assert (place.tree / "dos.txt").read_bytes() == b"x\r\ny\r\nz\r\nc\r\n"


@pytest.mark.parametrize(
    ("path", "content"),
    [("a.py", "def f(:\n"), ("a.json", "{,}"), ("a.yaml", "a: [1"), ("a.toml", "a = "), ("b.py", "(" * 10_000)],
)
async def test_a_broken_file_is_said_at_once_and_kept(desk: Desk, place: Place, path: str, content: str):
    outcome = await desk.use("write", path=path, content=content)
    assert "does not parse now" in outcome.text
    assert not outcome.is_error
    assert (place.tree / path).read_text() == content


async def test_sound_files_are_not_complained_about(desk: Desk):
    for path, content in (("a.py", "x = '\\d'\n"), ("a.yaml", "a: !Ref x\n---\nb: 1\n"), ("a.toml", "a = 1\n")):
        assert (await desk.use("write", path=path, content=content)).text == f"Wrote {path}."


async def test_new_files_belong_to_who_owns_the_tree(desk: Desk, place: Place):
    await desk.use("write", path="deep/new.txt", content="x")
    owner = place.tree.stat().st_uid
    assert {path.stat().st_uid for path in (place.tree / "deep", place.tree / "deep/new.txt")} == {owner}


async def test_glob_finds_tracked_and_new_files_but_not_ignored_or_deleted_ones(desk: Desk, place: Place):
    for name in ("src/new.py", "top.py", "x.tmp", "src/deep/er.py", "node_modules/x.py"):
        (place.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (place.tree / name).touch()
    (place.tree / "src/greeting.py").unlink()
    assert (await desk.use("glob", pattern="*.py")).text == "top.py\nsrc/new.py\nsrc/deep/er.py"
    assert (await desk.use("glob", pattern="src/*.py")).text == "src/new.py"
    assert (await desk.use("glob", pattern="**/*.py", path="src")).text == "src/new.py\nsrc/deep/er.py"
    assert (await desk.use("glob", pattern="*.tmp")).text == "No file matches."
    assert (await desk.use("glob", pattern="*", path="../..")).is_error


async def test_glob_is_capped(desk: Desk, place: Place):
    for number in range(250):
        (place.tree / f"f{number:03}.txt").touch()
    text = (await desk.use("glob", pattern="*.txt")).text
    assert text.endswith("f199.txt\n(50 more; narrow the pattern)")


async def test_grep_searches_by_line_file_and_case(desk: Desk, place: Place):
    (place.tree / "new.txt").write_text("Grüße 日本語\nhelo again\n")
    (place.tree / "no.tmp").write_text("helo\n")
    assert (
        await desk.use("grep", pattern=r"hel\w\b")
    ).text == "new.txt:2:helo again\nsrc/greeting.py:2:    return 'helo'"
    assert (await desk.use("grep", pattern="HELO", ignore_case=True, mode="files")).text == "new.txt\nsrc/greeting.py"
    assert (await desk.use("grep", pattern="helo", glob="*.py")).text == "src/greeting.py:2:    return 'helo'"
    assert (await desk.use("grep", pattern="helo", path="src", mode="files")).text == "src/greeting.py"
    assert (await desk.use("grep", pattern="日.語$")).text == "new.txt:1:Grüße 日本語"
    assert (await desk.use("grep", pattern="nowhere")).text == "No match."
    context = await desk.use("grep", pattern="again", context=1)
    assert context.text == "new.txt-1-Grüße 日本語\nnew.txt:2:helo again"


async def test_grep_is_capped_and_a_catastrophic_pattern_ends(desk: Desk, place: Place):
    (place.tree / "many.txt").write_text("match\n" * 500 + "a" * 5000 + "!\n")
    text = (await desk.use("grep", pattern="match")).text
    assert text.count("many.txt") == 100
    assert text.endswith("(there is more; narrow the search)")
    assert isinstance(await desk.use("grep", pattern="^(a+)+$"), ToolOutcome)


@pytest.mark.lesson("P9")
async def test_patterns_and_paths_are_never_options_or_commands(desk: Desk, place: Place):
    for hostile in ("--open-files-in-pager=touch ran", "-O touch ran", "$(touch ran)", "`touch ran`", ":(attr:x)"):
        for name, words in (
            ("grep", {"pattern": hostile}),
            ("grep", {"pattern": "x", "path": hostile}),
            ("grep", {"pattern": "x", "glob": hostile}),
            ("glob", {"pattern": hostile}),
            ("read", {"path": hostile}),
        ):
            await desk.use(name, **words)
    assert "ran" not in {path.name for path in place.tree.iterdir()}


@pytest.mark.req("PL-06")
async def test_submitting_is_answered_and_fits_the_story(desk: Desk):
    given: dict[str, JsonValue] = {"status": "blocked", "summary": "Stuck.", "needs": "A key."}
    assert (await desk.use("submit", **given)) == ToolOutcome(text="Submitted.")
    assert Submission.model_validate(given).needs == "A key."


async def test_running_is_not_repeatable_and_everything_else_is(desk: Desk):
    run = await desk.intend("run", command="true")
    glob = await desk.intend("glob", pattern="*")
    assert isinstance(run, Intent)
    assert isinstance(glob, Intent)
    assert (run.repeatable, glob.repeatable) == (False, True)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_KEYS = st.sampled_from(["path", "pattern", "old_string", "new_string", "content", "start", "end", "glob", "status"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["read", "edit", "write", "glob", "submit", "x"]), st.dictionaries(_KEYS, _JSON, max_size=4))
async def test_no_input_raises(desk: Desk, name: str, given: dict[str, JsonValue]):
    assert isinstance(await desk.use(name, **given), ToolOutcome)


async def test_an_unreadable_file_is_explained(desk: Desk, place: Place):
    (place.tree / "binary").write_bytes(b"\0\1\2")
    (place.tree / "closed").write_text("x")
    (place.tree / "closed").chmod(0)
    assert "binary" in (await desk.use("read", path="binary")).text
    assert (await desk.use("read", path="closed")).is_error == (os.geteuid() != 0)


async def test_a_command_that_may_only_look_leaves_no_trace(
    desk: Desk, place: Place, checkouts: Checkouts, bubblewrap: Bubblewrap
):
    (place.tree / "not committed.txt").write_text("seen\n")
    tools = WorkspaceTools(checkouts, bubblewrap, Limits())
    call = ToolCall(id="look", name="run", input={"command": "cat 'not committed.txt'; rm README.md; touch new; pwd"})
    outcome = await tools.carry_out(desk.issue, Intent(call=call, repeatable=False, throwaway=True))
    assert outcome.text.splitlines()[1:] == ["seen", "/workspace"]
    assert sorted(path.name for path in place.tree.iterdir()) == [".gitignore", "README.md", "not committed.txt", "src"]
    assert [path.name for path in place.tree.parent.iterdir()] == [place.tree.name]
    assert {spec.name for spec in READ_ONLY} == {"read", "glob", "grep", "run"}
