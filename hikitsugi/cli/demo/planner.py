"""What the demo's scripted model replies in the phases of planned work."""

import json
import re
from typing import Any

from hikitsugi.language_model.scripted import Answer, Request, say, think, use

MEND, TEST, README, ANSWER = "task_1", "task_2", "task_readme", "task_answer"
_TITLES = {
    MEND: "消費税の切り捨てをレシート 1 枚につき 1 回にする",
    TEST: "端数が出ない場合のテストを追加する",
    README: "README に使い方を書く",
    ANSWER: "コメントに答える",
}


def reply(request: Request) -> Answer:
    """The next turn of a phase that wants its reply in a form."""
    if request.form == "Brief" and not request.results_of("read") and _tasks(request)[0] == MEND:
        look = think("まず実装とテストを読みます。") + use("read", path="receipt.py")
        return look + use("read", path="test_receipt.py")
    forms = {"Brief": _brief, "PlanReply": _plan, "Verdict": _verdict}
    said = forms[request.form](request) if request.form in forms else _ELSE[request.form]
    return say(json.dumps(said, ensure_ascii=False))


def action_in(request: Request) -> str | None:
    """The action to carry out, if the request is about one."""
    texts = [text for text in request.texts if "# Your action: " in text]
    return texts[-1].rpartition("# Your action: ")[2].partition("\n")[0].strip() if texts else None


def _tasks(request: Request) -> tuple[str, ...]:
    """What the latest words of people call for."""
    said = [text for text in request.texts if text.startswith(("Issue #", "[New Comment"))][-1]
    if said.startswith("Issue #"):
        return (MEND, TEST)
    return (README,) if "readme" in said.casefold() else (ANSWER,)


def _brief(request: Request) -> dict[str, Any]:
    is_mending = _tasks(request)[0] == MEND
    found = ["receipt.py の total が商品ごとに切り捨てている", "test_receipt.py のテストが失敗する"]
    return {
        "goal": _TITLES[_tasks(request)[0]],
        "deliverables": [],
        "constraints": [],
        "findings": found if is_mending else [],
        "assumptions": [],
        "gaps": [],
        "questions": [],
        "confidence": 0.95,
        "comment": "原因は `receipt.py` の端数処理です。" if is_mending else "コメントを読みました。",
    }


def _plan(request: Request) -> dict[str, Any]:
    tasks = _tasks(request)
    return {
        "goal": _TITLES[tasks[0]],
        "success_criteria": ["`python -m unittest` が成功する"],
        "earlier_plan": "none",
        "reasoning": "小さな変更で足ります。",
        "actions": [_action(task, tasks[:n]) for n, task in enumerate(tasks)],
        "comment": f"{len(tasks)} つのアクションで進めます。",
    }


def _action(task: str, after: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": task,
        "title": _TITLES[task],
        "purpose": "依頼に応える",
        "expected_outcome": "テストが成功する",
        "fallback": "",
        "complexity": "low",
        "depends_on": list(after),
    }


def _verdict(request: Request) -> dict[str, Any]:
    seen = request.texts[-1]
    reports = [f"- {line.strip()}" for line in seen.splitlines() if re.match(r"  \S", line)]
    failed = "exited with" in seen and "exited with 0" not in seen
    return {
        "passed": not failed,
        "criteria": [
            {
                "criterion": "`python -m unittest` が成功する",
                "met": not failed,
                "evidence": "プッシュしたコミットで失敗しています" if failed else "プッシュしたコミットで成功しました",
            }
        ],
        "issues": ["チェックが失敗しています。"] if failed else [],
        "actions": [],
        "confidence": 0.9,
        "summary": "\n".join(reports) or "変更はありません。",
        "comment": "成功基準を確認しました。",
    }


_ELSE: dict[str, dict[str, Any]] = {
    "Reflection": {
        "status": "success",
        "evaluation": "計画どおりです。",
        "issues": [],
        "root_cause": "",
        "revise": False,
    },
    "Revision": {"reason": "計画を変える必要はありません。", "actions": []},
    "ReplanDecision": {"kind": "none", "confidence": 0.9, "reasoning": "これ以上は変わりません。", "questions": []},
}
