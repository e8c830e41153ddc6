"""Where requests wait: one ring wakes one who fits, and nobody looks again and again."""

import asyncio
from collections.abc import Collection, Generator
from contextlib import contextmanager
from datetime import timedelta


class Seat:
    """One waiting request, and what it waits for."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = set(names)
        self.heard: set[str] = set()
        self.woken = asyncio.Event()
        self.is_waiting = False

    def clear(self) -> None:
        """Forget earlier rings, before looking anew."""
        self.heard.clear()
        self.woken.clear()

    async def rung(self, within: timedelta) -> bool:
        """Wait for a ring; False when none came in time."""
        self.is_waiting = True
        try:
            await asyncio.wait_for(self.woken.wait(), within.total_seconds())
        except TimeoutError:
            return False
        finally:
            self.is_waiting = False
        return True


class WaitingRoom:
    """All waiting requests of this process, longest first."""

    def __init__(self) -> None:
        self._seats: list[Seat] = []
        self.is_closed = False

    def __len__(self) -> int:
        return len(self._seats)

    @contextmanager
    def seat(self, names: Collection[str]) -> Generator[Seat]:
        """Wait for any of these names; a ring that was heard but not used goes to the next."""
        seat = Seat(names)
        self._seats.append(seat)
        try:
            yield seat
        finally:
            self._seats.remove(seat)
            for name in seat.heard:
                self.ring(name)

    def ring(self, name: str, but: Seat | None = None) -> None:
        """Wake the one who has waited longest for it; who is just being served looks again if nobody waits."""
        others = (seat for seat in self._seats if seat is not but)
        fitting = [seat for seat in others if name in seat.names and not seat.woken.is_set()]
        for seat in sorted(fitting, key=lambda each: not each.is_waiting)[:1]:
            seat.heard.add(name)
            seat.woken.set()

    def ring_all(self) -> None:
        """Wake everybody, because rings may have been missed."""
        for seat in self._seats:
            seat.woken.set()

    def close(self) -> None:
        """Send everybody home."""
        self.is_closed = True
        self.ring_all()
