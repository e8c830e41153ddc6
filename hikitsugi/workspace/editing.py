"""The `edit` and `write` tools: first what would change, then the change, once."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.workspace.inputs import Edit, Write
from hikitsugi.workspace.paths import read, relative, replace
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.reading import numbered
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.syntax import syntax_error
from hikitsugi.workspace.texts import Text, decoded, fingerprint

_AROUND = 3
_LINES_COMPARED = 5000


@dataclass(frozen=True)
class Change:
    """A file's new text, and where in it the model should look."""

    text: Text
    at: int | None = None


def intend(place: Place, call: ToolCall, request: Edit | Write, seen: Mapping[str, str]) -> Intent:
    """What a change would make of the file as it is now."""
    path = relative(request.path)
    data = read(place.tree, path)
    if data is not None:
        _check_seen(path, fingerprint(data), seen)
    after = fingerprint(_changed(path, data, request).text.encoded())
    before = None if data is None else fingerprint(data)
    return Intent(call=call, path=str(path), before=before, after=after)


async def carry_out(place: Place, intent: Intent, request: Edit | Write) -> ToolOutcome:
    """Make the change unless it is there already; the answer is the same."""
    path = relative(request.path)
    data = read(place.tree, path)
    now = None if data is None else fingerprint(data)
    if data is not None and now == intent.after:
        change = _found_again(data, request)
    elif now == intent.before:
        change = _changed(path, data, request)
        data = change.text.encoded()
        replace(place.tree, path, data, beside=place.git_dir)
    else:
        raise Refused(f"{path} changed meanwhile; read it again")
    complaint = await syntax_error(path.suffix, data)
    return ToolOutcome(text=_answer(path, request, change) + complaint, path=str(path), sha256=intent.after)


def _check_seen(path: PurePosixPath, now: str, seen: Mapping[str, str]) -> None:
    if str(path) not in seen:
        raise Refused(f"{path} exists and you have not read it yet; read it first")
    if seen[str(path)] != now:
        raise Refused(f"{path} changed since you read it; read it again")


def _changed(path: PurePosixPath, data: bytes | None, request: Edit | Write) -> Change:
    if isinstance(request, Write):
        return Change((decoded(data) if data else Text("")).with_content(request.content))
    if data is None:
        raise Refused(f"there is no file {path}; find files with glob, or create it with write")
    return _edited(decoded(data), request)


def _edited(text: Text, request: Edit) -> Change:
    old, new = text.plain(request.old_string), text.plain(request.new_string)
    if old == new:
        raise Refused("old_string and new_string are the same; there is nothing to change")
    if not old:
        raise Refused("old_string is empty; name the text to replace, or use write")
    if old not in text.content:
        raise Refused(f"old_string does not occur in the file{_nearest(text.content, old)}")
    if text.content.count(old) > 1 and not request.replace_all:
        raise Refused(f"old_string occurs on lines {_lines_with(text.content, old)}; add context or set replace_all")
    return Change(text.with_content(text.content.replace(old, new)), text.content.index(old))


def _found_again(data: bytes, request: Edit | Write) -> Change:
    text = decoded(data)
    new = "" if isinstance(request, Write) else text.plain(request.new_string)
    is_unmistakable = bool(new) and text.content.count(new) == 1
    return Change(text, text.content.index(new) if is_unmistakable else None)


def _answer(path: PurePosixPath, request: Edit | Write, change: Change) -> str:
    content = change.text.content
    if isinstance(request, Write):
        return f"Wrote {path}."
    if change.at is None:
        return f"Edited {path}."
    first = content.count("\n", 0, change.at)
    last = first + change.text.plain(request.new_string).count("\n")
    start = max(0, first - _AROUND)
    return "\n".join([f"Edited {path}:", *numbered(content.split("\n")[start : last + _AROUND + 1], start + 1)])


def _lines_with(content: str, words: str) -> str:
    places: list[str] = []
    at = content.find(words)
    while at >= 0 and len(places) < 10:  # noqa: PLR2004 - enough to choose from
        places.append(str(content.count("\n", 0, at) + 1))
        at = content.find(words, at + len(words))
    return ", ".join(places)


def _nearest(content: str, words: str) -> str:
    wanted = next((line for line in words.split("\n") if line.strip()), "")
    lines = content.split("\n")[:_LINES_COMPARED]
    match = difflib.get_close_matches(wanted, lines, n=1)
    return f"; the nearest line is {numbered(match, lines.index(match[0]) + 1)[0]}" if match else ""
