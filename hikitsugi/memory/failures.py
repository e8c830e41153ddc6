"""What a database's errors mean: try again later, or never."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork

_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB"}
_PASSING = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOMEM", "SQLITE_PROTOCOL"}
# PostgreSQL: connection lost, rolled back for another's sake, short of resources, lock not free, shut down, disk
# trouble; and a standby that still refuses to write.
_PASSING_CLASSES = {"08", "40", "53", "55", "57", "58"}
_READ_ONLY = "25006"

DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError)
"""What reading a row raises that no longer holds what was once written."""


def place_of(address: URL) -> str:
    """How a database is named to people: its file or its address without the password."""
    if address.get_backend_name() == "sqlite":
        return address.database or ""
    return address.set(query={}).render_as_string(hide_password=True)


@contextmanager
def explained(place: str) -> Generator[None]:
    """Turn whatever the database says into one of the two errors an activity knows."""
    try:
        yield
    except HikitsugiError:
        raise
    except DBAPIError as error:
        raise _explain(place, error) from error
    except (PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError) as error:
        raise _refused(place, error) from error
    except (OSError, PoolTimeoutError) as error:
        raise _away(place, error) from error
    except (SQLAlchemyError, ValueError, ArithmeticError) as error:
        message = f"A record does not fit the memory {place}: {_first_line(error)}."
        raise WillNeverWork(message) from error


def _explain(place: str, error: DBAPIError) -> HikitsugiError:
    reason = error.orig or error
    code = _code(reason)
    if code in _DAMAGED:
        return damaged(place, _first_line(reason))
    if code in _PASSING or code[:2] in _PASSING_CLASSES or code == _READ_ONLY or error.connection_invalidated:
        return _away(place, reason)
    return _refused(place, reason)


def damaged(place: str, reason: str) -> WillNeverWork:
    """A file that holds no readable database."""
    return WillNeverWork(
        f"The memory {place} is damaged ({reason}) and was left as it is: "
        "put a good copy in its place, or move it away to begin with an empty memory."
    )


def _refused(place: str, reason: BaseException) -> WillNeverWork:
    return WillNeverWork(f"The memory {place} cannot be used: {_first_line(reason)}.")


def _away(place: str, reason: BaseException) -> TryAgainLater:
    return TryAgainLater(f"The memory {place} cannot be used right now: {_first_line(reason)}.")


def _code(reason: BaseException) -> str:
    """PostgreSQL's five letters, or SQLite's error name without its extended part."""
    if isinstance(reason, sqlite3.Error):
        return "_".join(getattr(reason, "sqlite_errorname", "").split("_")[:2])
    return str(getattr(reason, "sqlstate", None) or "")


def _first_line(reason: BaseException) -> str:
    return (str(reason) or type(reason).__name__).splitlines()[0].rstrip(".")
