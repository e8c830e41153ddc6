"""A lease: the right of one agent to work on one issue, until a moment that moves with each sign of life."""

import base64
import binascii
import re
from datetime import datetime
from typing import Self

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.value import Value

_ID = re.compile(r"([A-Za-z0-9_-]{1,600})\.([1-9][0-9]{0,8})\.([0-9a-f]{16})")


class LeaseId(Value):
    """Tells by itself which issue it is for; a later lease of the same issue has a greater number."""

    issue: IssueAddress
    number: int
    secret: str

    def __str__(self) -> str:
        address = base64.urlsafe_b64encode(str(self.issue).encode()).decode().rstrip("=")
        return f"{address}.{self.number}.{self.secret}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an id that we gave; anything else is a ValueError."""
        match = _ID.fullmatch(text)
        if not match:
            raise ValueError("this is not a lease's id")
        try:
            address = base64.urlsafe_b64decode(match[1] + "=" * (-len(match[1]) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise ValueError("this is not a lease's id") from None
        return cls(issue=IssueAddress.parse(address), number=int(match[2]), secret=match[3])


class Lease(Value):
    """Who works on an issue, on which branch, and until when."""

    id: str
    agent: str
    branch: str
    expires_at: datetime
