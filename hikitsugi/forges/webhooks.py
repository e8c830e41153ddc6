"""Whether a webhook delivery is genuine, and which repository it is about."""

import base64
import binascii
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Literal

from hikitsugi.domain.value import Value

WINDOW = timedelta(minutes=5)
_SIGNING = "whsec_"
_DELIVERY = {"github": ("x-github-delivery",), "gitlab": ("idempotency-key", "webhook-id")}
_REPOSITORY = {"github": ("repository", "full_name"), "gitlab": ("project", "path_with_namespace")}

ForgeKind = Literal["github", "gitlab"]


class Delivery(Value):
    """A webhook request as it came in: lower-case headers, and the body's very bytes."""

    kind: ForgeKind
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str | None:
        """What stays the same when the forge delivers it again."""
        return next((self.headers[name] for name in _DELIVERY[self.kind] if name in self.headers), None)

    @property
    def repository(self) -> str | None:
        """The repository it is about, if it says so."""
        outer, inner = _REPOSITORY[self.kind]
        try:
            payload: Any = json.loads(self.body)
            name: Any = payload[outer][inner]
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        return name if isinstance(name, str) else None

    def is_signed_with(self, secret: str, now: datetime) -> bool:
        """Whether whoever sent it knows the secret."""
        if self.kind == "github":
            return _same(
                self.headers.get("x-hub-signature-256", ""), f"sha256={_hmac(secret.encode(), self.body).hex()}"
            )
        if "webhook-signature" in self.headers:
            return self._has_standard_signature(secret, now)
        return _same(self.headers.get("x-gitlab-token", ""), secret)

    def _has_standard_signature(self, secret: str, now: datetime) -> bool:
        """A signature that is there must hold; there is no falling back to the plain token."""
        stamp = self.headers.get("webhook-timestamp", "")
        if not secret.startswith(_SIGNING) or not _is_recent(stamp, now):
            return False
        try:
            key = base64.b64decode(secret.removeprefix(_SIGNING), validate=True)
        except binascii.Error:
            return False
        signed = f"{self.headers.get('webhook-id', '')}.{stamp}.".encode() + self.body
        expected = f"v1,{base64.b64encode(_hmac(key, signed)).decode()}"
        return any(_same(given, expected) for given in self.headers["webhook-signature"].split())


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, sha256)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _is_recent(stamp: str, now: datetime) -> bool:
    if not stamp.isdecimal() or len(stamp) > len("9999999999"):
        return False
    return abs(now - datetime.fromtimestamp(int(stamp), UTC)) <= WINDOW
