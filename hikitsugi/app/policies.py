"""From settings to the policy that a session goes by."""

from datetime import timedelta

from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.assignment import Terms
from hikitsugi.domain.budget import Budget
from hikitsugi.domain.policy import InheritanceTerms, LabelNames, PlanningLimits, PlanningPolicy, Policy
from hikitsugi.domain.selection import Rules


def label_names(settings: Settings) -> LabelNames:
    """The labels as the stories use them."""
    return LabelNames.model_validate(settings.labels.model_dump())


def rules(settings: Settings) -> Rules:
    """How tasks for external agents are chosen."""
    return Rules(labels=label_names(settings), roles=settings.broker.roles)


def homes_for_agents(settings: Settings) -> tuple[RepositoryAddress, ...]:
    """The repositories whose issues external agents work on."""
    return tuple(
        RepositoryAddress(forge=forge.name, repository=repository.name)
        for forge in settings.forges
        for repository in forge.repositories
        if repository.worked_by == "broker"
    )


def terms(settings: Settings) -> Terms:
    """What holds for every lease."""
    return Terms(
        lease=timedelta(minutes=settings.broker.lease_minutes),
        labels=label_names(settings),
        language=settings.language,
        context_expiry=context_expiry(settings),
    )


def context_expiry(settings: Settings) -> timedelta:
    """How long a session is remembered."""
    return timedelta(days=settings.context_inheritance.context_expiry_days)


def inheritance_terms(settings: Settings) -> InheritanceTerms:
    """What one session may tell the next."""
    chosen = settings.context_inheritance
    return InheritanceTerms(
        max_tokens=chosen.max_inherited_tokens, planning=settings.planning.enabled, **chosen.planning.model_dump()
    )


def policy(settings: Settings, forge: ForgeSettings) -> Policy:
    """The rules for issues of one forge."""
    handling = settings.comment_handling
    return Policy(
        language=settings.language,
        labels=label_names(settings),
        accept_comments_from=forge.accept_comments_from,
        completion_keywords=handling.completion_keywords,
        converses=handling.enabled,
        hears_while_working=settings.comment_detection.enabled,
        check_interval=settings.comment_detection.check_interval,
        shows_mentions=forge.kind == "gitlab",
        max_comment_count=handling.max_comment_count,
        reply_timeout=timedelta(hours=handling.timeout_hours),
        max_iterations=settings.plain.max_iterations,
        budget=Budget(usd=settings.budget.usd_per_issue, tokens=settings.budget.tokens_per_issue),
        inherits=settings.context_inheritance.enabled,
        context_expiry=context_expiry(settings),
        inheritance=inheritance_terms(settings),
        planning=planning_policy(settings),
        compress_at_tokens=settings.llm.compress_at_tokens,
    )


def planning_policy(settings: Settings) -> PlanningPolicy:
    """The rules of planned work."""
    planning = settings.planning
    return PlanningPolicy(
        enabled=planning.enabled,
        approval=planning.approval,
        approval_reminder=timedelta(hours=planning.approval_reminder_hours),
        approval_expiry=timedelta(hours=planning.approval_expiry_hours),
        question_timeout=timedelta(minutes=planning.question_timeout_minutes),
        reflection_interval=planning.reflection.interval,
        tells_calls=planning.llm_call_comments.enabled,
        limits=PlanningLimits.model_validate(planning.limits.model_dump()),
    )
