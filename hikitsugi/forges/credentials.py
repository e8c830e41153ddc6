"""What we ask a forge with: a token, or the installation of a GitHub App that is given its tokens one by one."""

from typing import Protocol

from pydantic import SecretStr

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.value import Value


class AppInstallation(Value):
    """A GitHub App where it is installed, and the key it proves itself with."""

    id: int
    installation_id: int
    private_key: SecretStr


Credentials = SecretStr | AppInstallation


class Access(Protocol):
    """The way to the token of the moment."""

    def token(self) -> SecretStr:
        """The token to ask with now; it may have to be asked for first, so this belongs on a thread."""
        ...

    def forget(self) -> bool:
        """Forget the token, because it was refused; whether there will be another."""
        ...

    def hidden_in(self, text: str) -> str:
        """The text without the token."""
        ...


class FixedToken:
    """A token for good."""

    def __init__(self, forge: str, token: SecretStr) -> None:
        if not token.get_secret_value():
            raise WillNeverWork(f"Forge {forge!r} has no token: set forges[].token.")
        self._token = token

    def token(self) -> SecretStr:
        """The one there is."""
        return self._token

    def forget(self) -> bool:
        """There will be no other."""
        return False

    def hidden_in(self, text: str) -> str:
        """The text without the token."""
        return without(self._token, text)


def without(secret: SecretStr, text: str) -> str:
    """The text with the secret blotted out."""
    return text.replace(secret.get_secret_value(), "***")
