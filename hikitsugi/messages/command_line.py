"""What operators read in the terminal."""

from enum import Enum

from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either


class Name(Enum):
    """The name of a row or column, in Japanese and in English."""

    ISSUE = ("Issue", "Issue")
    TITLE = ("題名", "Title")
    STATE = ("状態", "State")
    SESSION = ("セッション", "Session")
    PHASE = ("フェーズ", "Phase")
    WAITS_FOR = ("待っているもの", "Waits for")
    CHANGE = ("変更", "Change")
    BRANCH = ("ブランチ", "Branch")
    MODEL = ("モデル", "Model")
    MODEL_CALLS = ("モデル呼び出し", "Model calls")
    COMMENTS = ("コメント", "Comments")
    PROCESSED = ("処理期間", "Processed")
    PLAN = ("計画", "Plan")
    INHERITED = ("引き継ぎ元", "Inherited")
    ERROR = ("エラー", "Error")
    TROUBLE = ("接続", "Connection")
    COST = ("費用", "Cost")
    RUNNING_SINCE = ("開始 (UTC)", "Since (UTC)")
    LANGUAGE = ("言語", "Language")
    FORGE = ("フォージ", "Forge")
    REPOSITORIES = ("リポジトリ", "Repositories")
    LABELS = ("トリガー", "Trigger labels")
    POLLING = ("確認間隔", "Polling")
    BUDGET = ("Issue ごとの予算", "Budget per issue")
    SANDBOX = ("サンドボックス", "Sandbox")
    BROKER = ("ブローカー", "Broker")
    DATA_FOLDER = ("データフォルダー", "Data folder")
    TEMPORAL = ("Temporal", "Temporal")
    REDIS = ("Redis", "Redis")
    MEMORY = ("データベース", "Database")
    WHEN = ("時刻 (UTC)", "When (UTC)")
    WHO = ("だれが", "Who")
    WHAT = ("何を", "What")
    WHY = ("なぜ・結果", "Why, or what came of it")
    MODEL_KEY = ("モデルのキー", "Model's key")


def name(language: Language, of: Name) -> str:
    """A row or column in the reader's language."""
    ja, en = of.value
    return either(language, ja=ja, en=en)


def started(language: Language, issue: str) -> str:
    """An issue was called up."""
    return either(
        language,
        ja=f"{issue} を始めました。見守るには: python starter.py watch {issue}",
        en=f"Started {issue}. To follow it: python starter.py watch {issue}",
    )


def comment_sent(language: Language, issue: str) -> str:
    """An operator's comment is on its way."""
    return either(language, ja=f"{issue} にコメントを送りました。", en=f"The comment was sent to {issue}.")


def pause_sent(language: Language, issue: str) -> str:
    """A pause is on its way."""
    return either(
        language,
        ja=f"{issue} に一時停止を送りました。再開するには: python starter.py resume {issue}",
        en=f"The pause was sent to {issue}. To go on: python starter.py resume {issue}",
    )


def resume_sent(language: Language, issue: str) -> str:
    """A resume is on its way."""
    return either(language, ja=f"{issue} に再開を送りました。", en=f"The resume was sent to {issue}.")


def stop_sent(language: Language, issue: str) -> str:
    """A stop is on its way."""
    return either(
        language,
        ja=f"{issue} に停止を送りました。ここまでの作業は保存されます。",
        en=f"The stop was sent to {issue}. The work so far is kept.",
    )


def is_watched(language: Language, home: str) -> str:
    """A repository is being watched."""
    return either(language, ja=f"{home} を監視しています。", en=f"{home} is being watched.")


def is_unwatched(language: Language, home: str, *, by_now: bool) -> str:
    """The watching ends, or has ended."""
    if by_now:
        return either(language, ja=f"{home} の監視を終えました。", en=f"{home} is no longer watched.")
    return either(
        language,
        ja=f"{home} の監視を終えるよう伝えました。watcher が動き出すと終わります。",
        en=f"The watching of {home} was told to end; it does as soon as a watcher runs.",
    )


def model_use(language: Language, calls: int, tokens: tuple[int, int, int], cost: str) -> str:
    """What the model was asked and what it cost; tokens are sent, of those cached, and received."""
    sent, cached, received = tokens
    return either(
        language,
        ja=f"{calls:,} · 入力 {sent:,}(キャッシュ {cached:,}) · 出力 {received:,} トークン · {cost}",
        en=f"{calls:,} · {sent:,} tokens in ({cached:,} cached) · {received:,} out · {cost}",
    )


def comment_count(language: Language, processed: int, pending: int, last: str | None) -> str:
    """How many comments were taken in, and which was the last."""
    told = either(
        language, ja=f"処理済み {processed:,} · 未処理 {pending:,}", en=f"{processed:,} processed · {pending:,} pending"
    )
    return told + (either(language, ja=f" · 最後は {last}", en=f" · last {last}") if last else "")


def unknown_cost(language: Language) -> str:
    """A price is missing."""
    return either(language, ja="費用不明", en="cost unknown")


def has_ended(language: Language) -> str:
    """The workflow is over."""
    return either(language, ja="ワークフローは終了しました", en="the workflow has ended")


