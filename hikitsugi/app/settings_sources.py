"""Where settings come from: the file, the environment over it, and well-known variables for what is left out."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel

from hikitsugi.app.settings_keys import KeyPath, is_composite, keys_at
from hikitsugi.app.settings_problems import Problem, SettingsError, unknown_key

PREFIX = "HIKITSUGI_"
FILE_VARIABLE = "HIKITSUGI_CONFIG"
USUAL_FILE = "hikitsugi.yaml"
_FILLS = {
    "ANTHROPIC_API_KEY": ("llm", "api_key"),
    "TEMPORAL_ADDRESS": ("temporal", "address"),
    "BROKER_PORT": ("broker", "port"),
    "DATABASE_URL": ("memory", "url"),
}
_REDIS_USUAL = {"REDIS_HOST": "localhost", "REDIS_PORT": "6379", "REDIS_DB": "0"}


@dataclass
class Gathered:
    """Everything the sources say, which variable said it, and what is wrong with the sources themselves."""

    keys: dict[str, Any]
    origins: dict[KeyPath, str] = field(default_factory=dict[KeyPath, str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def put(self, path: tuple[str, ...], value: Any, variable: str) -> None:
        """Set a key, unless the file has something on the way to it that is no mapping."""
        section = self.keys
        for part in path[:-1]:
            inner: Any = section.get(part)
            if not isinstance(inner, dict | None):
                return
            section[part] = {} if inner is None else inner
            section = cast("dict[str, Any]", section[part])
        section[path[-1]] = value
        self.origins[path] = variable

    def fill(self, path: tuple[str, ...], value: Any, variable: str) -> None:
        """Set a key that nobody has set."""
        found: Any = self.keys
        for part in path:
            found = cast("dict[str, Any]", found).get(part) if isinstance(found, dict) else found
        if found in (None, ""):
            self.put(path, value, variable)


def gather(config: Path | None, environ: Mapping[str, str], root: type[BaseModel]) -> Gathered:
    """Read the file, lay the environment over it, and fill the rest from the well-known variables."""
    given = {name: value for name, value in environ.items() if value}
    gathered = Gathered(_filled_in(_read(_file(config, given)), given) or {})
    _lay_over(gathered, given, root)
    for variable, path in _FILLS.items():
        if variable in given:
            gathered.fill(path, given[variable], variable)
    _fill_redis(gathered, given)
    _fill_forges(gathered, given)
    return gathered


def _file(config: Path | None, environ: Mapping[str, str]) -> Path | None:
    if config:
        return config
    if FILE_VARIABLE in environ:
        return Path(environ[FILE_VARIABLE])
    return Path(USUAL_FILE) if Path(USUAL_FILE).exists() else None


def _read(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        content: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{file} — cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise SettingsError([f"{file} — is not UTF-8 text (byte {error.start})"]) from None
    except yaml.YAMLError as error:
        raise SettingsError([_not_yaml(file, error)]) from None
    if content is not None and not isinstance(content, dict):
        raise SettingsError([f"{file} — must be a mapping of keys to values, for example language: en"])
    return cast("dict[str, Any]", content or {})


def _not_yaml(file: Path, error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"{file} — is not valid YAML: it holds a character that YAML does not allow"
    # Longer quotations repeat the file's own words, which may be a secret.
    problem = re.sub(r"'[^'<\\][^']+'", "'…'", error.problem or "it cannot be understood")
    where = f"line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}"
    return f"{file}, {where} — is not valid YAML: {problem}"


def _filled_in(given: Any, environ: Mapping[str, str]) -> Any:
    """Replace each `${NAME}`; a value that is nothing but a missing variable becomes null."""
    if isinstance(given, dict):
        return {key: _filled_in(value, environ) for key, value in cast("dict[Any, Any]", given).items()}
    if isinstance(given, list):
        filled = [(entry, _filled_in(entry, environ)) for entry in cast("list[Any]", given)]
        return [after for before, after in filled if after is not None or before is None]
    if isinstance(given, str) and "${" in given:
        return re.sub(r"\$\{(\w+)\}", lambda match: environ.get(match[1], ""), given) or None
    return given


def _lay_over(gathered: Gathered, environ: Mapping[str, str], root: type[BaseModel]) -> None:
    """Put `HIKITSUGI_LLM__MODEL` and its like over what the file says, whole sections before single keys."""
    names = [name for name in environ if name.startswith(PREFIX) and name != FILE_VARIABLE]
    for name in sorted(names, key=lambda name: (name.count("__"), name)):
        path = tuple(name.removeprefix(PREFIX).lower().split("__"))
        strange = next((at for at, key in enumerate(path) if key not in keys_at(root, path[:at])), None)
        if strange is not None:
            gathered.problems.append(Problem(name, None, _unknown_variable(root, path[:strange], path[strange])))
        elif is_composite(root, path):
            _lay_json(gathered, name, path, environ[name], is_section=bool(keys_at(root, path)))
        else:
            gathered.put(path, None if environ[name] == "null" else environ[name], name)


def _unknown_variable(root: type[BaseModel], section: tuple[str, ...], key: str) -> str:
    if keys := keys_at(root, section):
        return unknown_key(key, keys)
    return f"there is no such key; set {PREFIX}{'__'.join(section).upper()} as a whole"


def _lay_json(gathered: Gathered, name: str, path: tuple[str, ...], text: str, *, is_section: bool) -> None:
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError as error:
        gathered.problems.append(Problem(name, None, f"must be JSON: {error.msg} at column {error.colno}"))
        return
    if not is_section or not isinstance(value, dict):
        gathered.put(path, value, name)
        return
    for key, inner in cast("dict[str, Any]", value).items():
        gathered.put((*path, key), inner, name)


def _fill_redis(gathered: Gathered, environ: Mapping[str, str]) -> None:
    given = [name for name in _REDIS_USUAL if name in environ]
    for name in ("REDIS_PORT", "REDIS_DB"):
        if not environ.get(name, "0").isdecimal():
            gathered.problems.append(Problem(name, json.dumps(environ[name]), "must be a whole number"))
            return
    host, port, number = (environ.get(name, usual) for name, usual in _REDIS_USUAL.items())
    host = f"[{host}]" if ":" in host else host
    if given:
        gathered.fill(("redis", "url"), f"redis://{host}:{port}/{number}", " and ".join(given))


def _fill_forges(gathered: Gathered, environ: Mapping[str, str]) -> None:
    """Give forges without a token or repositories those of the environment; make one if only they are there."""
    repository = environ.get("GITHUB_REPOSITORY")
    if repository:
        gathered.fill(("forges",), [{"kind": "github"}], "GITHUB_REPOSITORY")
    forges: Any = gathered.keys.get("forges")
    for forge in cast("list[Any]", forges) if isinstance(forges, list) else []:
        if isinstance(forge, dict):
            _fill_forge(cast("dict[str, Any]", forge), environ)


def _fill_forge(forge: dict[str, Any], environ: Mapping[str, str]) -> None:
    on_github = (forge.get("kind") or "github") == "github"
    token = environ.get("GITHUB_TOKEN" if on_github else "GITLAB_TOKEN")
    if token and not forge.get("token"):
        forge["token"] = token
    repository = environ.get("GITHUB_REPOSITORY")
    if repository and on_github and forge.get("repositories") is None:
        forge["repositories"] = [repository]
