"""The `read` tool."""

from hikitsugi.domain.tools import ToolOutcome
from hikitsugi.workspace.inputs import Read
from hikitsugi.workspace.paths import read, relative
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.refusal import Refused
from hikitsugi.workspace.texts import decoded, fingerprint

_LINES, _CHARACTERS, _LONGEST_LINE = 400, 16_000, 2_000


def show(place: Place, request: Read) -> ToolOutcome:
    """The asked lines with their numbers, and the hash of the whole file."""
    path = relative(request.path)
    data = read(place.tree, path)
    if data is None:
        raise Refused(f"there is no file {path}; find files with glob")
    lines = decoded(data).content.removesuffix("\n").split("\n")
    return ToolOutcome(text=_page(lines, request), path=str(path), sha256=fingerprint(data))


def numbered(lines: list[str], first: int) -> list[str]:
    """Lines as the model sees them."""
    return [f"{number}→{_cut(line)}" for number, line in enumerate(lines, first)]


def _page(lines: list[str], request: Read) -> str:
    if lines == [""]:
        return "(the file is empty)"
    if request.start > len(lines):
        raise Refused(f"the file has {len(lines)} lines")
    wanted = lines[request.start - 1 : request.end or request.start - 1 + _LINES]
    shown: list[str] = []
    room = _CHARACTERS
    for line in numbered(wanted, request.start):
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    last = request.start - 1 + len(shown)
    rest = (
        ""
        if last == len(lines)
        else f"\n(lines {request.start} to {last} of {len(lines)}; go on with start={last + 1})"
    )
    return "\n".join(shown) + rest


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}… ({len(line)} characters)"
