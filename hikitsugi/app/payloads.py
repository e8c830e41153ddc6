"""What gets into Temporal: values without secrets, and with a key nothing that anybody else can read."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import SecretStr
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    PayloadConverter,
)

from hikitsugi.domain.cleansing import cleansed
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import HIDDEN, Redactor

_ENCRYPTED = b"binary/encrypted"
_JSON = b"json/plain"
_NONCE = 12
_KEY_BYTES = 32
_CHECK_KEY = "check temporal.encryption_key"


def data_converter(redact: Redactor, key: SecretStr | None) -> DataConverter:
    """Pydantic values in JSON, cleansed and where there is a key encrypted, failures included."""
    cipher = Cipher(key.get_secret_value()) if key else None
    converter = dataclasses.replace(pydantic_data_converter, payload_codec=Codec(redact, cipher))
    failures = DefaultFailureConverterWithEncodedAttributes if cipher else _cleansed_failures(redact)
    return dataclasses.replace(converter, failure_converter_class=failures)


def _cleansed_failures(redact: Redactor) -> type[DefaultFailureConverter]:
    """How failures are written where they stay readable; the SDK makes the converter itself, so it wants a class."""

    class CleansedFailures(DefaultFailureConverter):
        def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
            super().to_failure(exception, payload_converter, failure)
            failure.message = redact(failure.message)
            failure.stack_trace = redact(failure.stack_trace)

    return CleansedFailures


class Cipher:
    """AES-256-GCM under one key; a payload tells which key it needs."""

    def __init__(self, key: str) -> None:
        derive = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=b"hikitsugi payloads")
        secret = derive.derive(key.encode())
        self._aes = AESGCM(secret)
        self._id = hashlib.sha256(b"hikitsugi key id" + secret).hexdigest()[:16].encode()

    def encrypt(self, payload: Payload) -> Payload:
        """A payload that only the key opens."""
        nonce = os.urandom(_NONCE)
        data = nonce + self._aes.encrypt(nonce, payload.SerializeToString(), self._id)
        return Payload(metadata={"encoding": _ENCRYPTED, "encryption-key-id": self._id}, data=data)

    def decrypt(self, payload: Payload) -> Payload:
        """What was encrypted; WillNeverWork with another key or a changed payload."""
        if payload.metadata.get("encryption-key-id") != self._id:
            raise WillNeverWork(f"Temporal holds this encrypted with another key; {_CHECK_KEY}.")
        try:
            data = self._aes.decrypt(payload.data[:_NONCE], payload.data[_NONCE:], self._id)
        except InvalidTag:
            raise WillNeverWork(f"A payload in Temporal was changed or is damaged; {_CHECK_KEY}.") from None
        return Payload.FromString(data)


class Codec(PayloadCodec):
    """Cleanses every payload on its way out, and encrypts it where there is a key; reads both kinds."""

    def __init__(self, redact: Redactor, cipher: Cipher | None) -> None:
        self._redact = redact
        self._cipher = cipher

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as Temporal may keep them."""
        clean = [self._cleansed(payload) for payload in payloads]
        return [self._cipher.encrypt(payload) for payload in clean] if self._cipher else clean

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as we read them."""
        return [self._decrypted(payload) for payload in payloads]

    def _cleansed(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _JSON:
            return payload
        text = payload.data.decode(errors="replace")
        if self._redact(text) == text:
            return payload
        try:
            data = json.dumps(cleansed(json.loads(text), self._redact), ensure_ascii=False).encode()
        except ValueError:
            data = json.dumps(HIDDEN).encode()
        return Payload(metadata=dict(payload.metadata), data=data)

    def _decrypted(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCRYPTED:
            return payload
        if self._cipher is None:
            raise WillNeverWork("Temporal holds this encrypted, and no key is configured; set temporal.encryption_key.")
        return self._cipher.decrypt(payload)
