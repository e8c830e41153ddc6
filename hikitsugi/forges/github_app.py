"""A GitHub App: it signs for itself, and is given tokens for an hour to act with where it is installed."""

import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from github import Auth
from pydantic import AwareDatetime, BaseModel, SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges.client import Answer
from hikitsugi.forges.credentials import AppInstallation, without
from hikitsugi.forges.github_client import GitHubConnection
from hikitsugi.forges.github_errors import failure, message_in

# A clone or push that begins with a token also ends with it.
MARGIN = timedelta(minutes=10)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class TokenPayload(BaseModel):
    """A token and how long it is good."""

    token: SecretStr
    expires_at: AwareDatetime


class AppPayload(BaseModel):
    """An App."""

    slug: str


class InstallationTokens:
    """The tokens of an installation, one after the other; all threads share the one of the hour."""

    def __init__(self, forge: str, url: str, app: AppInstallation) -> None:
        self._forge = forge
        self._url = url
        self._app = app
        self._signature = Auth.AppAuth(app.id, app.private_key.get_secret_value())
        self._lock = threading.Lock()
        self._token: SecretStr | None = None
        self._until = _LONG_AGO

    def token(self) -> SecretStr:
        """The token of the hour; another one when it is nearly over."""
        with self._lock:
            if self._token is None or datetime.now(UTC) >= self._until:
                self._token, self._until = self._ask_token()
            return self._token

    def forget(self) -> bool:
        """Ask for another at the next call, which is given unless the App itself is refused."""
        self._until = _LONG_AGO
        return True

    def hidden_in(self, text: str) -> str:
        """The text without the token."""
        token = self._token
        return without(token, text) if token else text

    def login(self) -> str:
        """The name the App acts under; it has no account to ask for it."""
        return f"{self._ask('GET', '/app').read(AppPayload).slug}[bot]"

    def _ask_token(self) -> tuple[SecretStr, datetime]:
        answer = self._ask("POST", f"/app/installations/{self._app.installation_id}/access_tokens")
        given = answer.read(TokenPayload)
        # Its life is measured by the forge's clock, which may not be ours.
        return given.token, datetime.now(UTC) + (given.expires_at - answer.at) - MARGIN

    def _ask(self, verb: str, path: str) -> Answer:
        with closing(GitHubConnection(self._url, self._signature)) as connection:
            answer = Answer(self._forge, f"{verb} {path}", *connection.request(verb, path, {}, {}, None))
        if answer.status in {HTTPStatus.OK, HTTPStatus.CREATED}:
            return answer
        error = failure(answer)
        raise error if isinstance(error, TryAgainLater) else self._refusal(answer)

    def _refusal(self, answer: Answer) -> WillNeverWork:
        told = f"{answer.status} {message_in(answer.body)}".strip()
        return WillNeverWork(
            f"Forge {self._forge!r} does not accept the GitHub App {self._app.id} ({told}): check id, installation_id "
            "and private_key of forges[].app, that the App is installed and not suspended, and this machine's clock."
        )
