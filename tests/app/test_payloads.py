"""Nothing secret gets into Temporal, and with a key nobody else can read what does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, SecretStr
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError

from hikitsugi.app.payloads import data_converter
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import HIDDEN, Redactor

SECRET = "correct-horse-battery"
KEY = SecretStr("a key that nobody guesses")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def converter(key: SecretStr | None = None) -> DataConverter:
    return data_converter(Redactor([SECRET]), key)


@pytest.mark.parametrize("key", [None, KEY])
@given(value=values)
async def test_values_come_back_as_they_were(key: SecretStr | None, value: JsonValue):
    payloads = await converter(key).encode([value])
    assert await converter(key).decode(payloads) == [value]


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("key", [None, KEY])
async def test_secrets_are_taken_out_before_anything_is_kept(key: SecretStr | None):
    said = {"body": f"token {SECRET}", "key": "-----BEGIN PRIVATE KEY-----\nMIIE", "after": [SECRET, 1]}
    payloads = await converter(key).encode([said])
    assert await converter(key).decode(payloads) == [
        {"body": f"token {HIDDEN}", "key": HIDDEN, "after": [HIDDEN, 1]},
    ]
    assert SECRET.encode() not in payloads[0].SerializeToString()


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("key", [None, KEY])
async def test_no_failure_tells_a_secret_wherever_in_its_chain(key: SecretStr | None):
    failure = Failure()
    try:
        try:
            raise ValueError(f"bad {SECRET}")  # noqa: TRY301 - a chain is wanted
        except ValueError as cause:
            raise ApplicationError(f"used {SECRET}", SECRET) from cause
    except ApplicationError as error:
        await converter(key).encode_failure(error, failure)
    assert SECRET.encode() not in failure.SerializeToString()
    back = await converter(key).decode_failure(failure)
    assert (str(back), str(back.__cause__)) == (f"used {HIDDEN}", f"ValueError: bad {HIDDEN}")


@pytest.mark.req("OP-05")
async def test_with_a_key_neither_values_nor_failures_can_be_read():
    [payload] = await converter(KEY).encode(["what nobody should read"])
    failure = Failure()
    await converter(KEY).encode_failure(ApplicationError("it broke on what nobody should read"), failure)
    kept = payload.SerializeToString() + failure.SerializeToString()
    assert b"nobody should read" not in kept
    back = await converter(KEY).decode_failure(failure)
    assert "it broke on what nobody should read" in str(back)


@pytest.mark.parametrize(
    ("key", "told"),
    [(None, "set temporal.encryption_key"), (SecretStr("another key altogether"), "check temporal.encryption_key")],
)
async def test_a_missing_or_another_key_is_said_plainly(key: SecretStr | None, told: str):
    payloads = await converter(KEY).encode(["x"])
    with pytest.raises(WillNeverWork, match=told):
        await converter(key).decode(payloads)


async def test_a_payload_that_somebody_changed_is_refused():
    [payload] = await converter(KEY).encode(["x"])
    changed = Payload(metadata=dict(payload.metadata), data=payload.data[:-1] + bytes([payload.data[-1] ^ 1]))
    with pytest.raises(WillNeverWork, match="changed or is damaged"):
        await converter(KEY).decode([changed])


async def test_what_was_written_before_there_was_a_key_can_still_be_read():
    payloads = await converter().encode(["x"])
    assert await converter(KEY).decode(payloads) == ["x"]
    assert json.loads(payloads[0].data) == "x"
