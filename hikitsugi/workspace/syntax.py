"""Says at once when an edit left a file that does not parse."""

import sys
from datetime import timedelta
from pathlib import Path

from hikitsugi.workspace.processes import capture

_SECONDS = timedelta(seconds=10)
_PARSED = {".py", ".json", ".yaml", ".yml", ".toml"}
_PARSER = Path(__file__).with_name("syntax_parser.py")


async def syntax_error(suffix: str, data: bytes) -> str:
    """What is wrong with a file's syntax, or nothing; parsed in a process of its own, which may break."""
    if suffix not in _PARSED:
        return ""
    parser = [sys.executable, "-I", "-W", "ignore", str(_PARSER), suffix]
    try:
        said = (await capture(parser, env={}, stdin=data, within=_SECONDS, most=2000)).out.decode(errors="replace")
    except TimeoutError:
        return ""
    return f"\nThe file does not parse now: {said.strip()}" if said else ""
