"""How much faster a second workspace of a repository is than a clone over HTTP."""

import asyncio
import tempfile
import time as clock
from pathlib import Path

from pydantic import SecretStr

from hikitsugi.devforge import DevForge, serve
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts

FILES = 5000
RUNS = 3
TOKEN = "token-of-the-bot"  # noqa: S105 - of a forge that lives for this benchmark


async def measure() -> None:
    """Print the ratio of both, interleaved."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        forge = DevForge(root / "forge")
        forge.add_person("bot", TOKEN, "write")
        files = {f"src/{n % 50}/file{n}.py": f"value = {n}\n" * 20 for n in range(FILES)}
        await asyncio.to_thread(forge.add_repository, "demo/large", files)
        async with serve(forge) as url:
            remote = GitRemote(url=f"{url}/demo/large.git", username="x", token=SecretStr(TOKEN), default_branch="main")
            checkouts = Checkouts(root / "work")
            await _prepare(checkouts, remote, 1)
            ours = [await _prepare(checkouts, remote, n + 2) for n in range(RUNS)]
            clones = [await _clone(remote, root / f"clone{n}") for n in range(RUNS)]
    second, clone = min(ours), min(clones)
    print(f"second workspace of {FILES} files: {clone / second:.1f} times faster than a clone over HTTP")
    print(f"  ({second * 1000:.0f} ms against {clone * 1000:.0f} ms)")


async def _prepare(checkouts: Checkouts, remote: GitRemote, number: int) -> float:
    issue = IssueAddress(forge="github", repository="demo/large", number=number)
    began = clock.perf_counter()
    await checkouts.prepare(issue, remote, f"hikitsugi/issue-{number}")
    return clock.perf_counter() - began


async def _clone(remote: GitRemote, folder: Path) -> float:
    url = remote.url.replace("http://", f"http://x:{TOKEN}@")
    began = clock.perf_counter()
    process = await asyncio.create_subprocess_exec("git", "clone", "-q", url, str(folder))
    await process.wait()
    return clock.perf_counter() - began
