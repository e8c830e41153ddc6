"""Writes docs/requirements.md: every requirement with the tests whose markers name it."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECIFICATION = ROOT / "docs" / "specification.md"
PAGE = ROOT / "docs" / "requirements.md"
_ROW = re.compile(r"^\| ([A-Z]{2}-\d\d) \| (.+?) \|$", re.MULTILINE)


def page() -> str:
    """The page as it should be now."""
    proofs = proofs_by_id()
    requirements = dict(_ROW.findall(SPECIFICATION.read_text()))
    lines = [
        "# Requirements and their proofs",
        "",
        "Made by `make docs` from the tests' markers; the texts are in [specification.md](specification.md).",
        "",
        "| id | requirement | proved by |",
        "|---|---|---|",
        *(f"| {key} | {text} | {_links(proofs[key])} |" for key, text in requirements.items()),
        "",
        "## Faults of earlier systems",
        "",
        "| id | shown not to happen by |",
        "|---|---|",
        *(f"| {key} | {_links(tests)} |" for key, tests in sorted(proofs.items()) if key not in requirements),
    ]
    return "\n".join(lines) + "\n"


def proofs_by_id() -> dict[str, list[str]]:
    """Each id with the tests that name it, as `path::name`."""
    proofs: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(file.read_text())
        everywhere = [key for statement in tree.body if isinstance(statement, ast.Assign) for key in _ids(statement)]
        for test in _tests(tree):
            ids = [key for decorator in test.decorator_list for key in _ids(decorator)]
            for key in [*everywhere, *ids]:
                proofs[key].append(f"{file.relative_to(ROOT)}::{test.name}")
    return proofs


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _ids(node: ast.AST) -> Iterator[str]:
    """The arguments of `pytest.mark.req(...)` and `pytest.mark.lesson(...)` below a node."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in {"req", "lesson"}:
            yield from (str(arg.value) for arg in call.args if isinstance(arg, ast.Constant))


def _links(tests: list[str]) -> str:
    return "<br>".join(f"`{test}`" for test in tests) or "not yet"


if __name__ == "__main__":
    PAGE.write_text(page())
