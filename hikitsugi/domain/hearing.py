"""What people wrote on an issue and nobody has dealt with yet."""

from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from hikitsugi.domain.issue import Comment
from hikitsugi.domain.portion import portion
from hikitsugi.domain.value import Sparse
from hikitsugi.domain.waiting import Waiting

_REMEMBERED = 500
_ASKED_AT_ONCE = 100
_TOLD_AT_ONCE = 500
_CHARACTERS_ASKED = 100_000
_CHARACTERS_TOLD = 60_000
_CHARACTERS_CARRIED = 60_000
_MOST_WAITING = 10_000


class Hearing(Sparse, BaseModel):
    """Comments on their way: received, heard from people who count, told to the model."""

    pending: dict[str, Comment] = {}
    """Received, but not yet asked whether its author counts."""
    heard: dict[str, Waiting] = {}
    """By people who count, but not yet given to the model."""
    told: list[str] = []
    """The versions told last, because one of them may be asked about while it is told."""
    said_before_stop: list[str] = []
    """The versions that were pending when the session was stopped; they do not call for another."""
    overlooked: int = 0
    """How many waited in vain, because even more came after them."""
    received: dict[str, str] = {}
    """The last comments that came, each with the time of its newest text."""
    wordings: dict[str, str] = {}
    """Names the newest text of each of these, where it is known."""
    obeyed: list[str] = []
    """The last commands, because a delivery may come again much later."""
    orders: dict[str, str] = {}
    """What each of these last asked for."""
    found: int = 0

    def receive(self, comment: Comment) -> bool:
        """Keep a comment until it is heard, and put an edit in place; whether it is news.

        A repeated or older delivery is none, nor is a comment that was touched by an emoji on it.
        """
        known, at = self.received.get(comment.id), comment.at
        if known is not None and at <= known:
            return False
        is_same = bool(comment.wording) and comment.wording == self.wordings.get(comment.id)
        self._note(comment)
        if is_same:
            return False
        told_before = known is not None and comment.id not in self.pending and comment.id not in self.heard
        self.found += 1
        self.pending[comment.id] = comment.model_copy(update={"edited": True}) if told_before else comment
        return True

    def _note(self, comment: Comment) -> None:
        """Remember the newest text that came of a comment."""
        for newest, mark in ((self.received, comment.at), (self.wordings, comment.wording)):
            newest.pop(comment.id, None)
            newest[comment.id] = mark
            if len(newest) > _REMEMBERED:
                del newest[next(iter(newest))]

    @property
    def next_pending(self) -> tuple[Comment, ...]:
        """The oldest of the pending comments, as many as one step can ask about."""
        return portion(self.pending.values(), lambda c: len(c.body), _ASKED_AT_ONCE, _CHARACTERS_ASKED)

    @property
    def is_light(self) -> bool:
        """Whether it can be carried into a fresh run, which takes no more than 2 MB."""
        few = len(self.pending) <= _ASKED_AT_ONCE
        return few and sum(len(comment.body) for comment in self.pending.values()) <= _CHARACTERS_CARRIED

    def hear(self, asked: Sequence[Comment], accepted: Sequence[Waiting]) -> None:
        """Some pending comments were asked about; the accepted ones wait for the model, a newer text stays pending."""
        for comment in asked:
            newest = self.pending.get(comment.id)
            if newest and newest.version == comment.version:
                del self.pending[comment.id]
        told = _newest_in(self.told)
        new = [each for each in accepted if each.id not in told or each.at > told[each.id]]
        before = frozenset(self.said_before_stop)
        self.heard |= {each.id: each.model_copy(update={"passed_over": each.version in before}) for each in new}
        for oldest in list(self.heard)[: max(0, len(self.heard) - _MOST_WAITING)]:
            del self.heard[oldest]
            self.overlooked += 1

    @property
    def next_heard(self) -> tuple[Waiting, ...]:
        """The oldest of what waits for the model, as much as one turn can hold."""
        return portion(self.heard.values(), lambda w: w.size, _TOLD_AT_ONCE, _CHARACTERS_TOLD)

    def forget_heard(self, dealt_with: Iterable[str]) -> None:
        """Versions of comments were told, or are gone; a later text than the told one stays, as an edit."""
        versions = frozenset(dealt_with)
        self.told = [*self.told, *sorted(versions)][-_REMEMBERED:]
        told = _newest_in(versions)
        left = [waiting for waiting in self.heard.values() if waiting.id not in told or waiting.at > told[waiting.id]]
        later = [waiting.model_copy(update={"edited": True}) if waiting.id in told else waiting for waiting in left]
        self.heard = {waiting.id: waiting for waiting in later}

    @property
    def only_closing_is_heard(self) -> bool:
        """Whether all that was heard says nothing but that all is well."""
        return all(waiting.closing for waiting in self.heard.values())

    @property
    def somebody_writes(self) -> bool:
        """Whether something was heard since the last session was stopped or failed."""
        return any(not waiting.passed_over for waiting in self.heard.values())

    def draw_a_line(self, *, before_pending: bool = False) -> None:
        """A session is stopped: what came until now waits until somebody calls for another, what comes later calls.

        Comments are heard in order: what is pending when a comment stops the session was said after it.
        """
        pending = [] if before_pending else [comment.version for comment in self.pending.values()]
        self.said_before_stop = pending[-_REMEMBERED:]
        self.pass_over()

    def pass_over(self) -> None:
        """A session is stopped or fails: what was heard before waits until somebody calls for another."""
        self.heard = {id_: waiting.model_copy(update={"passed_over": True}) for id_, waiting in self.heard.items()}

    def forget_thanks(self) -> None:
        """At rest, words that say nothing but that all is well call for nothing."""
        if all(waiting.closing or waiting.passed_over for waiting in self.heard.values()):
            self.heard = {id_: waiting for id_, waiting in self.heard.items() if not waiting.closing}

    def is_new_command(self, comment_id: str, order: str = "", *, edited: bool = False) -> bool:
        """Whether a command was not obeyed before, or was edited into another; from now on it was."""
        if comment_id in self.obeyed and not (edited and self.orders.get(comment_id, order) != order):
            return False
        self.obeyed = [*(id_ for id_ in self.obeyed if id_ != comment_id), comment_id][-_REMEMBERED:]
        self.orders = {id_: self.orders[id_] for id_ in self.obeyed if id_ in self.orders} | {comment_id: order}
        return True


def _newest_in(versions: Iterable[str]) -> dict[str, str]:
    """The time of the latest text of each comment; an earlier one may still be asked about while it is told."""
    newest: dict[str, str] = {}
    for version in versions:
        id_, _, at = version.rpartition("@")
        newest[id_] = max(at, newest.get(id_, ""))
    return newest
