"""The forges to work for, and which of their repositories."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import AfterValidator, BeforeValidator, SecretStr, ValidationInfo, field_validator, model_validator

from hikitsugi.app.settings_types import Count, Section, Text, WebAddress, refused

PUBLIC_SERVERS = {"github": "https://api.github.com", "gitlab": "https://gitlab.com"}
_PART = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.-]+"
_PATH = re.compile(rf"{_PART}(?:/{_PART})+")

WorkedBy = Literal["agent", "broker"]


def _forge_name(given: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", given):
        raise refused("must be made of letters, digits, - and _")
    return given


def _repository_name(given: str) -> str:
    if not _PATH.fullmatch(given):
        raise refused("must be OWNER/REPOSITORY, for example octocat/hello-world")
    return given


def _private_key(given: SecretStr) -> SecretStr:
    """The key itself; environment variables often write its lines with a backslash and n."""
    text = given.get_secret_value()
    pem = (text if "-----BEGIN" in text else _content(text)).replace("\\n", "\n")
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise refused("must be the App's private key as GitHub gave it (RSA in PEM form), or the path of its file")
    return SecretStr(pem)


def _content(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise refused("must be a private key in PEM form, or the path of a file that can be read") from None


def _one_or_more(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


class Repository(Section):
    """A repository to watch, and who works on its issues."""

    name: Annotated[str, AfterValidator(_repository_name)]
    worked_by: WorkedBy = "agent"


class AppSettings(Section):
    """A GitHub App, and where it is installed."""

    id: Count
    installation_id: Count
    private_key: Annotated[SecretStr, AfterValidator(_private_key)]


class ForgeSettings(Section):
    """A GitHub or GitLab server, and who we are on it."""

    name: Annotated[str, AfterValidator(_forge_name)] = "github"
    kind: Literal["github", "gitlab"] = "github"
    url: WebAddress = PUBLIC_SERVERS["github"]
    token: SecretStr | None = None
    app: AppSettings | None = None
    username: Text | None = None
    repositories: tuple[Repository, ...] = ()
    webhook_secret: SecretStr | None = None
    accept_comments_from: Annotated[tuple[Text, ...], BeforeValidator(_one_or_more)] = ("author", "maintainers")
    worked_by: WorkedBy = "agent"

    @model_validator(mode="before")
    @classmethod
    def spell_out(cls, given: Any) -> Any:
        """Fill in what follows from the other keys: the public server's address, and who works where."""
        if not isinstance(given, dict):
            return given
        keys = cast("dict[str, Any]", given)
        kind = keys.get("kind") or "github"
        spelled = {"name": kind, **_without_nothing(keys), "url": _server(kind, keys.get("url"))}
        if isinstance(keys.get("repositories"), list):
            spelled["repositories"] = [_repository(entry, keys.get("worked_by")) for entry in keys["repositories"]]
        return spelled

    @field_validator("app")
    @classmethod
    def only_on_github(cls, app: AppSettings | None, info: ValidationInfo) -> AppSettings | None:
        """GitLab has no Apps."""
        if app and info.data.get("kind") == "gitlab":
            raise refused("is for GitHub alone; give a token")
        return app

    @field_validator("repositories")
    @classmethod
    def names_fit(cls, repositories: tuple[Repository, ...], info: ValidationInfo) -> tuple[Repository, ...]:
        """GitHub has no groups within groups, and nothing is watched twice."""
        names = [repository.name for repository in repositories]
        if len({name.lower() for name in names}) < len(names):
            raise refused("must not name a repository twice")
        if info.data.get("kind") == "github" and any(name.count("/") > 1 for name in names):
            raise refused("must be OWNER/REPOSITORY each, because GitHub has no groups within groups")
        return repositories


def _without_nothing(keys: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value not in (None, "")}


def _server(kind: Any, url: Any) -> Any:
    if not url:
        return PUBLIC_SERVERS.get(str(kind), PUBLIC_SERVERS["github"])
    if kind == "gitlab" and isinstance(url, str):
        return re.sub(r"/api/v4/?$", "", url)
    return url


def _repository(entry: Any, worked_by: Any) -> Any:
    shared = {"worked_by": worked_by} if worked_by in ("agent", "broker") else {}
    if isinstance(entry, str):
        return {**shared, "name": entry}
    return {**shared, **cast("dict[str, Any]", entry)} if isinstance(entry, dict) else entry
