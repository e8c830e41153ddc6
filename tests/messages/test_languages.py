"""Every sentence exists in Japanese and in English."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_type_hints

import pytest

from hikitsugi import messages
from hikitsugi.domain import life
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Assignment, Outcome, Settlement
from hikitsugi.domain.budget import Budget
from hikitsugi.domain.commands import Word
from hikitsugi.domain.handover import Context
from hikitsugi.domain.life import Life
from hikitsugi.domain.phase_replies import PlanReply
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action, Plan, TurnRef
from hikitsugi.domain.policy import Language, Policy
from hikitsugi.domain.progress import Progress, ReportedCall, Trouble
from hikitsugi.domain.session import Closure, Ending, Handover, Session
from hikitsugi.domain.status import Status
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.verification import CheckRun, Placeholder, Verified
from hikitsugi.domain.workspace import Published
from hikitsugi.messages.command_line import Name
from hikitsugi.messages.dashboard import Order
from hikitsugi.messages.handover import Closing, Source
from hikitsugi.messages.operators import Limiter
from tests.workflows.planner import action, plan

STATUS = Life(change_request="http://forge.example/2", error="It broke.").status(
    IssueAddress(forge="github", repository="octo/repo", number=1), "something"
)
SUBMISSION = Submission(status=SubmissionStatus.BLOCKED, summary="half of it", evidence="12 passed", needs="a key")
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
CONTEXT = Context(
    id="ab12",
    issue=IssueAddress(forge="github", repository="octo/repo", number=1),
    session=1,
    ending=Ending.COMPLETED,
    ended_at=AT,
    summary="It was fixed.",
)
CALL = ReportedCall(number=1, phase=Phase.PLANNING, at=AT)
TROUBLE = Trouble(phase=Phase.EXECUTION, tool="run", message="exit 1", at=AT)
PROGRESS = Progress(
    session=1,
    state="processing",
    phase=Phase.PLANNING,
    plan=Plan(),
    waiting_for="",
    calls=(CALL,),
    troubles=(TROUBLE,),
    cost_usd=None,
    tokens=1,
)
SOURCE = TurnRef(conversation="c", sequence=1)
PLAN = Plan(actions=[Action(id="task_1", title="Mend it", source=SOURCE, is_further=True)])
VERIFIED = Verified(
    commit="c" * 40,
    checks=(CheckRun(command="make test", exit_code=1, tail="1 failed"),),
    placeholders=(Placeholder(path="a.py", line=3, text="pass"),),
    touches_instructions=("AGENTS.md",),
)
EXAMPLES: Mapping[Any, Any] = {
    float | None: 2.5,
    timedelta: timedelta(minutes=30),
    timedelta | None: timedelta(minutes=30),
    Sequence[str]: ["something"],
    Plan: PLAN,
    Plan | None: PLAN,
    Verified: VERIFIED,
    Verified | None: VERIFIED,
    str: "something",
    str | None: "something",
    int: 3,
    float: 2.5,
    bool: True,
    datetime: AT,
    tuple[int, int, int]: (3, 2, 1),
    IssueAddress: IssueAddress(forge="github", repository="octo/repo", number=1),
    Submission | None: SUBMISSION,
    Tally: Tally(checks=1),
    Published: Published(commit="c" * 40, files_changed=1),
    Mapping[str, object]: {"ui": "http://127.0.0.1:8233", "broker": "http://127.0.0.1:8080"},
    Name: Name.TITLE,
    Limiter: "forge",
    Status: STATUS,
    Word: Word.STOP,
    Closure: Closure.SILENCE,
    Policy: Policy(),
    Order: "pause",
    life.Order: life.Order(by="label"),
    Session | None: None,
    Assignment: Assignment(),
    Settlement: Settlement(agent="agent", outcome=Outcome.EXPIRED, lease="1-0"),
    ReportedCall: CALL,
    Trouble: TROUBLE,
    Progress: PROGRESS,
    Phase: Phase.PLANNING,
    Budget: Budget(usd=5, tokens=100),
    Mapping[str, float | None]: {"planning": 0.5},
    Handover: Handover(session=1, ending=Ending.COMPLETED, ended_at=AT, summary="It was fixed."),
    PlanReply | None: PlanReply.model_validate(plan(action(1))),
    Closing: Closing("It fails", CONTEXT, [SUBMISSION], [Source("Use tabs.", None)], None, "It broke."),
}
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")

Sentence = Callable[..., object]


def sentences() -> list[Sentence]:
    names = [found.name for found in pkgutil.iter_modules(messages.__path__)]
    modules = [importlib.import_module(f"{messages.__name__}.{name}") for name in names]
    functions = [each for module in modules for each in vars(module).values() if _is_public_of(each, module.__name__)]
    return [
        each for each in functions if get_type_hints(each).get("language") == Language and each.__name__ != "either"
    ]


def _is_public_of(thing: object, module: str) -> bool:
    return inspect.isfunction(thing) and thing.__module__ == module and not thing.__name__.startswith("_")


def _said(sentence: Sentence, language: Language) -> str:
    hints = get_type_hints(sentence)
    given = {name: EXAMPLES[hints[name]] for name in inspect.signature(sentence).parameters if name != "language"}
    return str(sentence(language=language, **given))


@pytest.mark.req("OP-02")
@pytest.mark.parametrize("sentence", sentences(), ids=lambda each: f"{each.__module__.split('.')[-1]}.{each.__name__}")
def test_a_sentence_is_said_in_japanese_and_otherwise_in_english(sentence: Sentence):
    japanese, english = _said(sentence, "ja"), _said(sentence, "en")
    assert JAPANESE.search(japanese)
    assert english.strip()
    assert english != japanese


@pytest.mark.req("OP-02")
@pytest.mark.parametrize("name", Name)
def test_a_rows_name_is_given_in_both_languages(name: Name):
    japanese, english = name.value
    assert japanese.strip()
    assert english.isascii()


def test_there_are_sentences_to_look_at():
    assert len(sentences()) > 40
