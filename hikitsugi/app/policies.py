"""From settings to the policy that a session goes by."""

from datetime import timedelta

from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_forges import ForgeSettings
from hikitsugi.domain.budget import Budget
from hikitsugi.domain.policy import LabelNames, Policy


def label_names(settings: Settings) -> LabelNames:
    """The labels as the stories use them."""
    return LabelNames.model_validate(settings.labels.model_dump())


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
        max_comment_count=handling.max_comment_count,
        reply_timeout=timedelta(hours=handling.timeout_hours),
        max_iterations=settings.plain.max_iterations,
        budget=Budget(usd=settings.budget.usd_per_issue, tokens=settings.budget.tokens_per_issue),
        inherits=settings.context_inheritance.enabled,
        context_expiry=timedelta(days=settings.context_inheritance.context_expiry_days),
    )
