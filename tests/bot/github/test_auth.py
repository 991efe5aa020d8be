"""The app's JWT and its installations' tokens, against the twin."""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from bot.github.auth import GitHub, app_jwt, signing_key
from bot.github.client import session
from bot.github.errors import Forbidden, NotFound, RateLimited, Unavailable
from tests.bot.github.scene import REPO, scene
from tests.twin.access import new_key


def test_a_jwt_is_signed_and_short() -> None:
    private, public = new_key()
    head, claims, signature = app_jwt(signing_key(private), 77, 1_000_000.9).split(".")

    def plain(part: str) -> bytes:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))

    assert json.loads(plain(head)) == {"alg": "RS256", "typ": "JWT"}
    told = json.loads(plain(claims))
    assert told == {"iat": 999_940, "exp": 1_000_480, "iss": "77"} and told["exp"] - told["iat"] <= 540
    key = serialization.load_pem_public_key(public.encode())
    assert isinstance(key, RSAPublicKey)
    key.verify(plain(signature), f"{head}.{claims}".encode(), PKCS1v15(), hashes.SHA256())


async def test_one_token_for_many_at_once_and_a_new_one_in_time(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await asyncio.gather(*(at.client.get(f"/repos/{REPO}/pulls/1") for _ in range(30)))
        assert at.tokens() == 1 and at.github.installation(at.installation) is at.client
        first = await at.github.token(at.installation)
        at.twin.world.clock.advance(54 * 60)
        assert await at.github.token(at.installation) == first
        at.twin.world.clock.advance(2 * 60)
        renewed = await asyncio.gather(*(at.github.token(at.installation) for _ in range(10)))
        assert len(set(renewed)) == 1 and renewed[0] != first and at.tokens() == 2
        assert await at.github.token(at.installation, 3_590) == renewed[0]
        at.twin.world.clock.advance(30 * 60)
        assert await at.github.token(at.installation, 40 * 60) != renewed[0]


async def test_a_token_that_is_no_longer_known_is_replaced_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.world.tokens.pop(await at.github.token(at.installation))
        answers = await asyncio.gather(*(at.client.get(f"/repos/{REPO}") for _ in range(8)))
        assert {one["full_name"] for one in answers} == {REPO} and at.tokens() == 2
        at.twin.faults.answer(401, "/repos/*", times=5)
        with pytest.raises(Forbidden) as caught:
            await at.client.get(f"/repos/{REPO}/branches")
        assert caught.value.status == 401 and len(at.twin.calls("GET", "/repos/*/branches")) == 2


async def test_one_who_asks_and_leaves_does_not_take_the_token_from_the_others(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.slow(0.05, "*/access_tokens")
        leaving, staying = (asyncio.ensure_future(at.github.token(at.installation)) for _ in range(2))
        await asyncio.sleep(0.01)
        leaving.cancel()
        assert await staying == await at.github.token(at.installation) and at.tokens() == 1


async def test_suspended_and_removed(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.client.get(f"/repos/{REPO}")
        installation = at.twin.world.installations[at.installation]
        at.twin.suspend(installation)
        with pytest.raises(Forbidden) as caught:
            await at.client.get(f"/repos/{REPO}")
        assert caught.value.suspended and caught.value.status == 403
        at.github.ended(at.installation)
        with pytest.raises(Forbidden) as caught:
            await at.github.token(at.installation)
        assert caught.value.suspended
        at.twin.suspend(installation, False)
        assert await at.github.token(at.installation)
        at.twin.uninstall(installation)
        with pytest.raises(NotFound):
            await at.client.get(f"/repos/{REPO}")


async def test_a_token_is_asked_for_again_after_an_outage_and_not_kept_after_a_failure(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.unavailable("*/access_tokens", times=2)
        assert await at.github.token(at.installation) and at.tokens() == 3
        at.github.forget(at.installation)
        at.twin.faults.unavailable("*/access_tokens", times=3)
        with pytest.raises(Unavailable):
            await at.github.token(at.installation)
        assert await at.github.token(at.installation)
        at.github.forget(at.installation)
        at.twin.faults.secondary("*/access_tokens", retry_after=120)
        with pytest.raises(RateLimited):
            await at.github.token(at.installation)


async def test_another_key_is_refused(tmp_path: Path) -> None:
    async with scene(tmp_path) as at, session() as connections:
        other = GitHub(connections, at.twin.url, at.twin.app.id, new_key("another")[0], clock=at.twin.world.clock.seconds)
        with pytest.raises(Forbidden) as caught:
            await other.token(at.installation)
        assert caught.value.status == 401
        assert (await at.github.app.get("/app"))["id"] == at.twin.app.id


async def test_no_token_is_shown(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        secret = await at.github.token(at.installation)
        assert secret not in repr(vars(at.github)) and at.github.jwt() not in repr(vars(at.github))
