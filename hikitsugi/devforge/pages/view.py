"""Templates and the little arithmetic they need."""

import zlib
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.pages.markdown import render
from hikitsugi.devforge.records import Person

_FOLDER = Path(__file__).parent.parent
STATIC = StaticFiles(directory=_FOLDER / "static")
CHOSEN_PERSON = "devforge_person"
_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_MIDDLE_BRIGHTNESS = 150
_EMOJIS = {
    "+1": "👍",
    "thumbsup": "👍",
    "-1": "👎",
    "thumbsdown": "👎",
    "laugh": "😄",
    "confused": "😕",
    "heart": "❤️",
    "hooray": "🎉",
    "tada": "🎉",
    "rocket": "🚀",
}


def show(request: Request, template: str, status: int = 200, **facts: Any) -> HTMLResponse:
    """A page made of a template and its facts."""
    forge: DevForge = request.app.state.forge
    known = {"people": forge.people, "chosen": _chosen(request, forge), **facts}
    headers = {"content-security-policy": _POLICY, "referrer-policy": "same-origin", "cache-control": "no-store"}
    return _TEMPLATES.TemplateResponse(request, template, known, status_code=status, headers=headers)


def _chosen(request: Request, forge: DevForge) -> Person | None:
    """Who wrote last from this browser, or the first human."""
    last = request.cookies.get(CHOSEN_PERSON)
    humans = (somebody for somebody in forge.people if not somebody.is_bot)
    return next((somebody for somebody in forge.people if somebody.login == last), None) or next(humans, None)


def _moment(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _ink(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (0, 2, 4))
    is_bright = (red * 299 + green * 587 + blue * 114) / 1000 > _MIDDLE_BRIGHTNESS
    return "#1f2328" if is_bright else "#ffffff"


def _hue(name: str) -> str:
    return str(zlib.crc32(name.encode()) % 360)


def _emoji(name: str) -> str:
    return _EMOJIS.get(name, f":{name}:")


def _templates() -> Jinja2Templates:
    templates = Jinja2Templates(directory=_FOLDER / "templates")
    templates.env.trim_blocks = templates.env.lstrip_blocks = True
    templates.env.filters.update(markdown=render, moment=_moment, ink=_ink, hue=_hue, emoji=_emoji)
    return templates


_TEMPLATES = _templates()
