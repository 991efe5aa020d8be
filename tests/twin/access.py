"""Who is asking and what they may do: the app's JWT, installation tokens, people's tokens, permissions."""

from __future__ import annotations

import secrets
import string
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.twin.conversations import role_of
from tests.twin.limits import JWT_DRIFT, JWT_SECONDS, TOKEN_CHARACTERS, TOKEN_SECONDS
from tests.twin.state import Installation, Refused, Repository, Token, User, World, not_found

ALPHABET = string.ascii_letters + string.digits + "._-"
LEVELS = {"read": 1, "write": 2, "admin": 3}


@dataclass(frozen=True)
class Asker:
    """`app` is set for a valid JWT, `token` for a valid token; neither for an anonymous request."""

    app: bool = False
    token: Token | None = None

    @property
    def user(self) -> User | None:
        return self.token.user if self.token else None

    @property
    def owner(self) -> str:
        """Whose rate limit is used."""
        return self.token.owner if self.token else "app" if self.app else "anonymous"


@lru_cache(maxsize=4)
def new_key(name: str = "app") -> tuple[str, str]:
    """A private key and its public key, PEM. Made once per process and name: making one takes half a second."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def asker(world: World, header: str | None) -> Asker:
    """Reads `Authorization`: Bearer or token, and Basic with the token as password, as git sends it. Raises `Refused` 401."""
    if not header:
        return Asker()
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "basic":
        value = _password(value)
    elif scheme.lower() not in ("bearer", "token"):
        raise Refused(401, "Bad credentials")
    if value.count(".") == 2 and value.startswith("eyJ"):
        check_jwt(world, value)
        return Asker(app=True)
    return Asker(token=_live(world, value))


def _password(value: str) -> str:
    try:
        return b64decode(value, validate=True).decode().partition(":")[2]
    except ValueError:
        raise Refused(401, "Bad credentials") from None


def _live(world: World, value: str) -> Token:
    token = world.tokens.get(value)
    if token is None or (token.expires_at and token.expires_at <= world.clock.now()):
        raise Refused(401, "Bad credentials")
    if token.installation and token.installation.deleted:
        raise Refused(401, "Bad credentials")
    if token.installation and token.installation.suspended_at:
        raise Refused(403, "This installation has been suspended")
    return token


def check_jwt(world: World, value: str) -> None:
    """RS256 by the app's key, `iss` the app's id (or client id), `iat` not in the future, `exp` at most ten minutes ahead."""
    now = world.clock.seconds()
    try:
        options: Any = {"verify_exp": False, "verify_iat": False, "verify_aud": False, "require": ["iss", "iat", "exp"]}
        claims = jwt.decode(value, world.app.public_key, algorithms=["RS256"], options=options)
    except jwt.InvalidTokenError:
        raise Refused(401, "A JSON web token could not be decoded") from None
    if str(claims["iss"]) not in (str(world.app.id), client_id(world)):
        raise Refused(401, "'Issuer' claim ('iss') must be a valid app id or client id")
    if not isinstance(claims["iat"], int) or claims["iat"] > now + JWT_DRIFT:
        raise Refused(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
    if not isinstance(claims["exp"], int) or claims["exp"] <= now:
        raise Refused(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
    if claims["exp"] > now + JWT_SECONDS + 5:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")


def client_id(world: World) -> str:
    return f"Iv1.{world.app.id:016x}"


# ---------------------------------------------------------------- tokens


def installation_token(world: World, installation: Installation, request: Mapping[str, Any]) -> Token:
    """A new token, narrowed to what is asked. Raises `Refused` 403 when suspended, 422 for more than was granted."""
    if installation.suspended_at:
        raise Refused(403, "This installation has been suspended")
    asked = request.get("permissions") or {}
    for name, level in asked.items():
        if LEVELS.get(level, 9) > LEVELS.get(installation.permissions.get(name, ""), 0):
            raise Refused(422, "The permissions requested are not granted to this installation.")
    permissions = dict(asked) or dict(installation.permissions)
    if permissions:
        permissions.setdefault("metadata", "read")
    expires = world.clock.now() + timedelta(seconds=TOKEN_SECONDS)
    value = "ghs_" + "".join(secrets.choice(ALPHABET) for _ in range(TOKEN_CHARACTERS - 4))
    token = Token(value, world.app.bot, installation, permissions, _narrowed(world, installation, request), expires)
    world.tokens[value] = token
    return token


def _narrowed(world: World, installation: Installation, request: Mapping[str, Any]) -> frozenset[int] | None:
    ids, names = request.get("repository_ids"), request.get("repositories")
    if ids is None and names is None:
        return None
    seen = [one for one in world.repositories.values() if not one.deleted and installation.sees(one)]
    chosen = {one.id for one in seen if one.id in (ids or ()) or one.name in (names or ())}
    if len(chosen) < len(set(ids or ())) + len(set(names or ())):
        raise Refused(422, "There is at least one repository that does not exist or is not accessible to the parent installation.")
    return frozenset(chosen)


def user_token(world: World, user: User) -> Token:
    token = Token("ghp_" + secrets.token_hex(18), user)
    world.tokens[token.value] = token
    return token


def reachable(world: World, who: Token) -> list[Repository]:
    """The repositories of an installation's token."""
    return [one for one in world.repositories.values() if not one.deleted and _granted(who, one)]


# ---------------------------------------------------------------- permissions


def _granted(token: Token, repository: Repository) -> bool:
    if token.installation is None:
        return role_of(repository, token.user) != "none"
    return token.installation.sees(repository) and (token.repositories is None or repository.id in token.repositories)


def can_see(who: Asker, repository: Repository) -> bool:
    """A private repository is 404 for whoever it was not granted to."""
    return not repository.private or (who.token is not None and _granted(who.token, repository))


def authorise(who: Asker, repository: Repository, needs: Sequence[str], write: bool) -> None:
    """`needs` are alternatives, `name:level`. Raises `Refused` 404 (not visible), 401 or 403. A person's token may do what its owner may."""
    if not can_see(who, repository):
        raise not_found()
    token = who.token
    if token is None:
        return _refuse_anonymous(who, write)
    if token.installation is None or not (write or repository.private):
        return
    if not _granted(token, repository) or (needs and not any(_holds(token, need) for need in needs)):
        wanted = "; ".join(need.replace(":", "=") for need in needs)
        raise Refused(403, "Resource not accessible by integration", headers={"X-Accepted-GitHub-Permissions": wanted})


def _refuse_anonymous(who: Asker, write: bool) -> None:
    if who.app:
        raise Refused(403, "Resource not accessible by integration")
    if write:
        raise Refused(401, "Requires authentication")


def _holds(token: Token, need: str) -> bool:
    name, _, level = need.partition(":")
    return LEVELS.get(token.permissions.get(name, ""), 0) >= LEVELS[level]
