"""What git's complaints mean for us: will it never work, or may it work later."""

import errno
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.redaction import Redactor

_LONGEST = 300
_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded", re.IGNORECASE)
_NEVER = (
    (
        re.compile(r"Authentication failed|could not read (Username|Password)|returned error: 40[13]|Access denied"),
        "the forge refuses our token for {url}; check its rights and its expiry",
    ),
    (
        re.compile(r"repository '.*' not found|returned error: 404|does not appear to be a git repository"),
        "there is no repository at {url}, or our token may not see it",
    ),
    (
        re.compile(r"fsck error|fsckObjects|unable to update url base from redirection|returned error: 30\d"),
        "git refuses the repository at {url}: {reason}",
    ),
    (
        re.compile(r"\[remote rejected\](?!.*(?:lock|failed to update))"),
        "the forge refuses the push to {url}: {reason}",
    ),
    (re.compile(r"invalid path|transport '.*' not allowed"), "git refuses: {reason}"),
)


def explained(command: str, complaint: str, git_dir: Path, remote: GitRemote | None) -> HikitsugiError:
    """The error to raise for a git command that failed."""
    hide = Redactor([remote.token.get_secret_value()] if remote else [])
    reason = hide(_gist(complaint))
    if _FULL_DISK.search(complaint):
        return disk_full(git_dir)
    for pattern, sentence in _NEVER:
        if pattern.search(complaint):
            return WillNeverWork(sentence.format(url=remote.url if remote else "the remote", reason=reason))
    return TryAgainLater(f"git {command} failed: {reason}")


def disk_full(where: Path) -> TryAgainLater:
    """The error to raise when the workspace's disk has no room."""
    return TryAgainLater(
        f"the workspace disk is full at {where}; nothing is lost: free space there and the work goes on"
    )


@contextmanager
def saying_full_disk(where: Path) -> Generator[None]:
    """Turn the operating system's word for a full disk into ours."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise disk_full(where) from None
        raise


def _gist(complaint: str) -> str:
    lines = [line.strip() for line in complaint.splitlines() if line.strip() and not line.startswith("hint:")]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "!", "remote: error", "remote: fatal"))]
    return "; ".join(telling or lines[-1:])[:_LONGEST] or "it did not say why"
