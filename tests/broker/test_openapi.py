"""Whatever the description of the interface allows, and much that it does not, is answered without a failure."""

# The library that makes requests from the description leaves its types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.broker.counter import Counter

_ANY = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]
TOLD = {200, 202, 204, 400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 429}


async def test_the_description_has_examples_and_is_there_while_its_pages_are_not(broker: Counter):
    told = (await broker.http.get("/openapi.json")).json()
    assert {"/api/v1/request-task", "/api/v1/tasks", "/api/v1/tasks/{lease_id}/{report}"} <= set(told["paths"])
    assert told["components"]["schemas"]["TaskRequest"]["examples"]
    assert {(await broker.http.get(path)).status_code for path in ("/docs", "/redoc")} == {404}


@pytest.mark.req("BR-02")
async def test_no_request_made_from_the_description_makes_the_broker_fail(broker: Counter):
    await asyncio.to_thread(_try_everything, str(broker.http.base_url), 40)


@pytest.mark.long
async def test_many_requests_made_from_the_description(broker: Counter):
    await asyncio.to_thread(_try_everything, str(broker.http.base_url), 1000)


def _try_everything(address: str, examples: int) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    for found in schema.get_all_operations():
        _try_operation(cast("Any", found).ok(), address, examples)


def _try_operation(operation: Any, address: str, examples: int) -> None:
    modes = schemathesis.GenerationMode
    cases: Any = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in (modes.POSITIVE, modes.NEGATIVE)))

    @settings(
        max_examples=examples,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=_ANY,
    )
    @given(case=cases)
    def attempt(case: Any) -> None:
        if isinstance(case.body, dict) and "agent_id" in case.body:
            case.body["timeout_seconds"] = 0
        status = case.call(base_url=address, timeout=60).status_code
        assert status in TOLD, (status, case.body)

    attempt()
