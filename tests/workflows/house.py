"""A whole house around one issue: real Temporal, real store, fakes outside."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Interceptor, Worker

from activities.compression_activities import CompressionActivities
from activities.failures import FailureTranslation
from activities.forge_activities import ForgeActivities
from activities.handover_activities import HandoverActivities
from activities.heartbeat import Heartbeat
from activities.memory_activities import MemoryActivities
from activities.planning_activities import PlanningActivities
from activities.progress_activities import ProgressActivities
from activities.thinking_activities import ThinkingActivities
from activities.workspace_activities import WorkspaceActivities
from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.app.temporal import BUILD, WORKFLOWS
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Language, Policy
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.status import Status
from hikitsugi.language_model.tokens import estimate
from hikitsugi.memory.opening import open_memory
from tests.workflows.fakes import FakeForge, FakeModel, FakeSummarist, FakeWorkshop, Script, submits_after
from workflows.issue_workflow import IssueWorkflow

GENEROUS = 60.0


class House:
    """One issue with its workflow, its forge, its model and its workshop."""

    def __init__(self, time: WorkflowEnvironment, script: Script, policy: Policy) -> None:
        self.time = time
        self.issue = IssueAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}", number=1)
        self.forge = FakeForge(self.issue)
        self.model = FakeModel(script)
        self.summarist = FakeSummarist()
        self.workshop = FakeWorkshop()
        self.policies = {"github": policy}
        self.task_queue = f"house-{uuid4().hex[:8]}"

    @asynccontextmanager
    async def open(self, folder: Path, interceptors: tuple[Interceptor, ...] = ()) -> AsyncGenerator["House"]:
        """Run the worker."""
        async with open_memory(f"sqlite+aiosqlite:///{folder / 'memory.db'}") as memory:
            forges = {"github": self.forge}
            forge = ForgeActivities(forges, self.policies, memory, Redactor(), confined=True)
            planning = PlanningActivities(memory, forges, _phase_prompt, Redactor())
            store = MemoryActivities(memory, forges, _system_prompt, (), memory.records, estimate)
            between = HandoverActivities(memory.records, memory, forges, self.summarist, _summary_prompt, estimate)
            thinking = ThinkingActivities(self.model, memory, Redactor(), memory.records)
            shortening = CompressionActivities(memory, memory.records, self.summarist, _summary_prompt, estimate)
            workspace = WorkspaceActivities(
                self.task_queue,
                self.workshop,
                self.workshop,
                memory,
                forges,
                measure=estimate,
                records=memory.records,
            )
            async with Worker(
                self.time.client,
                task_queue=self.task_queue,
                workflows=WORKFLOWS,
                activities=[
                    *(forge.take_up, forge.hear, forge.show_state, forge.post_comment),
                    *(forge.open_change_request, forge.post_result, forge.reconcile),
                    *(planning.open_phase, planning.send_back, planning.ask_people, planning.propose_plan),
                    ProgressActivities(forges, memory.records, Redactor()).show_progress,
                    *(workspace.verify, workspace.read_instructions),
                    *(store.open_conversation, store.tell_comments, store.tell_to_go_on),
                    *(between.take_over, between.hand_over, shortening.compress),
                    *(thinking.think, workspace.prepare_workspace, workspace.use_tools, workspace.publish),
                ],
                build_id=BUILD,
                interceptors=[FailureTranslation(Redactor()), Heartbeat(), *interceptors],
                max_heartbeat_throttle_interval=timedelta(milliseconds=100),
                graceful_shutdown_timeout=timedelta(seconds=5),
            ):
                yield self

    async def start(self) -> WorkflowHandle[IssueWorkflow, None]:
        """Begin the workflow; its clock moves only when told."""
        with self.time.with_time_skipping_disabled():
            return await self.time.client.start_workflow(
                IssueWorkflow.run, id=str(self.issue), task_queue=self.task_queue
            )

    @property
    def workflow(self) -> WorkflowHandle[IssueWorkflow, None]:
        """The newest run of the issue's workflow."""
        return self.time.client.get_workflow_handle_for(IssueWorkflow.run, str(self.issue))

    async def status(self) -> Status:
        """What the `status` query says, once a run that has just begun can answer it."""
        while True:
            try:
                return await self.workflow.query(IssueWorkflow.status)
            except RPCError as error:
                if "not scheduled yet" not in str(error):
                    raise

    async def comes_to(self, state: str) -> Status:
        """Wait until the issue is in a state, on the forge too."""
        await until(lambda: self._is_in(state))
        return await self.status()

    async def _is_in(self, state: str) -> bool:
        return (await self.status()).state == state and state in self.forge.labels

    async def size(self, run_id: str) -> tuple[int, int]:
        """Events and bytes of all runs of a session, from its first."""
        events = await self.history(run_id)
        return len(events), sum(event.ByteSize() for event in events)

    async def history(self, run_id: str) -> list[HistoryEvent]:
        """The events of all runs of a session, from its first."""
        events: list[HistoryEvent] = []
        while run_id:
            history = await self.time.client.get_workflow_handle(str(self.issue), run_id=run_id).fetch_history()
            events += history.events
            run_id = events[-1].workflow_execution_continued_as_new_event_attributes.new_execution_run_id
        return events

    async def hears(self, author: str, body: str) -> None:
        """Somebody comments, and the watcher delivers it."""
        await self.delivers(self.forge.says(author, body))

    async def delivers(self, *comments: Comment) -> None:
        """The watcher sends what it saw."""
        said = [comment.model_copy(update={"watched": True}).model_dump(mode="json") for comment in comments]
        await self.workflow.signal("comment", said)


def house(time: WorkflowEnvironment, rounds: int = 2, policy: Policy | None = None) -> House:
    """A house whose model works some rounds before it submits."""
    ours = policy or Policy(completion_keywords=COMPLETION_KEYWORDS)
    return House(time, submits_after(rounds), ours)


async def until(condition: Callable[[], Awaitable[bool]], patience: float = GENEROUS) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(patience):
        while not await condition():  # noqa: ASYNC110 - another process has no event to give us
            await asyncio.sleep(0.02)


def _phase_prompt(phase: Phase, language: Language, repository: str) -> str:
    return f"{phase} on {repository} in {language}."


def _system_prompt(language: Language, repository: str) -> str:
    return f"Work on {repository} in {language}."


def _summary_prompt(language: Language) -> str:
    return f"Close the record in {language}."
