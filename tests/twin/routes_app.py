"""Routes of the app itself: its installations and tokens, its deliveries, its manifest; and the few that need nobody."""

from __future__ import annotations

from datetime import timedelta

from tests.twin import access, deliveries, payloads
from tests.twin.http import Answer, Call, Page, route
from tests.twin.limits import DELIVERY_DAYS, MANIFEST_SECONDS
from tests.twin.state import Installation, Refused, not_found, stamp

APP = "/app"


def _installation(call: Call) -> Installation:
    found = call.world.installations.get(call.number("installation_id"))
    if found is None or found.deleted:
        raise not_found()
    return found


@route("GET", APP, jwt=True)
async def get_app(call: Call) -> Answer:
    return Answer(payloads.app(call.world, call.world.app))


@route("GET", APP + "/installations", jwt=True)
async def list_installations(call: Call) -> Page:
    found = [one for one in call.world.installations.values() if not one.deleted]
    return Page(found, lambda one: payloads.installation(call.world, one))


@route("GET", APP + "/installations/{installation_id}", jwt=True)
async def get_installation(call: Call) -> Answer:
    return Answer(payloads.installation(call.world, _installation(call)))


@route("POST", APP + "/installations/{installation_id}/access_tokens", jwt=True, paced=False)
async def create_token(call: Call) -> Answer:
    made = access.installation_token(call.world, _installation(call), call.body)
    return Answer(payloads.token(call.world, made, access.reachable(call.world, made)), 201)


@route("GET", "/repos/{owner}/{repo}/installation", jwt=True)
async def installation_of_repository(call: Call) -> Answer:
    found = call.world.installation_of(call.home)
    if found is None:
        raise not_found()
    return Answer(payloads.installation(call.world, found))


@route("GET", "/installation/repositories", "metadata:read")
async def installation_repositories(call: Call) -> Page:
    token = call.who.token
    if token is None or token.installation is None:
        raise Refused(403, "You must authenticate with an installation access token in order to list repositories for an installation.")
    selection = "all" if token.installation.repositories is None and token.repositories is None else "selected"
    found = access.reachable(call.world, token)
    return Page(found, lambda one: payloads.repository(call.world, one), "repositories", {"repository_selection": selection})


@route("DELETE", "/installation/token", paced=False)
async def revoke_token(call: Call) -> Answer:
    if call.who.token is None or call.who.token.installation is None:
        raise Refused(401, "Bad credentials")
    del call.world.tokens[call.who.token.value]
    return Answer(status=204)


# ---------------------------------------------------------------- deliveries


@route("GET", APP + "/hook/config", jwt=True)
async def hook_config(call: Call) -> Answer:
    return Answer({"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": call.twin.courier.to or ""})


@route("GET", APP + "/hook/deliveries", jwt=True)
async def list_deliveries(call: Call) -> Answer:
    """Newest first, three days back, by `cursor` rather than by page."""
    oldest = call.world.clock.now() - timedelta(days=DELIVERY_DAYS)
    found = [one for one in reversed(call.twin.courier.sent) if one.at >= oldest]
    if wanted := call.query.get("status"):
        found = [one for one in found if deliveries.failed(one) == (wanted == "failure")]
    if call.query.get("cursor", "").isdigit():
        found = [one for one in found if one.id < int(call.query["cursor"])]
    size = min(int(call.query["per_page"]), 100) if call.query.get("per_page", "").isdigit() else 30
    more = f'<{call.world.api}/app/hook/deliveries?per_page={size}&cursor={found[size - 1].id}>; rel="next"' if len(found) > size else ""
    return Answer([deliveries.summary(one) for one in found[:size]], headers={"Link": more} if more else {})


@route("GET", APP + "/hook/deliveries/{delivery_id}", jwt=True)
async def get_delivery(call: Call) -> Answer:
    return Answer(deliveries.detail(call.twin.courier.find(call.number("delivery_id"))))


@route("POST", APP + "/hook/deliveries/{delivery_id}/attempts", jwt=True, paced=False)
async def redeliver(call: Call) -> Answer:
    """Accepted at once; sent in the background."""
    delivery = call.twin.courier.find(call.number("delivery_id"))
    call.twin.in_background(call.twin.courier.redeliver(delivery.id))
    return Answer({}, 202)


# ---------------------------------------------------------------- manifest and what needs nobody


@route("POST", "/app-manifests/{code}/conversions", paced=False)
async def convert_manifest(call: Call) -> Answer:
    """The app's id and secrets for a code, once and within an hour."""
    issued = call.twin.manifest_codes.pop(call.text("code"), None)
    if issued is None or call.world.clock.seconds() - issued > MANIFEST_SECONDS:
        raise not_found()
    app = call.world.app
    secrets = {"client_secret": "0" * 40, "webhook_secret": app.webhook_secret, "pem": app.private_key}
    return Answer({**payloads.app(call.world, app), **secrets}, 201)


@route("GET", "/users/{username}")
async def get_user(call: Call) -> Answer:
    found = call.world.users.get(call.text("username").lower())
    if found is None:
        raise not_found()
    moment = stamp(call.world.app.created_at)
    blank = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    return Answer({**payloads.user(call.world, found), **blank, **counts, "created_at": moment, "updated_at": moment})


@route("GET", "/rate_limit")
async def rate_limit(call: Call) -> Answer:
    """Free of charge."""
    rate = call.twin.rate(call.who)
    return Answer({"resources": {"core": rate, "search": rate}, "rate": rate})


@route("GET", "/meta")
async def meta(call: Call) -> Answer:
    return Answer({"verifiable_password_authentication": False})


@route("GET", "/zen")
async def zen(call: Call) -> Answer:
    return Answer("Anything added dilutes everything else.", media="text/plain; charset=utf-8")
