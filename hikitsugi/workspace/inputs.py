"""What each tool takes, and how it is shown to the model."""

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from hikitsugi.domain.tools import ToolSpec
from hikitsugi.workspace.refusal import Refused

_PathText = Annotated[str, Field(max_length=4096, description="Relative to the repository's root")]
_Content = Annotated[str, Field(max_length=1_000_000)]
_Pattern = Annotated[str, Field(min_length=1, max_length=1000)]


class Input(BaseModel):
    """A tool's input; its docstring is what the model reads about the tool."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def has_no_nul(cls, value: object) -> object:
        """No program and no path can take a NUL character."""
        if isinstance(value, str) and "\0" in value:
            message = "must not hold a NUL character"
            raise ValueError(message)
        return value


class Read(Input):
    """Read a text file; lines are numbered `N→`. Gives 400 lines from `start` unless `end` says otherwise."""

    path: _PathText
    start: int = Field(1, ge=1)
    end: int | None = Field(None, ge=1)


class Edit(Input):
    """Replace text in a file you have read. `old_string` must occur exactly once, unless `replace_all`."""

    path: _PathText
    old_string: _Content
    new_string: _Content
    replace_all: bool = False


class Write(Input):
    """Create a file, or overwrite one you have read. Prefer `edit` for existing files."""

    path: _PathText
    content: _Content


class Glob(Input):
    """Find files by name, e.g. `src/**/*.py`; without `/`, in every folder. Ignored files are left out."""

    pattern: _Pattern
    path: _PathText = "."


class Grep(Input):
    """Search file contents by Perl-style regular expression, line by line. Ignored files are left out."""

    pattern: _Pattern
    path: _PathText = "."
    glob: str | None = Field(None, max_length=1000, description="Only files whose name matches, e.g. `*.py`")
    mode: Literal["files", "content"] = "content"
    context: int = Field(0, ge=0, le=10, description="Lines around each match")
    ignore_case: bool = False


class Run(Input):
    """Run a shell command in the repository's root (/workspace): tests, builds, scripts.

    There is no network, no credentials and no git: commits are made for you. Standard input is empty, and
    nothing keeps running afterwards.
    """

    command: str = Field(min_length=1, max_length=100_000)
    timeout_seconds: int = Field(120, ge=1, description="At most 600")


class Submit(Input):
    """End the work: `done` with a summary for the issue and the evidence (what you ran, what it showed), or `blocked`.

    When blocked, `needs` says what you need from the people on the issue. `closes` says that the last comment did
    nothing but end the conversation.
    """

    status: Literal["done", "blocked"]
    summary: str = Field(min_length=1)
    evidence: str = ""
    needs: str = ""
    closes: bool = False


INPUTS: dict[str, type[Input]] = {kind.__name__.lower(): kind for kind in (Read, Edit, Write, Glob, Grep, Run, Submit)}


def parsed(name: str, given: dict[str, JsonValue]) -> Input:
    """The input of a call, checked."""
    kind = INPUTS.get(name)
    if kind is None:
        raise Refused(f"there is no tool {name!r}; there are {', '.join(INPUTS)}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        raise Refused(f"the input of {name} is wrong: {'; '.join(problems)}") from None


def _spec(name: str, kind: type[Input]) -> ToolSpec:
    schema = cast("dict[str, JsonValue]", _without_titles(kind.model_json_schema()))
    description = " ".join(str(schema.pop("description")).split())
    return ToolSpec(name=name, description=description, input_schema=schema)


def _without_titles(schema: JsonValue) -> JsonValue:
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_titles(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))
    }


TOOL_SPECS: tuple[ToolSpec, ...] = tuple(_spec(name, kind) for name, kind in INPUTS.items())
READ_ONLY: tuple[ToolSpec, ...] = tuple(spec for spec in TOOL_SPECS if spec.name in {"read", "glob", "grep", "run"})
"""For phases that only look; their commands run in a copy that is thrown away."""
