"""All parts, made from the settings and put together in one place."""

import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from opentelemetry.trace import Tracer
from pydantic import SecretStr
from temporalio.client import Client

from activities.assignment_activities import AssignmentActivities
from activities.board_keeper import BoardKeeper
from activities.compression_activities import CompressionActivities
from activities.forge_activities import ForgeActivities
from activities.handover_activities import HandoverActivities
from activities.housekeeping_activities import HousekeepingActivities, SweepingActivities
from activities.memory_activities import MemoryActivities
from activities.planning_activities import PlanningActivities
from activities.progress_activities import ProgressActivities
from activities.thinking_activities import ThinkingActivities
from activities.watch_activities import WatchActivities
from activities.workspace_activities import WorkspaceActivities
from hikitsugi.app.deliveries import SignalDeliveries
from hikitsugi.app.household import TemporalHousehold
from hikitsugi.app.policies import homes_for_agents, label_names, policy, rules
from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.app.settings_sections import CommentDetection
from hikitsugi.app.traces import tracer_to
from hikitsugi.domain.board import Board
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.ports import Doorbell, Forge, LanguageModel, Memory, Records
from hikitsugi.domain.redaction import Redactor
from hikitsugi.forges.credentials import AppInstallation
from hikitsugi.forges.github import GitHubForge
from hikitsugi.forges.gitlab import GitLabForge
from hikitsugi.language_model.client import AnthropicModel
from hikitsugi.language_model.prices import PriceList
from hikitsugi.language_model.prompts import compression, final_summary, phase_prompt, plain_work
from hikitsugi.language_model.tokens import estimate
from hikitsugi.memory.opening import open_memory
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.places import default_root
from hikitsugi.workspace.sandbox import choose
from hikitsugi.workspace.shell import Shell
from hikitsugi.workspace.tools import TOOL_SPECS, WorkspaceTools

Steps = Sequence[Callable[..., Any]]
V = TypeVar("V")


class Configured(dict[str, V]):
    """What belongs to a forge, by its name; one that is no longer configured is said so."""

    def __missing__(self, name: str) -> V:
        raise WillNeverWork(f"no forge named {name} is configured; add it under forges, or end its workflows")


_SHIFT = timedelta(days=1)
_SUMMARY_TOKENS = 8000


@dataclass(frozen=True)
class Parts:
    """What touches the world, opened for as long as the process runs."""

    settings: Settings
    memory: Memory
    records: Records
    forges: Mapping[str, Forge]
    model: LanguageModel
    summary_model: LanguageModel
    checkouts: Checkouts
    sandbox: Sandbox
    redact: Redactor
    tracer: Tracer

    @property
    def workspace_queue(self) -> str:
        """The task queue of the checkouts on this host."""
        return f"{self.settings.temporal.task_queue}-workspace-{self.settings.workspace.host or socket.gethostname()}"

    @property
    def watch_queue(self) -> str:
        """The task queue of the watchers."""
        return f"{self.settings.temporal.task_queue}-watch"

    def shared_steps(self) -> Steps:
        """The steps that any host can take."""
        policies = Configured({forge.name: policy(self.settings, forge) for forge in self.settings.forges})
        forge = ForgeActivities(
            self.forges, policies, self.memory, self.redact, confined=self.settings.sandbox.kind != "none"
        )
        planning = PlanningActivities(self.memory, self.forges, phase_prompt, self.redact)
        store = MemoryActivities(self.memory, self.forges, plain_work, TOOL_SPECS, self.records, estimate)
        between = HandoverActivities(
            self.records, self.memory, self.forges, self.summary_model, final_summary, estimate
        )
        return [
            *(planning.open_phase, planning.send_back, planning.ask_people, planning.propose_plan),
            *(forge.take_up, forge.hear, forge.show_state, forge.post_comment),
            *(forge.open_change_request, forge.post_result, forge.reconcile),
            *(store.open_conversation, store.tell_comments, store.tell_to_go_on),
            *(between.take_over, between.hand_over),
            CompressionActivities(self.memory, self.records, self.summary_model, compression, estimate).compress,
            ThinkingActivities(self.model, self.memory, self.redact, self.records).think,
            ProgressActivities(self.forges, self.records, self.redact).show_progress,
            *(self._workspace().prepare_workspace, self._workspace().read_instructions),
        ]

    def host_steps(self) -> Steps:
        """The steps in the checkouts of this host."""
        workspace = self._workspace()
        return [workspace.prepare_workspace, workspace.use_tools, workspace.publish, workspace.verify]

    def housekeeping(self, client: Client) -> HousekeepingActivities:
        """The steps that tidy what all hosts share."""
        return HousekeepingActivities(self.records, TemporalHousehold(client))

    def sweeping(self, client: Client) -> SweepingActivities:
        """The steps of housekeeping that ask Temporal."""
        return SweepingActivities(self.checkouts, TemporalHousehold(client))

    def assignment_steps(self, board: Board) -> Steps:
        """The steps around the leases of external agents."""
        leases = AssignmentActivities(self.forges, board, self.redact)
        return [
            leases.prepare_assignment,
            leases.has_evidence,
            leases.settle_assignment,
            leases.clear_board,
            leases.offer_again,
        ]

    def watch_steps(self, client: Client, doorbell: Doorbell, board: Board) -> Steps:
        """The step that watches a repository."""
        keywords = self.settings.comment_handling.completion_keywords
        deliveries = SignalDeliveries(client, self.settings.temporal.task_queue, keywords)
        interval = timedelta(seconds=self.settings.polling.interval_seconds)
        keeper = BoardKeeper(self.forges, board, rules(self.settings), homes_for_agents(self.settings))
        labels = label_names(self.settings)
        watching = WatchActivities(self.forges, deliveries, doorbell, labels, interval, _SHIFT, keeper)
        return [watching.watch]

    def _workspace(self) -> WorkspaceActivities:
        tools = WorkspaceTools(self.checkouts, self.sandbox, sandbox_limits(self.settings))
        return WorkspaceActivities(
            self.workspace_queue,
            self.checkouts,
            tools,
            self.memory,
            self.forges,
            self.redact,
            measure=estimate,
            records=self.records,
        )


