"""What was read or written last, kept at hand: a turn never changes once it is stored."""

from collections import OrderedDict
from typing import Generic, TypeVar

V = TypeVar("V")
_MOST = 32


class Recent(Generic[V]):
    """One value for each of the conversations used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, V] = OrderedDict()

    def get(self, conversation: str) -> V | None:
        """What is kept of a conversation, if anything."""
        return self._kept.get(conversation)

    def keep(self, conversation: str, value: V) -> V:
        """Keep something of a conversation; the one that was used least recently gives way."""
        self._kept[conversation] = value
        self._kept.move_to_end(conversation)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return value
