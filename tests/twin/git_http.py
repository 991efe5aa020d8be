"""Git over HTTP: the repositories through `git http-backend`, for fetching only, with the API's tokens."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING

from aiohttp import web

from tests.twin import access, git
from tests.twin.state import Refused, Repository

if TYPE_CHECKING:
    from tests.twin.server import Twin

CHALLENGE = {"WWW-Authenticate": 'Basic realm="GitHub"'}
SERVED = {"uploadpack.allowAnySHA1InWant": "true", "uploadpack.allowFilter": "true", "http.receivepack": "false", "safe.directory": "*"}
READ = ("contents:read",)


async def serve(twin: Twin, request: web.Request) -> web.StreamResponse:
    """`info/refs` and `git-upload-pack` of one repository. 401 without a token that may read it, 403 for a push."""
    service = request.query.get("service", request.match_info["tail"])
    if service == "git-receive-pack":
        return web.Response(status=403, text="Write access to repository not granted.\n")
    try:
        home = _repository(twin, request)
    except Refused as refused:
        status = 401 if refused.status in (401, 404) and "Authorization" not in request.headers else refused.status
        return web.Response(status=status, text=f"{refused.message}\n", headers=CHALLENGE if status == 401 else {})
    if request.match_info["tail"] == "info/refs":
        _turn(home)
    return await _run(home, request)


def _repository(twin: Twin, request: web.Request) -> Repository:
    who = access.asker(twin.world, request.headers.get("Authorization"))
    home = twin.world.repository(f"{request.match_info['owner']}/{request.match_info['repo']}")
    access.authorise(who, home, READ, write=False)
    return home


# ---------------------------------------------------------------- lagging


def lag(home: Repository, fetches: int | None) -> None:
    """From now on fetches see what is there now, for that many fetches or (None) until `catch_up`."""
    catch_up(home)
    home.served_dir = home.git_dir.with_name(f"{home.git_dir.stem}.lagging.git")
    git.clone(home.git_dir, home.served_dir)
    home.lagging_fetches = fetches


def catch_up(home: Repository) -> None:
    if home.served_dir is not None:
        shutil.rmtree(home.served_dir)
    home.served_dir = home.lagging_fetches = None


def _turn(home: Repository) -> None:
    if home.lagging_fetches == 0:
        catch_up(home)
    elif home.lagging_fetches is not None:
        home.lagging_fetches -= 1


# ---------------------------------------------------------------- CGI


def _environment(home: Repository, request: web.Request) -> dict[str, str]:
    """What the CGI program reads; the tokens stay out of it."""
    served = home.served_dir or home.git_dir
    own = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(served.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH_INFO": f"/{served.name}/{request.match_info['tail']}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_string,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "REMOTE_USER": "x-access-token",
        "REMOTE_ADDR": request.remote or "",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "GIT_CONFIG_COUNT": str(len(SERVED)),
    }
    for index, (key, value) in enumerate(SERVED.items()):
        own |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return own


async def _run(home: Repository, request: web.Request) -> web.StreamResponse:
    body = await request.read()  # aiohttp has already undone a gzip encoding
    pipe = asyncio.subprocess.PIPE
    quiet = asyncio.subprocess.DEVNULL
    environment = {**_environment(home, request), "CONTENT_LENGTH": str(len(body))}
    process = await asyncio.create_subprocess_exec("git", "http-backend", stdin=pipe, stdout=pipe, stderr=quiet, env=environment)
    assert process.stdin and process.stdout
    feeding = asyncio.create_task(_feed(process.stdin, body))
    try:
        return await _relay(request, process.stdout)
    finally:
        await feeding
        await process.wait()


async def _feed(pipe: asyncio.StreamWriter, body: bytes) -> None:
    try:
        pipe.write(body)
        await pipe.drain()
        pipe.close()
    except (BrokenPipeError, ConnectionResetError):
        return  # the program answered without reading everything


async def _relay(request: web.Request, output: asyncio.StreamReader) -> web.StreamResponse:
    """The program's headers, then its bytes as they come."""
    response = web.StreamResponse()
    while (line := (await output.readline()).decode().strip()) != "":
        key, _, value = line.partition(":")
        if key.lower() == "status":
            response.set_status(int(value.split()[0]))
        else:
            response.headers[key] = value.strip()
    await response.prepare(request)
    while chunk := await output.read(65_536):
        await response.write(chunk)
    await response.write_eof()
    return response
