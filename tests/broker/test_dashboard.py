"""The dashboard shows every issue and gives orders, and only it can."""

import re

import pytest

from tests.broker.counter import BODY, Counter
from tests.workflows.house import until

pytestmark = pytest.mark.req("OP-08")


async def test_it_lists_issues_with_state_agent_and_cost_and_escapes_what_people_wrote(broker: Counter):
    number = broker.opens(title="<script>alert(1)</script>", body=BODY)
    await broker.gets("shown")

    async def is_listed() -> bool:
        page = (await broker.http.get("/")).text
        return str(broker.address(number)) in page and "shown" in page and "in-progress" in page

    await until(is_listed)
    page = await broker.http.get("/")
    assert "<script>" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_its_buttons_work_and_a_forged_order_does_not(broker: Counter):
    number = broker.opens()
    task = await broker.gets("stopped-one")
    address = str(broker.address(number))
    page = (await broker.http.get("/issue", params={"id": address})).text
    assert "branch" in page
    [mark] = set(re.findall(r'name="mark" value="([0-9a-f]+)"', page))
    forged = {"id": address, "mark": "0" * 64, "order": "stop"}
    assert (await broker.http.post("/issue", data=forged)).status_code == 403
    other = {"id": f"{address}0", "mark": mark, "order": "stop"}
    assert (await broker.http.post("/issue", data=other)).status_code == 403
    assert await broker.reports("stopped-one", task, "heartbeat") == 204
    order = {"id": address, "mark": mark, "order": "stop"}
    assert (await broker.http.post("/issue", data=order)).status_code == 303

    async def is_stopped() -> bool:
        return await broker.reports("stopped-one", task, "heartbeat") == 409

    await until(is_stopped)


async def test_what_is_not_there_is_not_found(broker: Counter):
    for wrong in ("nonsense", "github:no/where/issues/1"):
        assert (await broker.http.get("/issue", params={"id": wrong})).status_code == 404
