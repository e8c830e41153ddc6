"""What people read about the evidence: which checks ran on the pushed commit, and what they showed."""

from hikitsugi.domain.policy import Language
from hikitsugi.domain.tools import Submission
from hikitsugi.domain.verification import CheckRun, Verified
from hikitsugi.messages.language import either

_LAST_LINES = 15
_MOST_PLACEHOLDERS = 10


def proof(language: Language, verified: Verified | None) -> str:
    """The checks with their exit codes, the failing ones with their last lines, and what else was found."""
    if verified is None:
        return ""
    what = either(language, ja="**プッシュしたコミットでの確認**", en="**Checks on the pushed commit**")
    heading = f"{what} (`{verified.commit[:8]}`)"
    parts = [heading, _checks(language, verified), _placeholders(language, verified), _notice(language, verified)]
    return "\n\n".join(part for part in parts if part)


def claimed(language: Language, submission: Submission | None) -> str:
    """What the agent itself says to have seen."""
    claim = either(language, ja="**確認したこと**: ", en="**Seen by the agent**: ")
    return claim + submission.evidence if submission and submission.evidence else ""


def standing(language: Language, *, is_ready: bool, is_draft: bool) -> str:
    """Said of every request that is not simply there to be reviewed."""
    if is_ready and is_draft:
        return either(
            language,
            ja="検証は通りましたが、リクエストの下書き(draft)を解除できませんでした。確認のうえ解除してください。",
            en="The checks passed, but the request could not be taken out of draft: please do that yourself.",
        )
    if is_ready:
        return ""
    if is_draft:
        return either(
            language,
            ja="⚠️ 完了を確認できていないため、リクエストは下書き(draft)のままです。",
            en="⚠️ The request stays a draft, because the change is not shown to be done.",
        )
    return either(
        language,
        ja="⚠️ 完了を確認できていません。リクエストは下書き(draft)ではありませんが、まだマージできる状態ではありません。",
        en="⚠️ The change is not shown to be done. The request is no draft, but it is not ready to be merged.",
    )


def _checks(language: Language, verified: Verified) -> str:
    if not verified.checks:
        return either(
            language,
            ja="実行できるチェックが見つかりませんでした。`workspace.check_command` で指定できます。",
            en="No check was found to run; `workspace.check_command` can name one.",
        )
    return "\n".join(_check(check) for check in verified.checks)


def _check(check: CheckRun) -> str:
    line = f"- {'✅' if check.passed else '❌'} `{check.command}` (exit {check.exit_code})"
    if check.passed:
        return line
    fence = "````"
    tail = "\n".join(check.tail.rstrip().splitlines()[-_LAST_LINES:]).replace(fence, "")
    return f"{line}\n\n{fence}\n{tail}\n{fence}" if tail else line


def _placeholders(language: Language, verified: Verified) -> str:
    if not verified.placeholders:
        return ""
    found = [f"- `{one.path}:{one.line}` `{one.text.strip()[:80]}`" for one in verified.placeholders]
    more = [f"- … +{len(found) - _MOST_PLACEHOLDERS}"] if len(found) > _MOST_PLACEHOLDERS else []
    heading = either(language, ja="⚠️ 仮の実装が残っています。", en="⚠️ Placeholders are left in the change.")
    return "\n".join([heading, "", *found[:_MOST_PLACEHOLDERS], *more])


def _notice(language: Language, verified: Verified) -> str:
    if not verified.touches_instructions:
        return ""
    paths = ", ".join(f"`{path}`" for path in verified.touches_instructions)
    return either(
        language,
        ja=f"⚠️ ワークフローまたは指示ファイルが変更されています({paths})。マージする前に内容を確認してください。",
        en=f"⚠️ Workflow or instruction files are changed ({paths}). Look at them before you merge.",
    )
