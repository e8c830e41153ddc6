"""Finding one's way through the keys of the configuration."""

from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, SecretStr

KeyPath = tuple[int | str, ...]


def spelled(path: Sequence[int | str]) -> str:
    """A path as people write it: `forges[0].token`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def type_at(root: type[BaseModel], path: Sequence[int | str]) -> Any:
    """The type of the setting a path leads to, or None where there is none."""
    kind: Any = root
    for part in path:
        kind = _plain(_one_step(kind, part))
    return kind


def keys_at(root: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """The keys allowed directly under a path."""
    kind = type_at(root, path)
    return list(kind.model_fields) if _is_section(kind) else []


def is_composite(root: type[BaseModel], path: Sequence[int | str]) -> bool:
    """Whether a path leads to a list or a mapping."""
    kind = type_at(root, path)
    return _is_section(kind) or get_origin(kind) in (tuple, dict)


def is_secret(root: type[BaseModel], path: Sequence[int | str]) -> bool:
    """Whether a path leads to a secret, or to something wrongly put in a secret's place."""
    return any(type_at(root, path[: length + 1]) is SecretStr for length in range(len(path)))


def texts_in(given: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Every text in a configuration, with the path to it."""
    if isinstance(given, dict):
        for key, value in cast("dict[Any, Any]", given).items():
            yield from texts_in(value, (*path, str(key)))
    elif isinstance(given, list):
        for index, value in enumerate(cast("list[Any]", given)):
            yield from texts_in(value, (*path, index))
    elif given is not None:
        yield path, str(given)


def _one_step(kind: Any, part: int | str) -> Any:
    if _is_section(kind):
        field = kind.model_fields.get(part)
        return field.annotation if field else None
    inner = {tuple: 0, dict: 1}.get(cast("type", get_origin(kind)))
    return None if inner is None else get_args(kind)[inner]


def _plain(kind: Any) -> Any:
    """A type without what validates it and without null."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return _plain(next(option for option in get_args(kind) if option is not NoneType))
    return kind


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
