"""Run as a program: parses standard input as the kind of file its argument names, and prints what is wrong."""

import ast
import json
import sys
import tomllib

import yaml


def parse(suffix: str, data: bytes) -> None:
    """Parse without building or running anything."""
    if suffix == ".py":
        ast.parse(data)
    elif suffix == ".json":
        json.loads(data)
    elif suffix == ".toml":
        tomllib.loads(data.decode())
    else:
        list(yaml.parse(data, yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


if __name__ == "__main__":
    try:
        parse(sys.argv[1], sys.stdin.buffer.read())
    except (ValueError, SyntaxError, yaml.YAMLError) as error:
        sys.stdout.write(f"{type(error).__name__}: {error}")
