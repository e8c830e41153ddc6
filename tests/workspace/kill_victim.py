"""Run as a program: prepares or publishes a checkout, to be killed in the middle of it."""

import asyncio
import sys
from pathlib import Path

from hikitsugi.domain.address import IssueAddress
from hikitsugi.workspace.checkout import Checkouts
from tests.workspace.conftest import BRANCH, COMMIT, remote_of


async def main(step: str, root: str, url: str) -> None:
    """Do one step."""
    checkouts, issue, remote = Checkouts(Path(root)), IssueAddress.parse("github:owner/repo/issues/1"), remote_of(url)
    if step == "prepare":
        await checkouts.prepare(issue, remote, BRANCH)
    else:
        await checkouts.publish(issue, remote, BRANCH, COMMIT)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
