"""Routes for webhooks and what was sent to them."""

import base64
import binascii
import json
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from hikitsugi.devforge.courier import Courier
from hikitsugi.devforge.gitlab.asking import Caller, Home, Paged, wish
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json, stamp
from hikitsugi.devforge.hooks import Delivery, Hook
from hikitsugi.devforge.records import Permission
from hikitsugi.devforge.refusals import Invalid, NotAllowed
from hikitsugi.devforge.repository import Repository

_EVENTS = {"issues_events": "Issue Hook", "note_events": "Note Hook", "merge_requests_events": "Merge Request Hook"}
_NEVER_SENT = (
    "confidential_issues_events",
    "confidential_note_events",
    "tag_push_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "releases_events",
    "milestone_events",
    "emoji_events",
    "resource_access_token_events",
    "resource_deploy_token_events",
    "repository_update_events",
)
_KEY_LENGTH = 32


async def _maintainer(caller: Caller) -> None:
    if caller.permission is not Permission.ADMIN:
        raise NotAllowed(caller.login)


async def _courier(request: Request) -> Courier:
    return request.app.state.courier


routes = APIRouter(route_class=GitLabRoute, prefix="/hooks", dependencies=[Depends(_maintainer)])
Carrier = Annotated[Courier, Depends(_courier)]


class HookWish(BaseModel):
    """Where to send, what, and how it proves itself."""

    url: str | None = None
    token: str | None = None
    signing_token: str | None = None
    push_events: bool | None = None
    issues_events: bool | None = None
    note_events: bool | None = None
    merge_requests_events: bool | None = None

    def events(self, had: frozenset[str]) -> frozenset[str]:
        """The events wanted, where the wish says nothing those there were."""
        said = {name: getattr(self, flag) for flag, name in _EVENTS.items()}
        return frozenset(name for name, wanted in said.items() if (name in had if wanted is None else wanted))


Wished = Annotated[HookWish, Depends(wish(HookWish))]


@routes.get("")
def list_hooks(home: Home, page: Paged) -> list[Json]:
    """All hooks."""
    return [_shape(home, hook) for hook in page.cut(home.hooks.all)]


@routes.post("", status_code=201)
def create_hook(home: Home, new: Wished) -> Json:
    """Make a hook."""
    _refuse_bad_key(new.signing_token)
    hook = home.hooks.add(new.url or "", new.events(frozenset()), new.token or "", new.signing_token or "")
    return _shape(home, hook)


@routes.get("/{hook_id:int}")
def read_hook(hook_id: int, home: Home) -> Json:
    """One hook."""
    return _shape(home, home.hooks.hook(hook_id))


@routes.put("/{hook_id:int}")
def change_hook(hook_id: int, home: Home, change: Wished) -> Json:
    """Change a hook."""
    _refuse_bad_key(change.signing_token)
    old = home.hooks.hook(hook_id)
    new = replace(
        old,
        url=change.url or old.url,
        secret=old.secret if change.token is None else change.token,
        signing_token=old.signing_token if change.signing_token is None else change.signing_token,
        events=change.events(old.events),
    )
    return _shape(home, home.hooks.change(new))


@routes.delete("/{hook_id:int}", status_code=204)
def delete_hook(hook_id: int, home: Home) -> Response:
    """Remove a hook."""
    home.hooks.remove(hook_id)
    return Response(status_code=204)


@routes.get("/{hook_id:int}/events")
def list_deliveries(hook_id: int, home: Home, page: Paged) -> list[Json]:
    """What was sent to a hook, newest first."""
    home.hooks.hook(hook_id)
    return [_delivery(one) for one in page.cut(home.hooks.deliveries(hook_id)[::-1])]


@routes.post("/{hook_id:int}/events/{delivery_id:int}/resend", status_code=201)
def resend(hook_id: int, delivery_id: int, home: Home, carrier: Carrier) -> dict[str, Any]:
    """Send the same delivery again."""
    carrier.send_again(home, home.hooks.delivery(hook_id, delivery_id))
    return {"response_status": 200}


def _refuse_bad_key(token: str | None) -> None:
    if not token:
        return
    try:
        is_good = token.startswith("whsec_") and len(base64.b64decode(token[6:], validate=True)) == _KEY_LENGTH
    except binascii.Error:
        is_good = False
    if not is_good:
        raise Invalid("ProjectHook", "signing_token", "custom", "must be whsec_ and the base64 of 32 bytes")


def _shape(home: Repository, hook: Hook) -> Json:
    wants_all = "*" in hook.events
    return {
        "id": hook.id,
        "url": hook.url,
        "name": None,
        "description": None,
        "created_at": stamp(hook.created_at),
        "push_events": False,
        **{flag: wants_all or name in hook.events for flag, name in _EVENTS.items()},
        **dict.fromkeys(_NEVER_SENT, False),
        "enable_ssl_verification": True,
        "alert_status": "executable",
        "disabled_until": None,
        "url_variables": [],
        "push_events_branch_filter": None,
        "branch_filter_strategy": "wildcard",
        "custom_webhook_template": None,
        "custom_headers": [],
        "token_present": bool(hook.secret),
        "signing_token_present": bool(hook.signing_token),
        "project_id": home.id,
    }


def _delivery(one: Delivery) -> Json:
    return {
        "id": one.id,
        "url": one.letter.hook.url,
        "trigger": f"{one.letter.event.removesuffix(' Hook').lower().replace(' ', '_')}_hooks",
        "request_headers": dict(one.headers) | ({"X-Gitlab-Token": "[REDACTED]"} if one.letter.hook.secret else {}),
        "request_data": json.loads(one.letter.body),
        "response_headers": {},
        "response_body": one.outcome.answer,
        "execution_duration": round(one.outcome.seconds, 2),
        "response_status": str(one.outcome.status) if one.outcome.status else "internal error",
        "created_at": stamp(one.at),
    }
