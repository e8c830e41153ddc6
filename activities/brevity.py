"""How the steps of every turn write down what they are given, in few words: a history keeps it all."""

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, PlainSerializer

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Usage


def _address(written: Any) -> Any:
    return IssueAddress.parse(written) if isinstance(written, str) else written


def _usage(written: Any) -> Any:
    if not isinstance(written, list):
        return written
    return dict(zip(Usage.model_fields, cast("list[int]", written), strict=True))


ShortAddress = Annotated[IssueAddress, PlainSerializer(str), BeforeValidator(_address)]
"""An issue's address in one word."""

ShortUsage = Annotated[Usage, PlainSerializer(lambda usage: list(usage.model_dump().values())), BeforeValidator(_usage)]
"""Four numbers, in the order of the fields."""
