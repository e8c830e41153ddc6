"""The sandbox of the stories, which imports them anew for every run: what is pure passes through, the rest is kept."""

import dataclasses
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, ModuleType

from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

_PASSED_THROUGH = ("hikitsugi", "activities")
_STORIES = "workflows"


def sandbox_that_knows_us(runner: WorkflowRunner | None) -> WorkflowRunner:
    """What stories use of ours is pure; importing it anew for each run would cost ten times the memory."""
    if not any(isinstance(finder, _Shelf) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Shelf())
    if not isinstance(runner, SandboxedWorkflowRunner):
        runner = SandboxedWorkflowRunner()
    return dataclasses.replace(runner, restrictions=runner.restrictions.with_passthrough_modules(*_PASSED_THROUGH))


class _Kept(SourceFileLoader):
    """Compiles a file once; Python would do so for every run where it may not write its bytecode down."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self._code: CodeType | None = None

    def get_code(self, fullname: str) -> CodeType | None:
        """The code as it was when this process first needed it."""
        self._code = self._code or super().get_code(fullname)
        return self._code


class _Shelf(MetaPathFinder):
    """Finds the files of the stories without looking for them each time."""

    def __init__(self) -> None:
        self._loaders: dict[str, _Kept] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of the stories; others are not our business."""
        if fullname.partition(".")[0] != _STORIES:
            return None
        if fullname not in self._loaders:
            found = PathFinder.find_spec(fullname, path, target)
            if found is None or found.origin is None:
                return found
            self._loaders[fullname] = _Kept(fullname, found.origin)
        return spec_from_file_location(fullname, loader=self._loaders[fullname])
