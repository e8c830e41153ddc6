"""The demo's worker process: the product, which also tells others about the demo."""

import asyncio
import json
import os
import sys
from pathlib import Path

from hikitsugi.app.running import Role
from hikitsugi.app.settings import load_settings
from hikitsugi.cli.ending import ended
from hikitsugi.cli.worker import run


def main() -> None:
    """Run all roles with the demo's configuration and facts."""
    config, facts = sys.argv[1:]
    asyncio.run(run(load_settings(Path(config), os.environ), set(Role), json.loads(facts)))


if __name__ == "__main__":
    ended(main)
