"""A forge that does not tell who we are."""

from hikitsugi.domain.errors import WillNeverWork
from tests.workflows.fakes import FakeForge


class NamelessForge(FakeForge):
    """A forge whose token may not ask who it is."""

    async def whoami(self) -> str:
        raise WillNeverWork("The token may not read its own name.")

    async def our_names(self) -> frozenset[str]:
        return frozenset()
