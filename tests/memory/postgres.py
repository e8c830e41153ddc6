"""A PostgreSQL server of our own, from the machine's binaries, for the length of a test session."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import NullPool
from sqlalchemy.ext.asyncio import create_async_engine

_SETTINGS = "-c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=60"


class PostgresServer:
    """A running server, reachable through the socket in its folder."""

    def __init__(self, folder: Path, pg_ctl: list[str]) -> None:
        self.folder = folder
        self._pg_ctl = pg_ctl
        self._databases = 0

    def start(self) -> None:
        """Come up, and wait until it takes connections."""
        _run([*self._pg_ctl, "-l", str(self.folder / "log"), "-o", f"-k {self.folder} {_SETTINGS}", "start"])

    def stop(self) -> None:
        """Go away at once; what was committed stays."""
        _run([*self._pg_ctl, "-m", "immediate", "stop"])

    async def new_database(self) -> str:
        """Make an empty database; its address."""
        self._databases += 1
        name = f"memory_{self._databases}"
        await self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    async def run(self, statement: str) -> None:
        """Run one statement as the superuser."""
        engine = create_async_engine(self.url("postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
        async with engine.connect() as connection:
            await connection.exec_driver_sql(statement)

    def url(self, database: str, user: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql+asyncpg://{user}@/{database}?host={self.folder}"


def find_binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, the newest where there are several."""
    on_path = shutil.which("pg_ctl")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    return installed[-1].parent if installed else None


@contextmanager
def running_server(binaries: Path) -> Generator[PostgresServer]:
    """Start a server as an unprivileged user, and remove every trace of it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="hikitsugi-pg-"))
    data = folder / "data"
    as_user = _become_unprivileged(folder)
    pg_ctl = [*as_user, str(binaries / "pg_ctl"), "-D", str(data), "-w"]
    try:
        _run([*as_user, str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8"])
        server = PostgresServer(folder, pg_ctl)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _become_unprivileged(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root; the prefix that makes a command run as somebody else."""
    if os.geteuid() != 0:
        return []
    names = {user.pw_name for user in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _run(command: list[str]) -> None:
    # The server keeps what it inherits open, so its output must not be a pipe that somebody waits on.
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")
