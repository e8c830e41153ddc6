"""How things are called in Redis."""

from hikitsugi.domain.address import RepositoryAddress

CHANNEL = "hikitsugi:wake"
"""Where whoever waits hears of a shelf with something new, or of a lock that was released."""

LOCK = "hikitsugi:lock:"
SHELF = "hikitsugi:shelf:"
LEASES = "hikitsugi:leases"
AGENTS = "hikitsugi:agents"
SHARED = "hikitsugi:shared:"
LEDGER = "hikitsugi:ledger"
AUDITED = "hikitsugi:audited"
TURNS = "hikitsugi:turns"


def cards_key(home: RepositoryAddress | str) -> str:
    """The tasks of a repository."""
    return f"hikitsugi:cards:{home}"


def waiting_key(home: RepositoryAddress | str) -> str:
    """The issues of a repository that wait for a review."""
    return f"hikitsugi:waiting:{home}"


def base_key(home: RepositoryAddress | str) -> str:
    """Where new branches of a repository start."""
    return f"hikitsugi:base:{home}"


def filled_key(home: RepositoryAddress | str) -> str:
    """There while the board knows the repository."""
    return f"hikitsugi:filled:{home}"
