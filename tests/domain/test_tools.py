"""Tool calls in a few words."""

import pytest
from pydantic import JsonValue

from hikitsugi.domain.tools import ToolCall


@pytest.mark.req("TW-07")
@pytest.mark.parametrize(
    ("name", "given", "label"),
    [
        ("read", {"path": "a/b.py", "limit": 5}, "read a/b.py"),
        ("run", {"command": "make test\nmake lint"}, "run make test"),
        ("grep", {"pattern": "def \\w+"}, "grep def \\w+"),
        ("submit", {"status": "done", "summary": "long"}, "submit done"),
        ("grep", {"pattern": "x", "path": "src"}, "grep src"),
        ("look", {}, "look"),
        ("run", {"command": ""}, "run"),
        ("run", {"command": 5}, "run 5"),
        ("run", {"command": "x" * 100}, "run " + "x" * 60),
    ],
)
def test_a_call_is_labelled_by_its_name_and_what_it_is_about(name: str, given: dict[str, JsonValue], label: str):
    assert ToolCall(id="1", name=name, input=given).label == label
