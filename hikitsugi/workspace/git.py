"""The host's git, told where everything is and trusting nothing it finds in a repository."""

import base64
import os
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.git_failures import explained
from hikitsugi.workspace.processes import Captured, capture

LOCAL, NETWORK = timedelta(minutes=2), timedelta(minutes=15)
_MOST_OUTPUT = 64 * 1024 * 1024
_FROM_OUTSIDE = (
    *("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
)
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
# Old repositories carry these faults in good faith; every other finding of fsck refuses the fetch.
_HARMLESS = ("zeroPaddedFilemode", "badTimezone", "missingSpaceBeforeDate", "missingEmail", "missingNameBeforeEmail")
_CONFIG = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
    "transfer.fsckObjects": "true",
    **{f"fetch.fsck.{finding}": "warn" for finding in _HARMLESS},
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "all",
    "safe.bareRepository": "explicit",
    "credential.helper": "",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "checkout.workers": "4",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgSign": "false",
}


class Git:
    """Git on one repository; `held` are lock descriptors that its processes keep until they end."""

    def __init__(self, git_dir: Path, work_tree: Path | None = None, held: Collection[int] = ()) -> None:
        self.git_dir = git_dir
        self._work_tree = work_tree
        self._held = tuple(held)

    async def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """What a local command says; its failure is raised as a sentence."""
        return self._said(await self.try_run(*arguments, stdin=stdin, env=env), arguments[0])

    async def ask(self, *arguments: str) -> str:
        """A local command's one-line answer."""
        return (await self.run(*arguments)).decode(errors="replace").strip()

    async def find(self, *arguments: str) -> str | None:
        """A local command's one-line answer, or None where it says no."""
        answer = await self.try_run(*arguments)
        return answer.out.decode(errors="replace").strip() if answer.code == 0 else None

    async def try_run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        within: timedelta = LOCAL,
        most: int = _MOST_OUTPUT,
    ) -> Captured:
        """Run a local command, however it ends."""
        return await self._capture(arguments, _CONFIG, stdin, env or {}, self._held, within, most)

    async def talk(self, remote: GitRemote, *arguments: str) -> bytes:
        """Run a command that talks to the remote; the token is in memory that only its processes hold."""
        with _credentials(remote) as (config, memory):
            answer = await self._capture(arguments, config, b"", {}, (*self._held, memory), NETWORK, _MOST_OUTPUT)
        return self._said(answer, arguments[0], remote)

    def _said(self, answer: Captured, command: str, remote: GitRemote | None = None) -> bytes:
        if answer.code != 0 or answer.is_cut:
            raise self.failure(command, answer, remote)
        return answer.out

    def failure(self, command: str, answer: Captured, remote: GitRemote | None = None) -> HikitsugiError:
        """What a failed command means."""
        return explained(command, answer.err.decode(errors="replace"), self.git_dir, remote)

    async def _capture(
        self,
        arguments: tuple[str, ...],
        config: Mapping[str, str],
        stdin: bytes,
        env: Mapping[str, str],
        inherit: tuple[int, ...],
        within: timedelta,
        most: int,
    ) -> Captured:
        from_outside = {name: os.environ[name] for name in _FROM_OUTSIDE if name in os.environ}
        try:
            return await capture(
                ["git", *self._where(), *_as_flags(config), *arguments],
                env={**from_outside, **_ENVIRONMENT, **env},
                cwd=self._work_tree,
                stdin=stdin,
                inherit=inherit,
                within=within,
                most=most,
            )
        except TimeoutError:
            raise TryAgainLater(f"git {arguments[0]} took longer than {within} and was ended") from None
        except FileNotFoundError as error:
            if error.filename == "git":
                raise WillNeverWork("git is not installed on this host; install it") from None
            raise

    def _where(self) -> list[str]:
        tree = [] if self._work_tree is None else [f"--work-tree={self._work_tree}"]
        return [f"--git-dir={self.git_dir}", *tree]


def _as_flags(config: Mapping[str, str]) -> list[str]:
    return [word for key, value in config.items() for word in ("-c", f"{key}={value}")]


@contextmanager
def _credentials(remote: GitRemote) -> Generator[tuple[Mapping[str, str], int]]:
    address = urlsplit(remote.url)
    if address.scheme not in {"https", "http"} or not address.hostname or address.username is not None:
        raise WillNeverWork("a repository's clone address must be https://host/path without a user name")
    token = remote.token.get_secret_value()
    if "\n" in token + remote.username:
        raise WillNeverWork("the forge's token or user name holds a line break; set it again")
    basic = base64.b64encode(f"{remote.username}:{token}".encode()).decode()
    # Told beforehand, to this one host: no first request that is refused, and nothing on a disk.
    config = f'[http "{address.scheme}://{address.netloc}"]\n\textraHeader = Authorization: Basic {basic}\n'
    memory = os.memfd_create("git-config")
    try:
        os.write(memory, config.encode())
        yield {**_CONFIG, f"protocol.{address.scheme}.allow": "always", "include.path": f"/dev/fd/{memory}"}, memory
    finally:
        os.close(memory)