def press_to_leave(language: Language) -> str:
    """How to stop following; the work goes on."""
    return either(language, ja="Ctrl-C で表示を終了(作業は続きます)", en="Ctrl-C leaves; the work goes on")


def nothing_listed(language: Language) -> str:
    """No issue is known."""
    return either(
        language,
        ja="動いているワークフローはありません。始めるには: python starter.py start ISSUE",
        en="No workflow runs. To start one: python starter.py start ISSUE",
    )


def listed(language: Language, count: int) -> str:
    """How many issues are shown."""
    return either(language, ja=f"{count:,} 件", en=f"{count:,} issue" if count == 1 else f"{count:,} issues")


def signed_in(language: Language, user: str) -> str:
    """A token works."""
    return either(language, ja=f"{user} として接続できます", en=f"signed in as {user}")


def owned_by_another(language: Language, forge: str, owner: str, configured: str) -> str:
    """A token works, but not under the configured name."""
    return either(
        language,
        ja=f"{forge} のトークンは {configured} ではなく {owner} のものです。forges[].username と comment_detection.bot_username を直すか、空にしてください。",
        en=f"The token of {forge} belongs to {owner}, not to {configured}: correct forges[].username and comment_detection.bot_username, or leave them out.",
    )


def goes_by(language: Language, configured: str) -> str:
    """A token works that may not ask whose it is."""
    return either(
        language,
        ja=f"{configured} として接続できます(持ち主は確認できません)",
        en=f"can be used as {configured}, but may not tell its owner",
    )


def offered(language: Language) -> str:
    """The provider knows the key and the model."""
    return either(language, ja="使えます", en="can be used")


def not_offered(language: Language, key: str, model: str) -> str:
    """The provider has no such model."""
    return either(
        language,
        ja=f"モデル {model} は提供されていません。{key} を確認してください。",
        en=f"The model's provider does not offer {model}; check {key}.",
    )


def untold(language: Language) -> str:
    """The server cannot be asked for its models."""
    return either(
        language,
        ja="確認できません(このサーバーにはモデルを調べる手段がありません)",
        en="not tried, because the server cannot be asked for its models",
    )


def readable(language: Language, branch: str) -> str:
    """A repository can be read."""
    return either(language, ja=f"読み取れます(既定ブランチ {branch})", en=f"can be read, default branch {branch}")


def is_set(language: Language) -> str:
    """A secret that is there, and stays out of sight."""
    return either(language, ja="設定済み", en="set")


def is_unset(language: Language) -> str:
    """A secret that is not there, nor needed."""
    return either(language, ja="未設定(不要)", en="not set, not needed")


def embedded(language: Language) -> str:
    """A server of our own is started."""
    return either(language, ja="組み込み", en="embedded")


def every_seconds(language: Language, seconds: float) -> str:
    """How often the forge is looked at."""
    return either(language, ja=f"{seconds:g} 秒ごと", en=f"every {seconds:g} seconds")


def unlimited(language: Language) -> str:
    """No budget is set."""
    return either(language, ja="上限なし", en="no limit")


def all_is_well(language: Language) -> str:
    """The configuration can be used."""
    return either(language, ja="設定に問題はありません。", en="The configuration is fine.")


def explained(language: Language, sessions: int, entries: int, cost: str) -> str:
    """What the story of an issue came to."""
    return either(
        language,
        ja=f"{sessions} セッション · {entries} 件の記録 · {cost}",
        en=f"{sessions} session(s) · {entries} entries · {cost}",
    )


def without_temporal(language: Language, reason: str) -> str:
    """Only the store was asked."""
    return either(language, ja=f"Temporal の記録は含まれていません: {reason}", en=f"Without Temporal's part: {reason}")


def left_out(language: Language, count: int) -> str:
    """Some records could not be read."""
    return either(
        language,
        ja=f"壊れていて読めない記録が {count:,} 件あり、含まれていません。",
        en=f"{count:,} damaged record(s) could not be read and were left out.",
    )


def exported(language: Language, file: str) -> str:
    """The records were written to a file."""
    return either(language, ja=f"{file} に書き出しました。", en=f"Written to {file}.")


def really_forget(language: Language, issue: str) -> str:
    """Asks before everything is removed."""
    return either(
        language,
        ja=f"{issue} の記録(会話、計画、要約)をすべて削除します。元に戻せません。よろしいですか?",
        en=f"This removes every record of {issue} (conversations, plans, summaries) for good. Go on?",
    )


def forgotten(language: Language, issue: str, sessions: int) -> str:
    """Everything was removed from the store."""
    return either(
        language,
        ja=f"{issue} の記録({sessions} セッション)を削除しました。次のものは残ります: フォージ上のコメント・ブランチ・変更依頼と、"
        "Temporal の履歴(短い要約を含む。待機中のワークフローが終わり、保持期間が過ぎると消えます)。",
        en=f"Forgot {issue} ({sessions} session(s)). What stays: comments, branches and requests on the forge, and "
        "Temporal's histories with a short summary, until the resting workflow ends and their retention is over.",
    )


def not_forgotten(language: Language, issue: str) -> str:
    """The operator thought better of it."""
    return either(language, ja=f"{issue} の記録は残っています。", en=f"The records of {issue} are still there.")
