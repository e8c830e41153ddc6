"""A patch cut into files and numbered lines, to be shown."""

import re
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_KINDS = {"+": "added", "-": "removed", " ": "kept", "\\": "note"}


@dataclass(frozen=True)
class Line:
    """One line of a patch with its numbers before and after."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None


@dataclass
class ChangedFile:
    """One file of a patch."""

    path: str
    notes: list[str] = field(default_factory=list[str])
    lines: list[Line] = field(default_factory=list[Line])

    @property
    def additions(self) -> int:
        """How many lines came."""
        return sum(line.kind == "added" for line in self.lines)

    @property
    def deletions(self) -> int:
        """How many lines went."""
        return sum(line.kind == "removed" for line in self.lines)


def changed_files(patch: str) -> list[ChangedFile]:
    """The files of a patch, in its order."""
    whole = re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]
    return [_changed_file(part.split("\n")) for part in whole]


def _changed_file(rows: list[str]) -> ChangedFile:
    file = ChangedFile(rows[0].rpartition(" b/")[2].rstrip('"'))
    old = new = 0
    in_hunk = False
    for row in rows[1:]:
        if hunk := _HUNK.match(row):
            old, new, in_hunk = int(hunk[1]), int(hunk[2]), True
            file.lines.append(Line("hunk", row))
        elif not in_hunk and row.startswith(("new file", "deleted file", "rename ", "Binary files")):
            file.notes.append(row)
        elif in_hunk and row:
            kind = _KINDS.get(row[0], "note")
            has_old, has_new = kind in {"kept", "removed"}, kind in {"kept", "added"}
            file.lines.append(Line(kind, row[1:], old if has_old else None, new if has_new else None))
            old, new = old + has_old, new + has_new
    return file
