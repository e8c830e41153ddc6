"""GitHub Apps: they prove themselves by a signed token and act through short-lived installation tokens."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hmac import compare_digest
from threading import Lock

import jwt

from hikitsugi.devforge.journal import Clock
from hikitsugi.devforge.records import Person

TOKEN_LIFE = timedelta(hours=1)


@dataclass(frozen=True)
class App:
    """An App, installed once for all repositories, and the account it acts as."""

    id: int
    slug: str
    installation_id: int
    person: Person
    public_key: str = field(repr=False)
    created_at: datetime


@dataclass(frozen=True)
class InstallationToken:
    """A token for an hour."""

    token: str = field(repr=False)
    app: App
    expires_at: datetime


class Apps:
    """The Apps of a forge and the tokens they were given."""

    def __init__(self, next_id: Callable[[], int], now: Clock) -> None:
        self._next_id = next_id
        self._now = now
        self._lock = Lock()
        self._apps: list[App] = []
        self._tokens: list[InstallationToken] = []

    def register(self, slug: str, public_key: str, person: Person) -> App:
        """Make an App known by its public key in PEM form, and install it."""
        with self._lock:
            app = App(self._next_id(), slug, self._next_id(), person, public_key, self._now())
            self._apps.append(app)
            return app

    def signed_by(self, token: str) -> App | None:
        """The App whose key signed a token that is still good."""
        try:
            issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
            app = next((one for one in self._apps if str(one.id) == str(issuer)), None)
            if app:
                options = {"require": ["exp", "iat", "iss"], "verify_iss": False}
                jwt.decode(token, app.public_key, algorithms=["RS256"], options=options, leeway=60)  # pyright: ignore[reportArgumentType] - a TypedDict to its author, a dict to us
        except jwt.PyJWTError:
            return None
        return app

    def issue_token(self, app: App) -> InstallationToken:
        """A new token that acts as the App."""
        with self._lock:
            made = InstallationToken(f"ghs_{secrets.token_hex(18)}", app, self._now() + TOKEN_LIFE)
            self._tokens.append(made)
            return made

    def person_with(self, token: str) -> Person | None:
        """Whom an installation token stands for while it is good."""
        given, now = token.encode(), self._now()
        good = (one for one in list(self._tokens) if one.expires_at > now)
        return next((one.app.person for one in good if compare_digest(one.token.encode(), given)), None)
