"""The kinds of value a setting can have, each refused with a sentence that says what is allowed."""

import ipaddress
import re
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, cast, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

MOST = 1_000_000_000


class Section(BaseModel):
    """A part of the configuration: frozen, and strict about its keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True, hide_input_in_errors=True
    )

    @model_validator(mode="before")
    @classmethod
    def nothing_means_default(cls, given: Any) -> Any:
        """A key without a value counts as left out, unless null is one of its values."""
        if not isinstance(given, dict):
            return given
        keys = cast("dict[Any, Any]", given)
        blank_is_null = {key: None if value == "" and _may_be_null(cls, key) else value for key, value in keys.items()}
        return {key: value for key, value in blank_is_null.items() if value is not None or _may_be_null(cls, key)}


def _may_be_null(section: type[BaseModel], key: Any) -> bool:
    field = section.model_fields.get(key)
    return field is not None and NoneType in get_args(field.annotation)


def refused(allowed: str) -> PydanticCustomError:
    """The error of a validator; its text says what is allowed and never repeats the value."""
    return PydanticCustomError("refused", "{allowed}", {"allowed": allowed})


def _no_truth_value(given: Any) -> Any:
    if isinstance(given, bool):
        raise refused("must be a number")
    return given


def _folder(given: Any) -> Any:
    if given == "":
        raise refused("must be the path of a folder")
    return Path(given).expanduser() if isinstance(given, str) else given


def _web_address(given: str) -> str:
    if not is_address(given, {"http", "https"}):
        raise refused("must be an address like https://example.com, without user name or password")
    if urlsplit(given).username is not None:
        raise refused("must be an address without user name or password")
    return given.rstrip("/")


def _host_and_port(given: str) -> str:
    match = re.fullmatch(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:/@]+):([0-9]{1,5})", given)
    if not match or not 0 < int(match[1]) <= 65535:  # noqa: PLR2004  the highest port there is
        raise refused("must be HOST:PORT, for example localhost:7233")
    return given


def _redis_url(given: SecretStr) -> SecretStr:
    address = given.get_secret_value()
    if not is_address(address, {"redis", "rediss"}) and not address.startswith("unix:///"):
        raise refused("must be redis://HOST:PORT/DB, rediss://HOST:PORT/DB or unix:///PATH")
    return given


def _database_url(given: SecretStr) -> SecretStr:
    address = re.sub(r"^postgres(?:ql)?://", "postgresql+asyncpg://", given.get_secret_value())
    address = re.sub(r"^sqlite://", "sqlite+aiosqlite://", address)
    if address.startswith("sqlite+aiosqlite://"):
        return SecretStr(address)
    through_socket = re.fullmatch(r"postgresql\+asyncpg://[^\s/]*/\S+[?&]host=/\S+", address)
    if not is_address(address, {"postgresql+asyncpg"}) and not through_socket:
        raise refused("must be postgresql://USER:PASSWORD@HOST/DATABASE or sqlite:///FILE")
    # asyncpg calls libpq's sslmode "ssl"; the values are the same.
    return SecretStr(re.sub(r"(?<=[?&])sslmode=", "ssl=", address))


def is_address(text: str, schemes: set[str]) -> bool:
    """Whether a text is a URL with one of the schemes, a host and, if any, a valid port."""
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", text)
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether a host name or address can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=1, le=MOST)]
CountFromZero = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=0, le=MOST)]
Port = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=0, le=65535)]
Duration = Annotated[float, BeforeValidator(_no_truth_value), Field(gt=0, le=1_000_000)]
Amount = Annotated[float, BeforeValidator(_no_truth_value), Field(ge=0, le=MOST)]
Folder = Annotated[Path, BeforeValidator(_folder)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
HostAndPort = Annotated[str, AfterValidator(_host_and_port)]
RedisUrl = Annotated[SecretStr, AfterValidator(_redis_url)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_database_url)]
