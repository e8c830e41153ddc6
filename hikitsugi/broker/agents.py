"""Who the agents are: ids that can be labels, tokens that prove them, and what each may be given."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest

from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.selection import NEVER_GIVEN, PRIORITIES
from hikitsugi.domain.value import Value

AGENT_ID = r"^[a-z0-9][a-z0-9-]{0,38}$"


class Pass(Value):
    """The proof of one agent, as its hash, and what it may be given; nothing named means everything."""

    sha256: str
    roles: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()


class Agents:
    """Knows whom to let in; without any tokens configured, everybody on this machine."""

    def __init__(self, passes: Mapping[str, Pass], labels: LabelNames, others: Iterable[str] = ()) -> None:
        self._passes = dict(passes)
        ours = [*labels.states, labels.in_progress, labels.needs_review, *labels.trigger, *others]
        self._reserved = frozenset({label.casefold() for label in ours} | NEVER_GIVEN | set(PRIORITIES))

    @property
    def need_tokens(self) -> bool:
        """Whether agents must prove who they are."""
        return bool(self._passes)

    def with_token(self, token: str) -> str | None:
        """Whose token it is; every known one is compared, so that the time tells nothing."""
        given = hashlib.sha256(token.encode()).hexdigest()
        found = [agent for agent, known in self._passes.items() if compare_digest(known.sha256, given)]
        return found[0] if found else None

    def may_be_called(self, agent_id: str) -> bool:
        """Whether an id can be a label of its own."""
        return re.fullmatch(AGENT_ID, agent_id) is not None and agent_id not in self._reserved

    def roles_of(self, agent: str, configured: Sequence[str], wanted: str | None) -> list[str]:
        """The roles an agent may be given tasks for."""
        allowed = {role.casefold() for role in self._passes[agent].roles} if agent in self._passes else set[str]()
        return [
            role
            for role in configured
            if (not allowed or role.casefold() in allowed) and (not wanted or wanted.casefold() == role.casefold())
        ]

    def may_work_in(self, agent: str, repository: str) -> bool:
        """Whether an agent may be given tasks of a repository."""
        allowed = self._passes[agent].repositories if agent in self._passes else ()
        return not allowed or repository.casefold() in {name.casefold() for name in allowed}
