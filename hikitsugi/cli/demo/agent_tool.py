"""The demo's stand-in for a coding tool: reads the prompt, mends the sample on its branch, and opens the request."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from hikitsugi.cli.demo import sample


def main() -> int:
    """Do what the prompt asks for; the exit status tells whether it worked."""
    sys.stdin.read()
    branch, number = os.environ["TASK_BRANCH_NAME"], os.environ["TASK_ISSUE_ID"]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "work"
        _git("clone", "-q", "-b", branch, os.environ["DEMO_REMOTE"], str(clone))
        source = clone / "receipt.py"
        source.write_text(source.read_text().replace(sample.BROKEN, sample.MENDED))
        tests = subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=clone, check=False)
        if tests.returncode:
            return tests.returncode
        who = ("-c", "user.name=example-agent", "-c", "user.email=example-agent@example.org")
        _git("-C", str(clone), *who, "commit", "-qam", "Round the tax once per receipt")
        _git("-C", str(clone), "push", "-q", "origin", branch)
    _open_request(branch, number)
    return 0


def _git(*arguments: str) -> None:
    """Run git with the token in its environment, where no list of processes shows it."""
    secret = base64.b64encode(f"agent:{os.environ['DEMO_TOKEN']}".encode()).decode()
    access = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {secret}",
        "GIT_TERMINAL_PROMPT": "0",
    }
    subprocess.run(["git", *arguments], check=True, env={**os.environ, **access})  # noqa: S603, S607 - the demo's own commands


def _open_request(branch: str, number: str) -> None:
    body = f"Closes #{number}"
    if os.environ["TASK_FORGE"] == "gitlab":
        wanted = {"title": sample.TITLE, "source_branch": branch, "target_branch": "main", "description": body}
    else:
        wanted = {"title": sample.TITLE, "head": branch, "base": "main", "body": body}
    headers = {"Authorization": f"Bearer {os.environ['DEMO_TOKEN']}", "Content-Type": "application/json"}
    address = os.environ["DEMO_REQUESTS"]
    request = urllib.request.Request(address, json.dumps(wanted).encode(), headers)  # noqa: S310 - the demo's own forge
    with urllib.request.urlopen(request):  # noqa: S310 - as above
        pass


if __name__ == "__main__":
    sys.exit(main())
