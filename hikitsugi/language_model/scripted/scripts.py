"""Scripts as files: a Python file with a function `reply`, or a YAML list of steps."""

import runpy
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.language_model.scripted.model import Script
from hikitsugi.language_model.scripted.steps import Step, Steps


def load(path: Path) -> Script:
    """The script in a file."""
    return _python(path) if path.suffix == ".py" else _yaml(path)


def _python(path: Path) -> Script:
    reply: Script | None = runpy.run_path(str(path)).get("reply")
    if reply is None:
        raise WillNeverWork(f"The script {path.name} has no function reply(request); add one.")
    return reply


def _yaml(path: Path) -> Script:
    try:
        steps = TypeAdapter(list[Step]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise WillNeverWork(f"The script {path.name} is not YAML: {error}.") from None
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"])) or "file"
        raise WillNeverWork(f"The script {path.name} is wrong at {place}: {problem['msg']}.") from None
    return Steps(steps)