@asynccontextmanager
async def parts(settings: Settings) -> AsyncGenerator[Parts]:
    """Open everything, and close it at the end."""
    root = settings.workspace.root or default_root(settings.data_folder)
    redact = Redactor(settings.secrets())
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(open_memory(memory_url(settings), redact=redact))
        sandbox = await choose(settings.sandbox.kind, root, sandbox_limits(settings), settings.sandbox.image)
        yield Parts(
            settings=settings,
            memory=memory,
            records=memory.records,
            forges=await stack.enter_async_context(open_forges(settings)),
            model=await stack.enter_async_context(_model(settings, settings.llm.model, settings.llm.max_tokens)),
            summary_model=await stack.enter_async_context(
                _model(settings, settings.llm.summary_model, min(settings.llm.max_tokens, _SUMMARY_TOKENS))
            ),
            checkouts=_checkouts(settings, root, sandbox),
            sandbox=sandbox,
            redact=redact,
            tracer=stack.enter_context(tracer_to(settings.telemetry.otlp_endpoint)),
        )


def _checkouts(settings: Settings, root: Path, sandbox: Sandbox) -> Checkouts:
    chosen = settings.workspace
    shell = Shell(sandbox, sandbox_limits(settings))
    return Checkouts(root, shell, setup_command=chosen.setup_command, check_command=chosen.check_command)


def memory_url(settings: Settings) -> str:
    """The database of the settings, or a file in the data folder."""
    if settings.memory.url:
        return settings.memory.url.get_secret_value()
    return f"sqlite+aiosqlite:///{settings.data_folder.absolute() / 'memory.db'}"


def sandbox_limits(settings: Settings) -> Limits:
    """What a command may use."""
    chosen = settings.sandbox
    return Limits(network=chosen.network, memory_mb=chosen.memory_mb, timeout_seconds=int(chosen.timeout_seconds))


@asynccontextmanager
async def open_forges(settings: Settings) -> AsyncGenerator[Mapping[str, Forge]]:
    """The configured forges by name."""
    async with AsyncExitStack() as stack:
        forges: Configured[Forge] = Configured()
        for chosen in settings.forges:
            forge = _forge(chosen, settings.comment_detection)
            stack.push_async_callback(forge.aclose)
            forges[chosen.name] = forge
        yield forges


def _forge(chosen: ForgeSettings, detection: CommentDetection) -> GitHubForge | GitLabForge:
    token = chosen.token or SecretStr("")
    username, reviews = detection.bot_username or chosen.username, detection.review_comments
    if chosen.kind == "gitlab":
        return GitLabForge(chosen.name, chosen.url, token, username, review_comments=reviews)
    credentials = AppInstallation(**chosen.app.model_dump()) if chosen.app else token
    return GitHubForge(chosen.name, chosen.url, credentials, username, review_comments=reviews)


def _model(settings: Settings, model: str, max_tokens: int) -> AnthropicModel:
    return AnthropicModel(
        base_url=settings.llm.base_url,
        api_key=settings.llm.api_key or SecretStr(""),
        model=model,
        max_tokens=max_tokens,
        prices=PriceList(settings.llm.prices),
    )
