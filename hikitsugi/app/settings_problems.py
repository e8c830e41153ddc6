"""What is wrong with a configuration, one line per problem, without a secret in any of them."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hikitsugi.app.settings_keys import KeyPath, is_secret, keys_at, spelled, texts_in
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import HIDDEN, Redactor

_LONGEST_VALUE = 80
_SECRET_VARIABLE = re.compile(r"^(?!HIKITSUGI_).*(TOKEN|KEY|SECRET|PASS|CREDENTIAL)")
_COMPOSITE_WANTED = ("model_type", "dict_type", "tuple_type")
_WANTED = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "invalid_key": "keys must be texts",
    "missing": "must be given",
    "model_type": "must be a mapping",
    "path_type": "must be the path of a folder",
    "string_too_short": "must not be empty",
    "string_type": "must be a text; put it in quotes",
    "too_short": "must not be empty",
    "tuple_type": "must be a list",
}


class SettingsError(WillNeverWork):
    """A configuration that cannot be used; its text is one line per problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class Problem(NamedTuple):
    """One thing to put right: where, what is there, and what is allowed."""

    key: str
    value: str | None
    allowed: str

    def __str__(self) -> str:
        return f"{self.key}: {self.value} — {self.allowed}" if self.value else f"{self.key} — {self.allowed}"


def problems_of(error: ValidationError, root: type[BaseModel], origins: Mapping[KeyPath, str]) -> list[Problem]:
    """Each error of a validation as a problem; `origins` tells which keys came from which variable."""
    return [_problem(details, root, origins) for details in error.errors(include_url=False)]


def without_secrets(problems: Iterable[Problem], secrets: Iterable[str]) -> list[str]:
    """The lines to show, with every known secret blotted out wherever it strayed."""
    redact = Redactor(secrets)
    return [redact(str(problem)) for problem in problems]


def secrets_among(given: Mapping[str, Any], root: type[BaseModel], environ: Mapping[str, str]) -> list[str]:
    """Every text that is, or by its name may be, a secret."""
    configured = [text for path, text in texts_in(given) if is_secret(root, path)]
    return configured + [value for name, value in environ.items() if _SECRET_VARIABLE.search(name)]


def _problem(details: ErrorDetails, root: type[BaseModel], origins: Mapping[KeyPath, str]) -> Problem:
    path = details["loc"]
    if path and path[-1] == "[key]":
        path = path[:-2]
    key = spelled(path) + _origin(path, origins)
    if details["type"] == "extra_forbidden":
        return Problem(key, None, unknown_key(str(path[-1]), keys_at(root, path[:-1])))
    return Problem(key, HIDDEN if is_secret(root, path) else _shown(details), _allowed(details))


def unknown_key(key: str, allowed: list[str]) -> str:
    """What to say of a key that does not exist."""
    nearest = difflib.get_close_matches(key.lower(), allowed, n=1)
    suggestion = f"did you mean {nearest[0]}? " if nearest else ""
    return f"there is no such key; {suggestion}allowed here: {', '.join(allowed)}"


def _origin(path: KeyPath, origins: Mapping[KeyPath, str]) -> str:
    prefixes = (path[:length] for length in range(len(path), 0, -1))
    return next((f" (from {origins[prefix]})" for prefix in prefixes if prefix in origins), "")


def _allowed(details: ErrorDetails) -> str:
    if details["type"] in _WANTED:
        return _WANTED[details["type"]]
    return re.sub(r"^Input should be", "must be", details["msg"])


def _shown(details: ErrorDetails) -> str | None:
    """The value as it was written; of what is no single value, or where none belongs, only its kind."""
    value = details["input"]
    if details["type"] == "missing":
        return None
    if isinstance(value, dict):
        return "(a mapping)"
    if isinstance(value, list | tuple):
        return "(a list)"
    if isinstance(value, str) and details["type"] in _COMPOSITE_WANTED:
        return "(a text)"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
