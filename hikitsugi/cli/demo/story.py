"""Tells in the terminal what happens, as it happens."""

import asyncio
from collections.abc import Callable, Iterator

from hikitsugi.cli.demo import sample
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.records import Issue
from hikitsugi.domain.policy import Language
from hikitsugi.domain.tools import ToolCall
from hikitsugi.language_model.scripted import ScriptedModel
from hikitsugi.messages import demo

_LOOK_EVERY = 0.2


class Story:
    """What was told so far of the issue on the forge and of the model."""

    def __init__(
        self, forge: DevForge, model: ScriptedModel, base_url: str, language: Language, ends_as: str | None = None
    ) -> None:
        self._forge = forge
        self._model = model
        self._base_url = base_url
        self._language: Language = language
        self._ends_as = ends_as or "awaiting-response"
        self._labels: tuple[str, ...] = ()
        self._comments = 0
        self._calls = 0
        self._requests = 0

    async def follow(self, say: Callable[[str], None]) -> None:
        """Tell every change until cancelled."""
        while True:
            for line in self.news():
                say(line)
            await asyncio.sleep(_LOOK_EVERY)

    def news(self) -> Iterator[str]:
        """What has happened since the last look."""
        for pull in self._forge.pulls(sample.REPOSITORY)[self._requests :]:
            self._requests += 1
            yield demo.request_opened(self._language, self._page(pull))
        yield from self._new_comments()
        labels = tuple(self._forge.issue(sample.REPOSITORY, sample.ISSUE_NUMBER).labels)
        if labels != self._labels:
            self._labels = labels
            yield demo.labels(self._language, ", ".join(labels))
        for received in self._model.requests[self._calls :]:
            self._calls += 1
            for result in received.body.results:
                call = ToolCall(id="", name=result.tool, input=result.input)
                yield demo.tool_used(call.label, result.text, is_error=result.is_error)
            yield demo.model_asked(self._language, self._calls)

    def _new_comments(self) -> Iterator[str]:
        for comment in self._forge.comments(sample.REPOSITORY, sample.ISSUE_NUMBER)[self._comments :]:
            self._comments += 1
            lines = comment.body.strip().splitlines()
            yield demo.commented(self._language, comment.author.login, lines[0] if lines else "")

    @property
    def issue_page(self) -> str:
        """The address of the issue's page for people."""
        return self._page(self._forge.issue(sample.REPOSITORY, sample.ISSUE_NUMBER))

    def _page(self, one: Issue) -> str:
        home = self._forge.repository(sample.REPOSITORY)
        return f"{self._base_url}/{home.place_of(one).lstrip('/')}"

    @property
    def is_told(self) -> bool:
        """Whether the pull request is open and the issue awaits a reply, or a review."""
        return self._requests > 0 and self._ends_as in self._labels
