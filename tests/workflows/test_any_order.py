"""Whatever people do, in whatever order: labels stay legal, no comment is lost or told twice, and all goes on."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.policy import LabelNames, Policy
from tests.workflows.fakes import ALICE, BOT
from tests.workflows.house import House, house, until
from workflows import limits

NAMES = LabelNames()
PEOPLES = {"task:misc", "a human's label"}
COMMANDS = ("/pause", "/resume", "/stop", "/retry", "/status", "/dance")
CLOSING = "ありがとうございます"
EVENTS = 14
SHORT_RUN_OF_EVENTS = 40
A_MOMENT = 0.2


class Crowd:
    """People, a watcher that repeats itself, a clock and a model that sometimes refuses."""

    def __init__(self, h: House, chance: random.Random) -> None:
        self.h = h
        self.chance = chance
        self.wishes: dict[str, Comment] = {}
        self.delivered: list[Comment] = []
        self.texts = 0
        self.deeds: list[Callable[[], Awaitable[None]]] = [
            *[self.writes] * 5,
            *(self.is_talked_to_by_a_stranger, self.edits, self.deletes, self.is_thanked, self.repeats),
            *(self.commands, self.commands, self.signals, self.moves_a_label, self.moves_a_label),
            *(self.closes_or_reopens, self.lets_a_day_pass, self.makes_the_model_refuse),
        ]

    @property
    def told(self) -> list[list[str]]:
        """The wishes that each request to the model held, beside what the record of an earlier session says."""
        texts = [
            " ".join(turn.text for turn in transcript.turns if turn.role == "user")
            for transcript in self.h.model.transcripts
        ]
        return [re.findall(r"wish-[\w-]+\.", text) for text in texts]

    @property
    def has_told_everything(self) -> bool:
        """Whether the newest text of every wish that was not deleted was told."""
        newest = {wish for comment in self.wishes.values() for wish in re.findall(r"wish-\d+\.", comment.body)}
        return newest <= {wish for wishes in self.told for wish in wishes}

    async def writes(self) -> None:
        comment = self.h.forge.says(self.chance.choice([ALICE, "maria"]), self._text())
        self.wishes[comment.id] = comment
        await self._deliver(comment)

    async def edits(self) -> None:
        if self.wishes:
            edited = self.h.forge.edits(self.chance.choice(list(self.wishes.values())), self._text())
            self.wishes[edited.id] = edited
            await self._deliver(edited)

    async def deletes(self) -> None:
        if self.wishes:
            self.h.forge.deletes(self.wishes.pop(self.chance.choice(list(self.wishes))))

    async def is_talked_to_by_a_stranger(self) -> None:
        await self._deliver(self.h.forge.says("mallory", "wish-of-a-stranger."))

    async def is_thanked(self) -> None:
        await self._deliver(self.h.forge.says(ALICE, CLOSING))

    async def commands(self) -> None:
        await self._deliver(self.h.forge.says(ALICE, self.chance.choice(COMMANDS)))

    async def repeats(self) -> None:
        if self.delivered:
            await self.h.delivers(*self.chance.choices(self.delivered, k=3))

    async def signals(self) -> None:
        await self.h.workflow.signal(self.chance.choice(["pause", "resume", "stop"]))

    async def moves_a_label(self) -> None:
        label = self.chance.choice(NAMES.states)
        self.h.forge.labels ^= {label}
        await self.tells_how_it_stands()

    async def closes_or_reopens(self) -> None:
        self.h.forge.is_open = not self.h.forge.is_open
        await self.tells_how_it_stands()

    async def tells_how_it_stands(self) -> None:
        state = "open" if self.h.forge.is_open else "closed"
        labels = sorted(self.h.forge.labels)
        await self.h.workflow.signal("issue_changed", {"state": state, "labels": labels, "assignees": []})

    async def lets_a_day_pass(self) -> None:
        await self.h.time.fast_forward(self.h.workflow, timedelta(hours=25))

    async def makes_the_model_refuse(self) -> None:
        self.h.model.refuses = None if self.h.model.refuses else WillNeverWork("The model refuses.")

    async def _deliver(self, comment: Comment) -> None:
        self.delivered.append(comment)
        await self.h.delivers(comment)

    def _text(self) -> str:
        self.texts += 1
        return f"Please look at wish-{self.texts}."


@pytest.mark.req("CH-06", "CH-12", "PR-01", "PR-02", "TW-05")
@pytest.mark.parametrize("seed", range(4))
async def test_a_random_order_of_events_ends_well(
    time: WorkflowEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr(limits, "RENEW_AFTER_EVENTS", SHORT_RUN_OF_EVENTS)
    await _lived_through(time, tmp_path, seed)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.req("CH-06", "CH-12", "PR-01", "PR-02", "TW-05")
@pytest.mark.parametrize("first", range(100, 300, 50))
async def test_two_hundred_random_orders_of_events_end_well(
    time: WorkflowEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
):
    monkeypatch.setattr(limits, "RENEW_AFTER_EVENTS", SHORT_RUN_OF_EVENTS)
    for seed in range(first, first + 50):
        folder = tmp_path / str(seed)
        folder.mkdir()
        await _lived_through(time, folder, seed)


async def _lived_through(time: WorkflowEnvironment, folder: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same events at every run
    policy = Policy(completion_keywords=COMPLETION_KEYWORDS, max_comment_count=5)
    async with house(time, rounds=1, policy=policy).open(folder) as h:
        await h.start()
        await h.workflow.signal("issue_changed", {"labels": sorted(h.forge.labels), "for_work": True})
        crowd = Crowd(h, chance)
        for _ in range(EVENTS):
            await chance.choice(crowd.deeds)()
        await _comes_to_rest(crowd)
        _check(crowd)


async def _comes_to_rest(crowd: Crowd) -> None:
    """Whatever state it is in, it can be left: a pause by resuming, an ended session by one more wish."""
    h = crowd.h
    h.model.refuses, h.forge.is_open = None, True
    await crowd.tells_how_it_stands()
    await until(lambda: _shows_where_it_stands(crowd))
    await h.delivers(*crowd.delivered)
    await crowd.writes()
    revived: set[int] = set()

    async def is_answered() -> bool:
        status = await h.status()
        if status.state == "paused":
            await h.workflow.signal("resume")
        elif status.state in ("stopped", "failed") and status.session not in revived:
            revived.add(status.session)
            await crowd.writes()
        at_rest = status.state in ("awaiting-response", "completed") and not status.comments_pending
        return at_rest and h.forge.labels == PEOPLES | {str(status.state)} and crowd.has_told_everything

    await until(is_answered)


async def _shows_where_it_stands(crowd: Crowd) -> bool:
    """Whether one label tells that it waits or has ended, without another word but to end a pause."""
    status = await crowd.h.status()
    if status.state == "paused":
        await crowd.h.hears(ALICE, "/resume")
        await asyncio.sleep(A_MOMENT)
    stands = status.state not in ("processing", "paused")
    return stands and crowd.h.forge.labels == PEOPLES | {str(status.state)}


def _check(crowd: Crowd) -> None:
    """Nothing was told twice in one conversation, nothing of a stranger, and nothing of ours was said twice."""
    for wishes in crowd.told:
        assert len(wishes) == len(set(wishes))
        assert "wish-of-a-stranger." not in wishes
    markers = [c.body.splitlines()[-1] for c in crowd.h.forge.comments if c.author == BOT]
    assert len(markers) == len(set(markers))
