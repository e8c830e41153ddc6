"""Run as a program: finds added lines that promise work instead of doing it; files in and findings out as JSON."""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from typing import TypedDict

_MARK = re.compile(r"\b(?:TODO|FIXME|TBD)\b|\bXXX:")
_PROMISE = re.compile(
    r"implementation (?:goes )?here|implement (?:me|this|later)|(?:your|add) (?:code|logic) here|to be implemented"
    r"|not (?:yet )?implemented|placeholder implementation|rest of (?:the )?(?:code|file|implementation)"
    r"|existing code (?:here|unchanged)|\.\.\.\s*existing code|未実装|(?:後で|あとで|ここに)実装|仮実装",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|[\s;{}(),])(?://|/\*|\*(?=\s)|#|--\s|<!--|;;|%\s)(.*)")
_REFUSES = re.compile(
    r"\b(?:todo|unimplemented)!\s*\(|\b(?-i:TODO\()|=\s*\?\?\?\s*$|\bthrow\s+(?:new\s+)?NotImplemented\w*|\bNotImplementedException\b"
    r"|\b(?:raise\s+NotImplementedError|fatalError\(\s*\"not implemented)"
    r"|\b(?:panic|Error|Exception|UnsupportedOperationException)\(\s*[\"'`](?:not (?:yet )?implemented|todo)\b",
    re.IGNORECASE,
)
_WITHOUT_CODE = (".md", ".rst", ".txt", ".adoc", ".json", ".lock", ".csv", ".tsv", ".svg", ".po", ".pot", ".snap")
_INTERFACES = {"ABC", "ABCMeta", "Protocol"}
_DECLARED_ONLY = {"abstractmethod", "overload", "abstractproperty"}


class File(TypedDict):
    """A file after the change, and its added lines by number."""

    path: str
    content: str
    added: dict[str, str]


def find(file: File) -> set[int]:
    """The numbers of the added lines that are placeholders."""
    added = {int(number): line for number, line in file["added"].items()}
    if file["path"].lower().endswith(_WITHOUT_CODE):
        return set()
    if file["path"].endswith((".py", ".pyi")):
        try:
            return set(_in_python(file["content"], is_stub=file["path"].endswith(".pyi"))) & set(added)
        except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
            pass
    return {number for number, line in added.items() if _promises(line)}


def _promises(line: str) -> bool:
    comment = _COMMENT.search(line)
    return bool(_REFUSES.search(line)) or bool(comment and _is_promise(comment[1]))


def _is_promise(comment: str) -> bool:
    return bool(_MARK.search(comment) or _PROMISE.search(comment))


def _in_python(content: str, *, is_stub: bool) -> Iterator[int]:
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT and _is_promise(token.string):
            yield token.start[0]
    if not is_stub:
        yield from _unwritten(ast.parse(content), is_interface=False)


def _unwritten(node: ast.AST, *, is_interface: bool) -> Iterator[int]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            names = {_last_name(base) for base in (*child.bases, *(keyword.value for keyword in child.keywords))}
            yield from _unwritten(child, is_interface=bool(names & _INTERFACES))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not is_interface and not {_last_name(each) for each in child.decorator_list} & _DECLARED_ONLY:
                yield from _unwritten_body(child)
            yield from _unwritten(child, is_interface=False)
        else:
            yield from _unwritten(child, is_interface=is_interface)


def _unwritten_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[int]:
    body = [each for each in function.body if not _is_text(each)] or function.body
    only = body[0] if len(body) == 1 else None
    if isinstance(only, ast.Pass) or (
        isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant) and only.value.value is ...
    ):
        yield only.lineno
    for statement in _below(function):
        if isinstance(statement, ast.Raise) and statement.exc and _last_name(statement.exc) == "NotImplementedError":
            yield statement.lineno


def _below(function: ast.AST) -> Iterator[ast.AST]:
    """Everything in a function but what further functions and classes in it hold."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _below(child)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call | ast.Subscript):
        return _last_name(node.func if isinstance(node, ast.Call) else node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    files: list[File] = json.load(sys.stdin)
    json.dump([[file["path"], sorted(find(file))] for file in files], sys.stdout)
