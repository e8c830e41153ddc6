"""Comments as a browser shows them: Markdown without raw HTML but folded parts, hidden markers left out."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup

_HIDDEN = re.compile(r"^[ \t]*<!--.*?-->[ \t]*$", re.MULTILINE | re.DOTALL)
_FOLD = re.compile(r"<p>&lt;details&gt;(?:<br />)?\n?&lt;summary&gt;(.*?)&lt;/summary&gt;</p>")
_UNFOLD = "<p>&lt;/details&gt;</p>"
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def render(text: str) -> Markup:
    """HTML of a comment; whatever is HTML in its text is shown, not obeyed, but for parts that are folded."""
    escaped = _PARSER.render(_HIDDEN.sub("", text))
    folded = len(_FOLD.findall(escaped))
    if folded and folded == escaped.count(_UNFOLD):
        escaped = _FOLD.sub(r"<details><summary>\1</summary>", escaped).replace(_UNFOLD, "</details>")
    return Markup(escaped)  # noqa: S704 - the parser escapes: its option html is off


def _draw_boxes(state: StateCore) -> None:
    """Turn the `[x]` that begins a list item into a drawn box."""
    for item, paragraph, inline in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        begins_item = item.type == "list_item_open" and paragraph.type == "paragraph_open"
        first = inline.children[0] if begins_item and inline.children else None
        if first and first.type == "text" and first.content[:4] in _BOXES:
            first.content = _BOXES[first.content[:4]] + first.content[4:]
            item.attrSet("class", "task")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    parser.core.ruler.push("boxes", _draw_boxes)
    return parser


_PARSER = _parser()
