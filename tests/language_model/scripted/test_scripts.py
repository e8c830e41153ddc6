"""Scripts as Python and as YAML."""

from pathlib import Path

import anthropic
import pytest

from hikitsugi.domain.conversation import Turn
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.language_model.scripted import (
    Reaction,
    Request,
    Script,
    ScriptedModel,
    fail,
    first,
    load,
    say,
    serve,
    think,
    use,
)
from tests.language_model.talking import asked, results, talking

PYTHON = """
from hikitsugi.language_model.scripted import Request, fail, first, say, think, use


def reply(request: Request):
    if "reads" not in request.system:
        return fail(400, "wrong system")
    if request.turn == 0:
        return first(1, fail(529), then=think("hm") + use("read", path="a.py") + use("run", command="ls"))
    if request.results_of("read")[-1].is_error:
        return say("no such file")
    return say(f"{request.texts[0]}: {request.results[0].text}, {request.results_of('run')[0].input['command']}")
"""

YAML = """
- when: {text: flaky, turn: 0}
  fail: {status: 429, retry_after: 2}
  times: 2
- when: {text: flaky, turn: 0}
  say: half of this is lost, half of this is lost
  fail: cut
  times: 1
- when: {text: error}
  say: something longer than the rest
  fail: {stream_error: overloaded_error}
- when: {model: claude-haiku-5-5}
  say: a summary
- when: {turn: 0, system: reads}
  think: まず読む
  say: 読みます
  use: [{read: {path: a.py}}, {read: {path: b.py}}]
- when: {tool: read, result: x = 1}
  use: {run: {command: pytest -q}}
- when: {tool: run, result: failed}
  fail: 500
- when: {tool: run}
  say: out of breath
  stop_reason: max_tokens
  delay: 0.01
"""


async def test_a_python_script_reacts_to_what_was_sent(tmp_path: Path):
    (tmp_path / "script.py").write_text(PYTHON)
    transcript = asked(system="It reads.")
    async with talking(load(tmp_path / "script.py")) as (model, _):
        with pytest.raises(TryAgainLater):
            await model.reply(transcript)
        look = await model.reply(transcript)
        answered = asked(*transcript.turns, look.turn, results(look, "x = 1", "a.py"), system="It reads.")
        assert (await model.reply(answered)).turn.text == "hello: x = 1, ls"


async def test_a_yaml_script_takes_the_first_step_that_fits(tmp_path: Path):
    (tmp_path / "script.yaml").write_text(YAML)
    transcript = asked(system="It reads.")
    async with talking(load(tmp_path / "script.yaml")) as (model, _):
        look = await model.reply(transcript)
        assert [call.input["path"] for call in look.turn.tool_calls] == ["a.py", "b.py"]
        turns = (*transcript.turns, look.turn, results(look, "y", "x = 1"))
        run = await model.reply(asked(*turns, system="It reads."))
        assert run.turn.tool_calls[0].input == {"command": "pytest -q"}
        turns = (*turns, run.turn)
        with pytest.raises(TryAgainLater, match="error 500"):
            await model.reply(asked(*turns, results(run, "1 failed"), system="It reads."))
        last = await model.reply(asked(*turns, results(run, "1 passed"), system="It reads."))
        assert (last.turn.text, last.stop_reason) == ("out of breath", "max_tokens")


async def test_faults_with_times_come_so_often_for_the_same_request_and_then_pass(tmp_path: Path):
    (tmp_path / "script.yaml").write_text(YAML)
    flaky = asked(Turn.of_text("user", "flaky"), system="It reads.")
    async with talking(load(tmp_path / "script.yaml")) as (model, _):
        for after in (2, 2, None):
            with pytest.raises(TryAgainLater) as raised:
                await model.reply(flaky)
            assert (raised.value.after.total_seconds() if raised.value.after else None) == after
        assert (await model.reply(flaky)).turn.text == "読みます"
        for _ in range(2):
            with pytest.raises(TryAgainLater):
                await model.reply(asked(Turn.of_text("user", "error")))


async def test_a_request_without_a_fitting_step_is_told_so(tmp_path: Path):
    (tmp_path / "script.yaml").write_text("- when: {turn: 5}\n  say: late\n")
    async with talking(load(tmp_path / "script.yaml")) as (model, _):
        with pytest.raises(WillNeverWork, match="no step for turn 0"):
            await model.reply(asked())


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.yaml", "- sya: hello", r"wrong at 0\.sya"),
        ("a.yaml", "- say: [", "is not YAML"),
        ("a.yaml", "say: hello", "wrong at file"),
        ("a.yaml", "- fail: torn", "wrong at 0.fail"),
        ("a.py", "x = 1", "no function reply"),
    ],
)
def test_a_script_with_a_mistake_is_refused_with_its_place(tmp_path: Path, name: str, content: str, sentence: str):
    (tmp_path / name).write_text(content)
    with pytest.raises(WillNeverWork, match=sentence):
        load(tmp_path / name)


def _nothing(_: Request) -> None:
    return None


def _breaks(_: Request) -> Reaction:
    raise KeyError("plan")


@pytest.mark.parametrize(("script", "sentence"), [(_nothing, "no reply for turn 0"), (_breaks, "KeyError: 'plan'")])
async def test_a_script_that_goes_wrong_is_named(script: Script, sentence: str):
    async with talking(script) as (model, _):
        with pytest.raises(WillNeverWork, match=sentence):
            await model.reply(asked())


@pytest.mark.parametrize(
    ("reaction", "problem"),
    [
        (say('{"goal": "x", "steps": []}'), None),
        (use("read", path="a"), None),
        (say('{"goal": "x"}'), "requires steps"),
        (say("The plan is this."), "wants JSON"),
    ],
)
async def test_a_request_for_a_form_gets_it_or_the_script_is_told(reaction: Reaction, problem: str | None):
    schema: dict[str, object] = {"type": "object", "required": ["goal", "steps"]}
    async with (
        serve(ScriptedModel(lambda _: reaction)) as base_url,
        anthropic.AsyncAnthropic(base_url=base_url, api_key="scripted", max_retries=0) as model,
    ):
        asking = model.messages.create(
            model="claude-opus-5-5",
            max_tokens=100,
            messages=[{"role": "user", "content": "plan"}],
            output_config={"format": {"type": "json_schema", "schema": schema}},
        )
        if problem is None:
            assert (await asking).content
        else:
            with pytest.raises(anthropic.BadRequestError, match=problem):
                await asking


async def test_a_fault_within_a_fault_takes_its_turn():
    script = first(1, fail(529), then=first(1, fail(500), then=say("at last")))
    async with talking(lambda _: script) as (model, scripted):
        for sentence in ("overloaded", "error 500"):
            with pytest.raises(TryAgainLater, match=sentence):
                await model.reply(asked())
        assert (await model.reply(asked())).turn.text == "at last"
        assert [received.answered for received in scripted.requests] == [False, False, True]


def test_putting_parts_together_loses_nothing():
    whole = think("hm").delayed(1) + say("hi").delayed(2).cut() + use("read", path="a").ending("max_tokens")
    assert (len(whole.parts), whole.delay, whole.stop_reason) == (3, 3, "max_tokens")
    assert whole.breakage == say("").cut().breakage
