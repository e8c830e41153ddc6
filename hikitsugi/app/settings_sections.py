"""Every part of the configuration with its keys and defaults, as operators write them."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from hikitsugi.app.settings_types import (
    Amount,
    Count,
    CountFromZero,
    DatabaseUrl,
    Duration,
    Folder,
    HostAndPort,
    Port,
    RedisUrl,
    Section,
    Text,
    WebAddress,
    is_loopback,
    refused,
)
from hikitsugi.language_model.prices import Price

COMPLETION_KEYWORDS = (
    *("ありがとう", "ありがとうございます", "ありがとうございました", "完了", "OK", "ok", "了解", "承知"),
    *("thank you", "thanks", "done", "complete"),
)


class Labels(Section):
    """The labels we read and set."""

    trigger: Annotated[tuple[Text, ...], Field(min_length=1)] = ("task:misc", "task:dogfooding")
    approval: Text = "needs-approval"
    processing: Text = "processing"
    awaiting_response: Text = "awaiting-response"
    completed: Text = "completed"
    paused: Text = "paused"
    stopped: Text = "stopped"
    failed: Text = "failed"
    in_progress: Text = "in-progress"
    needs_review: Text = "needs-review"

    @model_validator(mode="after")
    def mean_one_thing_each(self) -> Self:
        """A label with two meanings could not be read back; forges do not tell cases apart."""
        labels = [*self.trigger, *self.model_dump(exclude={"trigger"}).values()]
        if len({label.lower() for label in labels}) < len(labels):
            raise refused("must be a different label for each meaning")
        return self


class Polling(Section):
    """How often a repository is looked at."""

    interval_seconds: Duration = 30


class CommentHandling(Section):
    """When a conversation on an issue is over."""

    enabled: bool = True
    completion_keywords: tuple[Text, ...] = COMPLETION_KEYWORDS
    max_comment_count: Count = 10
    timeout_hours: Duration = 24


class CommentDetection(Section):
    """How comments are noticed while work goes on."""

    enabled: bool = True
    bot_username: Text | None = None
    check_interval: Count = 1
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    review_comments: bool = False


class LlmCallComments(Section):
    """Whether the model's steps are told on the issue."""

    enabled: bool = True


class Reflection(Section):
    """After how many actions the plan is looked at again."""

    interval: Count = 3


class PlanningLimits(Section):
    """How far planned work may go."""

    actions: Count = 50
    steps_per_action: Count = 30
    revisions: CountFromZero = 3
    verification_rounds: CountFromZero = 2
    replans: CountFromZero = 3


class Planning(Section):
    """Work by plan, and who has to approve it."""

    enabled: bool = True
    approval: Literal["never", "always", "label"] = "never"
    approval_reminder_hours: Duration = 24
    approval_expiry_hours: Duration = 72
    question_timeout_minutes: Duration = 30
    llm_call_comments: LlmCallComments = LlmCallComments()
    reflection: Reflection = Reflection()
    limits: PlanningLimits = PlanningLimits()


class Plain(Section):
    """Work in one tool loop, without a plan."""

    max_iterations: Count = 100


class InheritedPlanning(Section):
    """What a new session learns from earlier plans."""

    inherit_plans: bool = True
    inherit_verifications: bool = True
    inherit_reflections: bool = True
    max_previous_plans: CountFromZero = 3
    reuse_successful_patterns: bool = True


class ContextInheritance(Section):
    """What one session hands to the next, and for how long."""

    enabled: bool = True
    context_expiry_days: Duration = 90
    max_inherited_tokens: Count = 8000
    planning: InheritedPlanning = InheritedPlanning()


class Llm(Section):
    """The language model."""

    base_url: WebAddress | None = None
    api_key: SecretStr | None = None
    model: Text = "claude-opus-5-5"
    summary_model: Text = "claude-haiku-5-5"
    max_tokens: Count = 32000
    compress_at_tokens: Count = 80000
    prices: dict[str, Price] = Field(default_factory=dict[str, Price])


class Budget(Section):
    """What one issue may cost; null means no limit."""

    usd_per_issue: Amount | None = 5.0
    tokens_per_issue: Count | None = None


class WorkspaceSettings(Section):
    """Where repositories are checked out, and the commands to set them up and check them."""

    root: Folder | None = None
    host: Text | None = None
    keep_hours: Amount = 24
    setup_command: Text | None = None
    check_command: Text | None = None


class SandboxSettings(Section):
    """What confines the commands of the model."""

    kind: Literal["auto", "bubblewrap", "docker", "none"] = "auto"
    network: bool = False
    memory_mb: Annotated[Count, Field(ge=64)] = 4096
    timeout_seconds: Duration = 600
    image: Text = "python:3-slim"


def _agent_id(given: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,38}", given):
        raise refused("agent ids must be 1 to 39 small letters, digits and -, and not begin with -")
    return given


def _sha256(given: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", given.get_secret_value()):
        raise refused("must be the SHA-256 of the agent's token, 64 hexadecimal digits")
    return SecretStr(given.get_secret_value().lower())


class AgentToken(Section):
    """The proof of one external agent; no roles or repositories named means all of them."""

    sha256: Annotated[SecretStr, AfterValidator(_sha256)]
    roles: tuple[Text, ...] = ()
    repositories: tuple[Text, ...] = ()


class BrokerSettings(Section):
    """The door for external agents and webhooks."""

    port: Port = 8080
    tokens: dict[Annotated[str, AfterValidator(_agent_id)], AgentToken] = Field(default_factory=dict[str, AgentToken])
    host: Text = "127.0.0.1"
    lease_minutes: Duration = 60
    roles: Annotated[tuple[Text, ...], Field(min_length=1)] = ("CODER",)
    prompts: dict[str, Folder] = Field(default_factory=dict[str, Folder])

    @field_validator("host")
    @classmethod
    def others_need_tokens(cls, host: str, info: ValidationInfo) -> str:
        """Whoever opens the door to other machines must say whom to let in."""
        # Without the key, the tokens were given but refused themselves.
        if info.data.get("tokens", True) or is_loopback(host):
            return host
        raise refused("must be 127.0.0.1, ::1 or localhost unless broker.tokens names the agents to let in")


class TemporalSettings(Section):
    """The Temporal server; without an address, the embedded one."""

    address: HostAndPort | None = None
    namespace: Text = "default"
    task_queue: Text = "hikitsugi"
    api_key: SecretStr | None = None
    tls: bool = False
    encryption_key: SecretStr | None = None


class RedisSettings(Section):
    """The Redis server; without a URL, the embedded Valkey."""

    url: RedisUrl | None = None


class MemorySettings(Section):
    """The database; without a URL, an SQLite file in the data folder."""

    url: DatabaseUrl | None = None


class TelemetrySettings(Section):
    """Logs, metrics and traces."""

    metrics_port: Port = 9464
    otlp_endpoint: WebAddress | None = None
    log_format: Literal["console", "json"] = "console"
