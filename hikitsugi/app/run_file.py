"""What a running worker tells the other commands about itself, in a file of its data folder."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pydantic import Field, ValidationError

from hikitsugi.app.data_folder import said_clearly
from hikitsugi.domain.value import Value

_DEMO_FACTS = ("forge", "llm", "issue")


class RunFacts(Value):
    """The process and the addresses of a running worker; the last three are the demo's."""

    pid: int = Field(gt=0)
    temporal: str | None = None
    ui: str | None = None
    redis: str | None = None
    broker: str | None = None
    metrics: str | None = None
    forge: str | None = None
    llm: str | None = None
    issue: str | None = None


def write_run_file(data_folder: Path, facts: RunFacts) -> None:
    """Publish the facts; a reader sees the old file or the new one, never half of it."""
    missing = {name for name in _DEMO_FACTS if getattr(facts, name) is None}
    with said_clearly(data_folder):
        data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Temporary files are born with mode 0600.
        with tempfile.NamedTemporaryFile("w", dir=data_folder, prefix="run-", suffix=".new", delete=False) as new:
            try:
                new.write(facts.model_dump_json(indent=2, exclude=missing) + "\n")
                new.flush()
                Path(new.name).replace(_path(data_folder))
            except BaseException:
                Path(new.name).unlink(missing_ok=True)
                raise


def read_run_file(data_folder: Path) -> RunFacts | None:
    """The facts of the worker that runs now, if any."""
    try:
        facts = RunFacts.model_validate_json(_path(data_folder).read_bytes())
    except (OSError, ValidationError):
        return None
    return facts if _is_alive(facts.pid) else None


def remove_run_file(data_folder: Path) -> None:
    """Take our own facts away; those of another worker stay."""
    facts = read_run_file(data_folder)
    if facts is None or facts.pid == os.getpid():
        with suppress(OSError):
            _path(data_folder).unlink()


def _path(data_folder: Path) -> Path:
    return data_folder / "run.json"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
