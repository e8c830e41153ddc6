"""The client continues a conversation over real HTTP."""

from decimal import Decimal

import pytest

from hikitsugi.domain.conversation import Reply, Transcript, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.language_model.scripted import Reaction, Request, ScriptedModel, say, serve, think, use
from tests.language_model.talking import KEY, LONG_SYSTEM, asked, client, results, talking


async def test_a_text_comes_back_whole():
    async with talking(lambda request: say(f"「{request.text}」と聞きました。" * 20)) as (model, _):
        reply = await model.reply(asked())
    assert reply.turn == Turn.of_text("assistant", "「hello」と聞きました。" * 20)
    assert (reply.stop_reason, reply.model) == ("end_turn", "claude-opus-5-5")


async def test_calls_in_parallel_arrive_in_one_turn_and_their_results_go_back_in_one_message():
    def script(request: Request) -> Reaction:
        if request.turn == 0:
            return say("I look.") + use("read", path="a.py") + use("run", command="日本語", deep={"n": [1, 2.5, None]})
        return say(" / ".join(f"{result.tool}={result.text}" for result in request.results))

    async with talking(script) as (model, scripted):
        first = await model.reply(asked())
        opening = asked().turns
        comment = Turn.of_text("user", "また今度")
        second = await model.reply(asked(*opening, first.turn, results(first, "one", "two"), comment))
    assert [(call.name, call.input) for call in first.turn.tool_calls] == [
        ("read", {"path": "a.py"}),
        ("run", {"command": "日本語", "deep": {"n": [1, 2.5, None]}}),
    ]
    assert first.stop_reason == "tool_use"
    assert second.turn.text == "read=one / run=two"
    kinds = [block.type for block in scripted.requests[-1].body.messages[-1].content]
    assert kinds == ["tool_result", "tool_result", "text"]


async def test_a_comment_stored_before_the_results_is_sent_after_them():
    def script(request: Request) -> Reaction:
        return use("read", path="a") if request.turn == 0 else say(request.text)

    async with talking(script) as (model, _):
        first = await model.reply(asked())
        comment = Turn.of_text("user", "wait")
        second = await model.reply(asked(*asked().turns, first.turn, comment, results(first, "x")))
    assert second.turn.text == "wait"


async def test_thinking_goes_back_unchanged_over_several_turns():
    def script(request: Request) -> Reaction:
        if request.turn < 3:
            return think(f"考え {request.turn}") + say("so") + think("more") + use("read", path=str(request.turn))
        return say("done")

    async with talking(script) as (model, _):
        turns = asked().turns
        for _ in range(3):
            reply = await model.reply(asked(*turns))
            assert [block["type"] for block in reply.turn.content] == ["thinking", "text", "thinking", "tool_use"]
            turns = (*turns, reply.turn, results(reply, "content"))
        last = await model.reply(asked(*_stored(turns)))
    assert last.turn.text == "done"


def _stored(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    transcript = Transcript(system="", tools=(), turns=turns)
    return Transcript.model_validate_json(transcript.model_dump_json()).turns


async def test_a_changed_system_text_invalidates_the_thoughts_before_it():
    async with talking(lambda _: think("hm") + say("yes")) as (model, _):
        first = await model.reply(asked())
        later = (*asked().turns, first.turn, Turn.of_text("user", "again"))
        with pytest.raises(WillNeverWork, match="bound to a different conversation"):
            await model.reply(asked(*later, system="Changed."))


@pytest.mark.req("OP-03")
async def test_the_cached_part_grows_with_the_conversation_and_is_priced_as_such():
    replies: list[Reply] = []
    async with talking(lambda request: use("read", path=str(request.turn))) as (model, _):
        turns = asked().turns
        for _ in range(4):
            reply = await model.reply(asked(*turns, system=LONG_SYSTEM))
            turns = (*turns, reply.turn, results(reply, "内容" * 100))
            replies.append(reply)
    read = [reply.usage.cache_read_tokens for reply in replies]
    assert read[0] == 0
    assert read == sorted(set(read))
    assert all(later.usage.cache_write_tokens < replies[0].usage.cache_write_tokens for later in replies[1:])
    usage = replies[-1].usage
    expected = usage.cache_read_tokens * Decimal("0.2") + usage.cache_write_tokens * 5 + usage.output_tokens * 20
    assert replies[-1].cost_usd == (expected + usage.input_tokens * 4) / 1_000_000


@pytest.mark.req("OP-03")
async def test_a_model_without_a_price_costs_nobody_knows_what():
    scripted = ScriptedModel(lambda _: say("hi"), api_key=KEY)
    async with serve(scripted) as base_url, client(base_url, model="claude-mythos-5-2") as model:
        reply = await model.reply(asked())
    assert reply.cost_usd is None
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "model_context_window_exceeded"])
async def test_an_unusual_end_is_reported_and_no_error(reason: str):
    async with talking(lambda _: say("half a").ending(reason)) as (model, _):
        reply = await model.reply(asked())
    assert reply.stop_reason == reason


async def test_an_empty_reply_does_not_spoil_the_conversation():
    async with talking(lambda request: say("back") if "still" in request.text else say("")) as (model, _):
        empty = await model.reply(asked())
        reply = await model.reply(asked(*asked().turns, empty.turn, Turn.of_text("user", "still there?")))
    assert (empty.turn.text, reply.turn.text) == ("", "back")


async def test_a_killed_caller_that_asks_again_gets_an_equal_reply():
    def script(_: Request) -> Reaction:
        return think("hm") + say("I look.") + use("read", path="a") + use("read", path="b")

    async with talking(script) as (model, scripted):
        once = await model.reply(asked(system=LONG_SYSTEM))
        again = await model.reply(asked(system=LONG_SYSTEM))
        assert scripted.paid == 2
    assert once == again
    assert len({call.id for call in once.turn.tool_calls}) == 2


@pytest.mark.req("OP-05")
async def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with talking(lambda _: say("hi")) as (model, scripted):
        assert (await model.reply(asked())).turn.text == "hi"
        assert scripted.paid == 1


@pytest.mark.req("OP-05")
@pytest.mark.parametrize("key", ["", "  \n", "sk-ant-ab\ncd", "鍵"])
async def test_a_key_that_cannot_be_one_is_refused_before_anything_is_sent(key: str):
    async with client("http://127.0.0.1:9", key=key) as model:
        with pytest.raises(WillNeverWork, match=r"set llm\.api_key"):
            await model.reply(asked())


@pytest.mark.req("PL-01")
async def test_a_phase_asks_for_its_form_in_every_turn_and_other_conversations_for_none():
    verdict = '{"status": "success", "evaluation": "x", "issues": [], "root_cause": "", "revise": false}'

    def script(request: Request) -> Reaction:
        return use("read", path="a") if request.turn == 0 and request.form else say(verdict)

    async with talking(script) as (model, scripted):
        opening = asked().model_copy(update={"purpose": "reflection"})
        first = await model.reply(opening)
        turns = (*opening.turns, first.turn, results(first, "x"))
        await model.reply(opening.model_copy(update={"turns": turns}))
        await model.reply(asked())
    assert [received.body.form for received in scripted.requests] == ["Reflection", "Reflection", ""]
    assert {received.body.output_config.effort for received in scripted.requests} == {"high"}


async def test_a_reply_that_was_cut_off_arrives_although_it_breaks_the_form():
    async with talking(lambda _: say('{"status": "suc').ending("max_tokens")) as (model, _):
        reply = await model.reply(asked().model_copy(update={"purpose": "reflection"}))
    assert (reply.stop_reason, reply.turn.text) == ("max_tokens", '{"status": "suc')
