"""Routes for webhooks and what was sent to them."""

import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from hikitsugi.devforge.courier import Courier
from hikitsugi.devforge.github.asking import At, Caller, Home, Paged
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import Json, stamp
from hikitsugi.devforge.github.post import ping
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.hooks import Delivery, Hook
from hikitsugi.devforge.records import Permission, Person
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository


async def _admin(caller: Caller) -> Person:
    # To anybody else GitHub denies that there are hooks at all.
    if caller.permission is not Permission.ADMIN:
        raise NotThere("hooks")
    return caller


async def courier(request: Request) -> Courier:
    """Who carries the webhooks."""
    return request.app.state.courier


Admin = Annotated[Person, Depends(_admin)]
Carrier = Annotated[Courier, Depends(courier)]
routes = APIRouter(route_class=GitHubRoute, prefix="/hooks", dependencies=[Depends(_admin)])


class Config(BaseModel):
    """Where to send and how to sign."""

    url: str | None = None
    secret: str | None = None


class NewHook(BaseModel):
    """What a hook is made with."""

    config: Config
    events: list[str] = ["push"]
    active: bool = True


class HookChange(BaseModel):
    """What a hook's fields should become."""

    config: Config = Config()
    events: list[str] | None = None
    active: bool | None = None


@routes.get("")
def list_hooks(home: Home, links: At, page: Paged) -> list[Json]:
    """All hooks."""
    return [_shape(links, home, hook) for hook in page.cut(home.hooks.all)]


@routes.post("", status_code=201)
def create_hook(home: Home, admin: Admin, carrier: Carrier, links: At, new: NewHook) -> Json:
    """Make a hook, which is greeted by a ping."""
    hook = home.hooks.add(new.config.url or "", new.events, new.config.secret or "")
    if not new.active:
        hook = home.hooks.change(replace(hook, is_active=False))
    carrier.send(home, hook, ping(links.site, home, hook, admin, _shape(links, home, hook)))
    return _shape(links, home, hook)


@routes.get("/{hook_id}")
def read_hook(hook_id: int, home: Home, links: At) -> Json:
    """One hook."""
    return _shape(links, home, home.hooks.hook(hook_id))


@routes.patch("/{hook_id}")
def change_hook(hook_id: int, home: Home, links: At, change: HookChange) -> Json:
    """Change a hook."""
    old = home.hooks.hook(hook_id)
    new = replace(
        old,
        url=change.config.url or old.url,
        secret=old.secret if change.config.secret is None else change.config.secret,
        events=old.events if change.events is None else frozenset(change.events),
        is_active=old.is_active if change.active is None else change.active,
    )
    return _shape(links, home, home.hooks.change(new))


@routes.delete("/{hook_id}", status_code=204)
def delete_hook(hook_id: int, home: Home) -> Response:
    """Remove a hook."""
    home.hooks.remove(hook_id)
    return Response(status_code=204)


@routes.get("/{hook_id}/deliveries")
def list_deliveries(hook_id: int, home: Home, page: Paged, status: str = "") -> list[Json]:
    """What was sent to a hook, newest first."""
    home.hooks.hook(hook_id)
    sent = [one for one in reversed(home.hooks.deliveries(hook_id)) if status in {"", _outcome(one)}]
    return [_delivery(home, one) for one in page.cut(sent)]


@routes.get("/{hook_id}/deliveries/{delivery_id}")
def read_delivery(hook_id: int, delivery_id: int, home: Home) -> Json:
    """One attempt with what was sent and answered."""
    one = home.hooks.delivery(hook_id, delivery_id)
    return _delivery(home, one) | {
        "url": one.letter.hook.url,
        "request": {"headers": dict(one.headers), "payload": json.loads(one.letter.body)},
        "response": {"headers": {}, "payload": one.outcome.answer},
    }


@routes.post("/{hook_id}/deliveries/{delivery_id}/attempts", status_code=202)
def redeliver(hook_id: int, delivery_id: int, home: Home, carrier: Carrier) -> Json:
    """Send the same delivery again."""
    carrier.send_again(home, home.hooks.delivery(hook_id, delivery_id))
    return {}


def _shape(links: Links, home: Repository, hook: Hook) -> Json:
    url = f"{links.repository(home)}/hooks/{hook.id}"
    sent = home.hooks.deliveries(hook.id)
    last = {"code": sent[-1].outcome.status, "status": _outcome(sent[-1]), "message": None} if sent else {}
    config = {"url": hook.url, "content_type": "json", "insecure_ssl": "0"}
    return {
        "type": "Repository",
        "id": hook.id,
        "name": "web",
        "active": hook.is_active,
        "events": sorted(hook.events),
        "config": config | ({"secret": "********"} if hook.secret else {}),
        "updated_at": stamp(hook.updated_at),
        "created_at": stamp(hook.created_at),
        "url": url,
        "test_url": f"{url}/test",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": last or {"code": None, "status": "unused", "message": None},
    }


def _outcome(one: Delivery) -> str:
    return "success" if one.arrived else "failure"


def _delivery(home: Repository, one: Delivery) -> Json:
    return {
        "id": one.id,
        "guid": one.letter.key,
        "delivered_at": stamp(one.at),
        "redelivery": one.is_repeat,
        "duration": round(one.outcome.seconds, 2),
        "status": "OK" if one.arrived else "Invalid HTTP Response: " + str(one.outcome.status),
        "status_code": one.outcome.status,
        "event": one.letter.event,
        "action": one.letter.action,
        "installation_id": None,
        "repository_id": home.id,
        "throttled_at": None,
    }
