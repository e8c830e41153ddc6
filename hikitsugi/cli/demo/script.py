"""What the demo's scripted model does: it plans, reads, mends, tests and submits, reacting to what it is told."""

from hikitsugi.cli.demo import planner, sample
from hikitsugi.language_model.scripted import Answer, Request, Result, say, think, use

TESTS = "python -m unittest -v"
_REQUESTS = ("Issue #", "Pull request #", "Merge request !", "[New Comment")


def reply(request: Request) -> Answer:
    """The next turn, or the summary of a session that is over."""
    if request.text.startswith("Record of session"):
        return say(_summary(request.text))
    if request.form:
        return planner.reply(request)
    if action := planner.action_in(request):
        return _carry_out(action, request)
    asked, done = _this_pass(request)
    if request.turn == 0 or not asked.startswith("[New Comment"):
        return _mend(done)
    return _improve_readme(done) if "readme" in asked.casefold() else _answer(asked)


def _carry_out(action: str, request: Request) -> Answer:
    """One action of the plan."""
    done = list(request.results_since(request.texts[0]))
    match action:
        case planner.MEND:
            return _mend(done)
        case planner.TEST:
            return _add_test(done)
        case planner.README:
            return _improve_readme(done)
        case _:
            return _answer(_this_pass(request)[0])


def _this_pass(request: Request) -> tuple[str, list[Result]]:
    """The latest request of the people, and every tool result since."""
    requests = [text for text in request.texts if text.startswith(_REQUESTS)]
    return requests[-1], list(request.results_since(requests[-1]))


def _mend(done: list[Result]) -> Answer:
    tools = [result.tool for result in done if not result.is_error]
    if "read" not in tools:
        look = think("まず失敗するテストと実装を読みます。") + use("read", path="receipt.py")
        return look + use("read", path="test_receipt.py") + use("run", command=TESTS)
    mended = any(sample.MENDED.splitlines()[0].strip() in result.text for result in done if result.tool == "read")
    if "edit" not in tools and not mended:
        plan = think("端数処理が商品ごとになっています。合計してから 1 回だけ切り捨てます。")
        return plan + use("edit", path="receipt.py", old_string=sample.BROKEN, new_string=sample.MENDED)
    return _test_and_submit(
        done,
        after="read" if mended else "edit",
        summary="消費税の切り捨てを商品ごとからレシート 1 枚につき 1 回に直しました。99 円 × 3 点は 326 円になります。",
    )


def _add_test(done: list[Result]) -> Answer:
    tools = [result.tool for result in done if not result.is_error]
    if "read" not in tools:
        return use("read", path="test_receipt.py")
    if "edit" not in tools:
        added = say("端数が出ない場合のテストも足します。")
        return added + use("edit", path="test_receipt.py", old_string=sample.TEST_BEFORE, new_string=sample.TEST_AFTER)
    return _test_and_submit(done, after="edit", summary="税の端数が出ない場合のテストを追加しました。")


def _improve_readme(done: list[Result]) -> Answer:
    tools = [result.tool for result in done if not result.is_error]
    if "read" not in tools:
        return think("README を読みます。") + use("read", path="README.md")
    if "write" not in tools:
        return use("write", path="README.md", content=sample.USAGE)
    return _test_and_submit(done, after="write", summary="README に使い方を書きました。")


def _test_and_submit(done: list[Result], after: str, summary: str) -> Answer:
    last_change = max(n for n, result in enumerate(done) if result.tool == after)
    runs = [result for result in done[last_change:] if result.tool == "run"]
    if not runs or runs[-1].text.startswith("Interrupted"):
        return say("テストで確かめます。") + use("run", command=TESTS)
    passed = not runs[-1].is_error and "OK" in runs[-1].text
    evidence = f"`{TESTS}` は成功しました。" if passed else f"`{TESTS}` を確認できませんでした: {runs[-1].text[:300]}"
    return use("submit", status="done" if passed else "blocked", summary=summary, evidence=evidence)


def _summary(record: str) -> str:
    """What the record says under the headings that a summary has."""
    parts = {part.partition("\n")[0]: part.partition("\n")[2] for part in record.split("\n\n# ")}
    wanted = {
        "目的": "Request",
        "変更": "Change request",
        "問題": "Failed",
        "決定事項": "Comments of people",
        "検証": "Verified",
        "残作業": "",
    }
    return "\n".join(f"## {heading}\n{parts.get(part, 'なし')}" for heading, part in wanted.items())


def _answer(asked: str) -> Answer:
    said = asked.partition("\n")[2].strip()
    summary = (
        f"コメントを読みました: 「{said[:200]}」\n\n"
        "このデモのモデルは台本どおりに答えます。「README に使い方を書いて」と頼むと README を直し、"
        "「ありがとう」とだけ書くと完了します。"
    )
    return use("submit", status="done", summary=summary)
