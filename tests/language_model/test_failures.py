"""Every way a call can fail is either tried again, at the right time, or told to the operator."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.language_model.failures import wanted_wait
from hikitsugi.language_model.scripted import Answer, Reaction, ScriptedModel, fail, first, say, serve
from tests.language_model.talking import KEY, asked, client, talking

pytestmark = pytest.mark.req("TW-04")


@pytest.mark.parametrize(
    ("fault", "wait"),
    [
        (fail(429, retry_after=3), timedelta(seconds=3)),
        (fail(429, retry_after=3, retry_after_ms="1500"), timedelta(seconds=1.5)),
        (fail(429), None),
        (fail(529, retry_after=0.5), timedelta(seconds=0.5)),
        (fail(529), None),
        (fail(500), None),
        (fail(502), None),
        (fail(503), None),
        (fail(504), None),
        (fail(408), None),
        (fail(409), None),
        (fail(400, x_should_retry="true"), None),
        (say("x" * 200).stream_error("overloaded_error"), None),
        (say("x" * 200).stream_error("api_error"), None),
        (say("x" * 200).stream_error("rate_limit_error"), None),
        (say("x" * 200).stream_error("something_new"), None),
        (say("x" * 200).cut(), None),
        (say("x" * 200).early_eof(), None),
    ],
)
async def test_a_passing_fault_is_tried_again_and_then_works(fault: Reaction, wait: timedelta | None):
    async with talking(lambda _: first(1, fault, then=say("there"))) as (model, scripted):
        with pytest.raises(TryAgainLater) as raised:
            await model.reply(asked())
        assert raised.value.after == wait
        assert (await model.reply(asked())).turn.text == "there"
        assert (len(scripted.requests), scripted.paid) == (2, 1)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (fail(401), r"check llm\.api_key"),
        (fail(402), "check its billing"),
        (fail(403), r"check llm\.api_key and llm\.model"),
        (fail(404, "model: claude-nonsense"), r"check llm\.model and llm\.base_url: model: claude-nonsense \(request"),
        (fail(413), "lower llm.compress_at_tokens"),
        (fail(400, "prompt is too long: 1000001 tokens > 1000000 maximum"), "prompt is too long"),
        (fail(429, code="enforced_spend_limit_reached", x_should_retry="true"), "spend limit"),
        (fail(429, x_should_retry="false"), "limits the rate"),
        (say("x" * 200).stream_error("invalid_request_error"), "error 400"),
        (say("x" * 200).stream_error("authentication_error"), r"check llm\.api_key"),
    ],
)
async def test_what_will_never_work_is_said_at_once(fault: Reaction, sentence: str):
    async with talking(lambda _: fault) as (model, scripted):
        with pytest.raises(WillNeverWork, match=sentence) as raised:
            await model.reply(asked())
        assert (len(scripted.requests), scripted.paid) == (1, 0)
    assert raised.value.__cause__ is None


async def test_a_wrong_key_is_refused_by_the_server():
    scripted = ScriptedModel(lambda _: say("hi"), api_key=KEY)
    async with serve(scripted) as base_url, client(base_url, key="sk-ant-wrong-key-987654321") as model:
        with pytest.raises(WillNeverWork, match=r"check llm\.api_key"):
            await model.reply(asked())
    assert scripted.requests == []


@pytest.mark.req("OP-05")
async def test_a_key_that_the_other_side_repeats_is_not_told():
    async with talking(lambda _: fail(400, f"what is {KEY} good for?")) as (model, _):
        with pytest.raises(WillNeverWork, match=r"what is .* good for") as raised:
            await model.reply(asked())
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("silent", [lambda: say("late").delayed(3600), lambda: say("x" * 200).stalled()])
async def test_silence_before_or_inside_the_stream_is_tried_again(silent: Callable[[], Answer]):
    async with talking(lambda _: silent(), silence=timedelta(seconds=0.3)) as (model, scripted):
        with pytest.raises(TryAgainLater, match="did not answer in time"):
            await model.reply(asked())
        assert scripted.paid == 0


async def test_a_provider_that_cannot_be_reached_is_tried_again():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with client(f"http://127.0.0.1:{port}") as model:
        with pytest.raises(TryAgainLater, match=r"check llm\.base_url and the network"):
            await model.reply(asked())


async def test_an_address_of_an_unknown_kind_will_never_work():
    async with client("gopher://127.0.0.1/") as model:
        with pytest.raises(WillNeverWork, match=r"check llm\.base_url"):
            await model.reply(asked())


PAGE = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"
NONSENSE = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: message_start\ndata: {nonsense\n\n"
NOTHING = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"
ELSEWHERE = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"
HALF = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 400\r\n\r\nevent: mess"
BROKEN_PROXY = "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<p/>"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (PAGE, WillNeverWork),
        (NONSENSE, TryAgainLater),
        (NOTHING, TryAgainLater),
        (HALF, TryAgainLater),
        (BROKEN_PROXY, TryAgainLater),
        ("", TryAgainLater),
        (ELSEWHERE, WillNeverWork),
    ],
)
async def test_an_answer_that_is_none_ends_in_a_sentence(answer: str, failure: type[Exception]):
    async with saying(answer) as base_url, client(base_url) as model:
        with pytest.raises(failure, match=r"^The model's .*\.$"):
            await model.reply(asked())


@asynccontextmanager
async def saying(answer: str) -> AsyncGenerator[str]:
    """A server that says one thing to everybody and hangs up."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer.encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def test_a_wait_until_a_date_is_understood():
    wait = wanted_wait({"retry-after": format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)})
    assert wait is not None
    assert timedelta(minutes=4) < wait <= timedelta(minutes=5)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("Thu, 01 Jan 2015 00:00:00 GMT", timedelta()),
        ("-5", timedelta()),
        ("1e300", timedelta(days=1)),
        ("inf", None),
        ("soon", None),
        ("", None),
    ],
)
def test_an_odd_wait_does_no_harm(value: str, wait: timedelta | None):
    assert wanted_wait({"retry-after": value}) == wait
