"""Stories run without the SDK's sandbox: what it would have refused, they do not do."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from hikitsugi.app.payloads import data_converter
from hikitsugi.app.temporal import WORKFLOWS
from hikitsugi.domain.redaction import Redactor
from tests.workflows.test_history import HISTORIES

ROOT = Path(__file__).parent.parent.parent
PURE = ("workflows", "hikitsugi/domain", "hikitsugi/messages")
FILES = sorted(file for folder in PURE for file in (ROOT / folder).glob("*.py"))
OUTSIDE = {"os", "time", "random", "secrets", "socket", "subprocess", "threading", "multiprocessing", "uuid", "io"}
"""Modules that tell something else each time, or reach out."""
ASKING = {"now", "utcnow", "today", "uuid1", "uuid4", "urandom"}
SANDBOXED = SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules("hikitsugi", "activities"))


def wrongs(code: str) -> Iterator[str]:
    """Whatever in a file may be different when the story is told again."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names):
                yield from (f"import {each.name}" for each in names if each.name.partition(".")[0] in OUTSIDE)
            case ast.ImportFrom(str(module)) if module.partition(".")[0] in OUTSIDE:
                yield f"from {module} import"
            case ast.Call(ast.Attribute(value, name)) if name in ASKING and ast.unparse(value) != "workflow":
                yield f".{name}()"
            case ast.Call(ast.Name("open" | "print" | "input" as name)):
                yield f"{name}()"
            case _:
                pass


@pytest.mark.req("TW-09")
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_clock_no_chance_and_nothing_outside(file: Path):
    assert list(wrongs(file.read_text())) == []


@pytest.mark.parametrize(
    "code",
    ["import os", "from time import sleep", "import os.path", "datetime.now(UTC)", "date.today()", "open('x')"],
)
def test_what_is_not_repeatable_is_found(code: str):
    assert list(wrongs(code))


@pytest.mark.req("TW-09")
@pytest.mark.parametrize("recorded", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
async def test_recorded_histories_replay_in_the_sandbox_of_the_sdk_too(recorded: Path):
    history = WorkflowHistory.from_json("github:octo/repo/issues/1", recorded.read_text())  # noqa: ASYNC240
    replayer = Replayer(workflows=WORKFLOWS, data_converter=data_converter(Redactor(), None), workflow_runner=SANDBOXED)
    await replayer.replay_workflow(history)
