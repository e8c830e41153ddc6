"""How often one agent may ask: so many at once, and then so many a second."""

from collections import OrderedDict
from collections.abc import Callable

_AT_ONCE = 60.0
_PER_SECOND = 20.0
_REMEMBERED = 10_000


class Pace:
    """A bucket for each agent that fills with time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, agent: str) -> float:
        """Count a request; how many seconds the agent must wait first, 0 when it need not."""
        now = self._clock()
        left, at = self._buckets.pop(agent, (_AT_ONCE, now))
        left = min(_AT_ONCE, left + (now - at) * _PER_SECOND)
        may = left >= 1
        self._buckets[agent] = (left - 1 if may else left, now)
        while len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return 0 if may else (1 - left) / _PER_SECOND
