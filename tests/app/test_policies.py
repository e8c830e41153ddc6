"""What is configured becomes the rules of a session."""

from datetime import timedelta
from pathlib import Path

import pytest

from hikitsugi.app.policies import policy
from hikitsugi.app.settings import load_settings
from hikitsugi.domain.policy import PlanningLimits, Policy

CONFIGURED = """
forges: [{kind: gitlab, token: t, repositories: [g/r]}]
comment_detection: {enabled: false, check_interval: 4}
comment_handling: {enabled: false, max_comment_count: 3, timeout_hours: 0.5, completion_keywords: [fini]}
planning:
  approval: label
  approval_reminder_hours: 1
  approval_expiry_hours: 2
  question_timeout_minutes: 3
  llm_call_comments: {enabled: false}
  reflection: {interval: 7}
  limits: {actions: 5, steps_per_action: 6, revisions: 1, verification_rounds: 0, replans: 0}
plain: {max_iterations: 9}
llm: {compress_at_tokens: 1234}
budget: {usd_per_issue: 8, tokens_per_issue: 90}
"""


def rules(folder: Path, text: str) -> Policy:
    file = folder / "hikitsugi.yaml"
    file.write_text(text, encoding="utf-8")
    settings = load_settings(file, {"ANTHROPIC_API_KEY": "k"})
    return policy(settings, settings.forges[0])


@pytest.mark.req("CD-05", "CH-13", "LC-08", "PL-01")
@pytest.mark.lesson("C4", "C25")
def test_every_key_has_its_effect_on_the_rules(tmp_path: Path):
    made = rules(tmp_path, CONFIGURED)
    assert (made.hears_while_working, made.check_interval, made.converses) == (False, 4, False)
    assert (made.max_comment_count, made.reply_timeout) == (3, timedelta(minutes=30))
    assert (made.completion_keywords, made.shows_mentions) == (("fini",), True)
    assert (made.max_iterations, made.compress_at_tokens) == (9, 1234)
    assert (made.budget.usd, made.budget.tokens) == (8, 90)
    planning = made.planning
    assert (planning.enabled, planning.approval, planning.tells_calls) == (True, "label", False)
    assert (planning.approval_reminder, planning.approval_expiry) == (timedelta(hours=1), timedelta(hours=2))
    assert (planning.question_timeout, planning.reflection_interval) == (timedelta(minutes=3), 7)
    assert planning.limits == PlanningLimits(
        actions=5, steps_per_action=6, revisions=1, verification_rounds=0, replans=0
    )


@pytest.mark.req("CD-05")
@pytest.mark.lesson("C4")
def test_without_a_word_comments_are_heard_at_every_turn(tmp_path: Path):
    made = rules(tmp_path, "forges: [{token: t, repositories: [o/r]}]\n")
    assert (made.hears_while_working, made.check_interval, made.converses, made.shows_mentions) == (
        *(True, 1, True),
        False,
    )
