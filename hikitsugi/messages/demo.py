"""What the demo says in the terminal."""

from hikitsugi.domain.policy import Language
from hikitsugi.messages.language import either


def welcome(language: Language) -> str:
    """The first line."""
    return either(
        language,
        ja="Hikitsugi デモ: ラベルの付いた Issue が 1 件、プルリクエストになるまで。ネットワークも API キーも要りません。",
        en="Hikitsugi demo: one labelled issue becomes a pull request. No network and no API key needed.",
    )


def place_names(language: Language) -> dict[str, str]:
    """What the addresses are called."""
    return {
        "issue": either(language, ja="Issue のページ", en="the issue's page"),
        "ui": "Temporal Web UI",
        "forge": either(language, ja="開発用フォージ", en="development forge"),
        "pid": either(
            language, ja="ワーカーの PID (kill -9 しても続きます)", en="worker's pid (kill -9 it: the work goes on)"
        ),
    }


def no_sandbox(language: Language, reason: str) -> str:
    """Commands of the scripted model run unconfined."""
    return either(
        language,
        ja=f"サンドボックスが使えないため、台本どおりのモデルのコマンドをそのまま実行します({reason})",
        en=f"No sandbox works here, so the scripted model's commands run unconfined ({reason})",
    )


def sandboxed(language: Language, kind: str) -> str:
    """Commands are confined."""
    return either(language, ja=f"コマンドは {kind} の中で実行します", en=f"commands run inside {kind}")


def other_folder(language: Language, folder: str) -> str:
    """The usual data folder belongs to a real worker."""
    return either(
        language,
        ja=f".hikitsugi には本物のワーカーのデータがあるので、デモは {folder} を使います",
        en=f".hikitsugi holds a real worker's data, so the demo uses {folder}",
    )


def starts(language: Language) -> str:
    """Servers are being started."""
    return either(
        language, ja="Temporal と Valkey とワーカーを起動しています…", en="starting Temporal, Valkey and the worker…"
    )


def worker_died(language: Language) -> str:
    """Somebody killed the worker."""
    return either(language, ja="ワーカーが落ちました。起動し直します…", en="the worker died; starting it again…")


def worker_is_back(language: Language, pid: int) -> str:
    """It runs again."""
    return either(
        language,
        ja=f"ワーカーが戻りました (PID {pid})。続きから進みます",
        en=f"the worker is back (pid {pid}) and goes on",
    )


def labels(language: Language, names: str) -> str:
    """The labels changed."""
    return either(language, ja=f"ラベル: {names}", en=f"labels: {names}")


def commented(language: Language, author: str, first_line: str) -> str:
    """Somebody commented."""
    return either(language, ja=f"{author} がコメント: {first_line}", en=f"{author} comments: {first_line}")


def model_asked(language: Language, number: int) -> str:
    """The model was called."""
    return either(language, ja=f"モデル呼び出し {number} 回目", en=f"model call {number}")


def tool_used(label: str, answer: str, *, is_error: bool) -> str:
    """A tool was used."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if line.lower().startswith(("exit", "ok", "failed"))), "")
    return f"  {'✗' if is_error else '✓'} {label}{f' → {told}' if told else ''}"


def request_opened(language: Language, url: str) -> str:
    """The pull request is there."""
    return either(language, ja=f"プルリクエスト: {url}", en=f"pull request: {url}")


def waits(language: Language, what: str) -> str:
    """What the workflow waits for."""
    return either(language, ja=f"待っているもの: {what}", en=f"waits for: {what}")


def finished(language: Language) -> str:
    """The end of a demo that is played once."""
    return either(
        language,
        ja="完了: プルリクエストが開かれ、Issue は返信を待っています",
        en="Done: the pull request is open and the issue awaits a reply",
    )


def agent_asks(language: Language, agent: str, broker: str) -> str:
    """An external agent is started."""
    return either(
        language,
        ja=f"外部エージェント {agent} がブローカー {broker} にタスクを求めます",
        en=f"the external agent {agent} asks the broker {broker} for a task",
    )


def finished_by_agent(language: Language) -> str:
    """The end of a demo with an external agent."""
    return either(
        language,
        ja="完了: 外部エージェントがプルリクエストを開き、Issue はレビューを待っています",
        en="Done: the external agent opened the pull request and the issue awaits a review",
    )


def your_turn(language: Language) -> str:
    """What one can do now."""
    return either(
        language,
        ja="次はあなたの番です。Issue のページでコメントしてみてください(例「README に使い方を書いて」「ありがとう」)。終了は Ctrl-C",
        en='Your turn: comment on the issue\'s page, for example "Write the usage into the README" or "thanks". Ctrl-C ends the demo',
    )


def took_too_long(language: Language, log: str) -> str:
    """Something hangs."""
    return either(
        language, ja=f"時間内に終わりませんでした。{log} を見てください", en=f"It did not finish in time; see {log}"
    )


def worker_fails(language: Language, log: str, last: str) -> str:
    """The worker does not start."""
    return either(
        language, ja=f"ワーカーを起動できません: {last} ({log})", en=f"The worker does not start: {last} ({log})"
    )
