"""Tool calls of the model: what is asked, what is intended, what came of it."""

from enum import StrEnum

from pydantic import JsonValue

from hikitsugi.domain.value import Value

CHANGING_FILES = frozenset({"edit", "write"})
"""The tools that want to know what the model has seen of a file."""


class ToolSpec(Value):
    """A tool as the model sees it."""

    name: str
    description: str
    input_schema: dict[str, JsonValue]


class ToolCall(Value):
    """One call the model made."""

    id: str
    name: str
    input: dict[str, JsonValue]

    @property
    def label(self) -> str:
        """The call in a few words: its name, and the file, pattern or command it is about."""
        about = next((self.input[key] for key in ("path", "command", "pattern", "status") if key in self.input), "")
        first_line = str(about).partition("\n")[0]
        return f"{self.name} {first_line[:60]}".strip()


class Intent(Value):
    """What a call is about to do, recorded before it is done.

    A file change names the content's hash before and after, so that carrying the same intent out
    twice changes the file once. A call that is not repeatable is never carried out a second time.
    """

    call: ToolCall
    repeatable: bool = True
    throwaway: bool = False
    """Whether a command is to leave no trace in the checkout."""
    path: str | None = None
    before: str | None = None
    after: str | None = None


class ToolOutcome(Value):
    """What the model is told, and which file content it has now seen."""

    text: str
    is_error: bool = False
    is_cut_off: bool = False
    """Whether the end of our own process cut it off; then nobody knows what it did, and it says nothing of the work."""
    path: str | None = None
    sha256: str | None = None


class SubmissionStatus(StrEnum):
    """How the model says the work ended."""

    DONE = "done"
    BLOCKED = "blocked"


class Submission(Value):
    """The model's closing word on the work: the input of the `submit` tool."""

    status: SubmissionStatus
    summary: str
    evidence: str = ""
    needs: str = ""
