"""How much faster a second workspace of a repository is than a clone over HTTP."""

import asyncio
import random
import subprocess
import tempfile
import time as clock
from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr

from hikitsugi.devforge import DevForge, serve
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import GitRemote
from hikitsugi.workspace.checkout import Checkouts

FILES, COMMITS, CHANGED_AT_ONCE, BYTES = 5000, 100, 20, 3000
RUNS = 3
TOKEN = "token-of-the-bot"  # noqa: S105 - of a forge that lives for this benchmark


async def measure() -> None:
    """Print the ratios: files of an ordinary size with some history, and the least a repository can be."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        root = Path(folder)
        forge = DevForge(root / "forge")
        forge.add_person("bot", TOKEN, "write")
        for name in ("demo/ordinary", "demo/tiny"):
            await asyncio.to_thread(forge.add_repository, name, {"README.md": "# Large\n"})
        await asyncio.to_thread(_fill, forge.data_folder / "demo/ordinary.git", COMMITS, BYTES)
        await asyncio.to_thread(_fill, forge.data_folder / "demo/tiny.git", 1, 200)
        async with serve(forge) as url:
            for name in ("demo/ordinary", "demo/tiny"):
                await _compare(root, url, name)


async def _compare(root: Path, url: str, name: str) -> None:
    remote = GitRemote(url=f"{url}/{name}.git", username="x", token=SecretStr(TOKEN), default_branch="main")
    checkouts = Checkouts(root / f"work-{name.replace('/', '-')}")
    await _prepare(checkouts, remote, name, 1)
    ours, fresh, clones = list[float](), list[float](), list[float]()
    for n in range(RUNS):
        fresh.append(await _prepare(checkouts, remote, name, 100 + n))
        async with checkouts.keeping_spares() as spares:
            await _prepare(checkouts, remote, name, 1)
            await spares.all_made()
        ours.append(await _prepare(checkouts, remote, name, 2 + n))
        clones.append(await _clone(remote, root / f"clone-{name.replace('/', '-')}-{n}"))
    clone = min(clones)
    print(f"second workspace of {name} ({FILES} files): {clone / min(ours):.1f} times faster than a clone over HTTP")
    print(f"  ({min(ours) * 1000:.0f} ms against {clone * 1000:.0f} ms; with no spare tree {min(fresh) * 1000:.0f} ms)")


async def _prepare(checkouts: Checkouts, remote: GitRemote, name: str, number: int) -> float:
    issue = IssueAddress(forge="github", repository=name, number=number)
    began = clock.perf_counter()
    await checkouts.prepare(issue, remote, f"hikitsugi/issue-{number}")
    return clock.perf_counter() - began


async def _clone(remote: GitRemote, folder: Path) -> float:
    url = remote.url.replace("http://", f"http://x:{TOKEN}@")
    began = clock.perf_counter()
    process = await asyncio.create_subprocess_exec("git", "clone", "-q", url, str(folder))
    await process.wait()
    return clock.perf_counter() - began


def _fill(bare: Path, commits: int, size: int) -> None:
    """Give a repository its files, and a history in which some change at a time; packed, as a server keeps it."""
    chance = random.Random(20261116)  # noqa: S311 - the same repository at every run
    names = [f"src/{n % 50}/file{n}.py" for n in range(FILES)]
    stream = b"".join(
        _commit(chance, n, names if n == 0 else chance.sample(names, CHANGED_AT_ONCE), size) for n in range(commits)
    )
    subprocess.run(["git", "--git-dir", str(bare), "fast-import", "--quiet", "--force"], input=stream, check=True)
    subprocess.run(["git", "--git-dir", str(bare), "gc", "--quiet"], check=True)


def _commit(chance: random.Random, number: int, paths: list[str], size: int) -> bytes:
    head = f"commit refs/heads/main\ncommitter A <a@example.com> {1700000000 + number} +0000\ndata 4\nWork\n"
    return head.encode() + b"".join(_file(path, "".join(_lines(chance, size)).encode()) for path in paths)


def _file(path: str, text: bytes) -> bytes:
    return f"M 644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n"


def _lines(chance: random.Random, size: int) -> Iterator[str]:
    room = chance.expovariate(1 / size) + 50
    while room > 0:
        line = f"    value_{chance.randrange(5000)} = call_{chance.randrange(5000)}({chance.randrange(100)})\n"
        room -= len(line)
        yield line
