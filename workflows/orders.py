"""What people want of an issue, by signal, label or command, and whether a session is called for."""

from collections.abc import Callable

from hikitsugi.domain.commands import Command, Word
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.labels import Wish
from hikitsugi.domain.life import BUDGET, IssueFacts, Life, Order
from hikitsugi.domain.policy import Language
from hikitsugi.domain.status import Status
from hikitsugi.messages import budget as budget_texts
from hikitsugi.messages import commands as command_texts
from hikitsugi.messages import comments, operators
from workflows.living_comment import LivingComment
from workflows.purse import Purse


class Orders:
    """Whoever gives an order and however, it is obeyed in the same way."""

    def __init__(
        self, life: Life, living: LivingComment, purse: Purse, status: Callable[[], Status], *, is_called: bool
    ) -> None:
        self._life = life
        self._living = living
        self._purse = purse
        self._status = status
        self.is_called = is_called
        """Whether a session is wanted or under way."""
        self.is_asked_for = False
        """Whether somebody called for it in this run."""

    def pause(self, order: Order) -> None:
        """Close the gate."""
        self._life.pause_by(order)
        self._living.pause_is_asked()

    def resume(self) -> None:
        """Open the gate."""
        self._life.hold = None

    def stop(self, order: Order, *, by_comment: bool = False) -> None:
        """End the session, if one is under way."""
        if self.is_called:
            self._life.end_by(order, by_comment=by_comment)

    def call(self) -> None:
        """Somebody wants a session; while one is being stopped, the next."""
        self.is_called = self.is_asked_for = True
        self._life.called_again = self._life.stop is not None

    def follow(self, facts: IssueFacts) -> bool:
        """Obey what closing, reopening, assigning or the trigger label ask for; False when only labels are left."""
        if self._life.loses_bot(facts):
            self.stop(Order(by="forge", reason=operators.is_unassigned(self._language)))
        if self._life.calls_again(facts) or (self._life.is_new and facts.for_work):
            self.call()
        elif facts.state != "open":
            self.stop(Order(by="forge", reason=operators.is_closed(self._language), closing=True))
        else:
            return False
        return True

    def grant(self, wish: Wish) -> bool:
        """What somebody asked for by a label; False when there is nothing to grant."""
        by_label = Order(by="label")
        if wish is Wish.RESUME:
            self.resume()
        elif wish is Wish.PAUSE:
            self.pause(by_label)
        elif self.is_called:
            self.stop(by_label)
        else:
            return False
        return True

    def obey(self, command: Command, comment: Comment) -> str | None:
        """What somebody asked for by a command; the answer, if it needs one."""
        order = Order(by=comment.author, reason=command.text)
        match command.word:
            case Word.PAUSE:
                self.pause(order)
                self._life.tells_hold = self._life.session is None
                return None if self._life.session else command_texts.rests_paused(self._language, self._life.mention)
            case Word.RESUME if self._life.hold and self._life.hold.by == BUDGET:
                return budget_texts.awaits(self._language, self._life.mention)
            case Word.BUDGET:
                return self._purse.grant(command.text)
            case Word.RESUME if self._life.hold:
                self.resume()
            case Word.STOP if self.is_called:
                self.stop(order, by_comment=True)
            case Word.RETRY if self._can_be_called:
                self.call()
            case Word.APPROVE | Word.REVISE if self._life.can_be_steered(command.word):
                self._life.steer(command.word, comment)
            case Word.STATUS:
                return command_texts.status(self._language, self._status())
            case word:
                return self._cannot(word)
        return None

    @property
    def _can_be_called(self) -> bool:
        """Whether no session is under way, or one that is being stopped, and nothing speaks against another."""
        return not self._life.is_known_closed and (self._life.stop is not None or not self.is_called)

    def _cannot(self, word: Word | None) -> str:
        """The answer to a command that is unknown or has no meaning at the moment."""
        if word is None:
            return command_texts.not_understood(self._language, self._life.mention)
        if word is Word.RETRY and self._life.is_known_closed:
            return comments.reopen(self._language)
        return command_texts.not_now(self._language, word, self._life.mention)

    @property
    def _language(self) -> Language:
        return self._life.policy.language
