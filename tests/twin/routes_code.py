"""Routes of a repository and its bytes: commits, compare, branches, tags, contents, permissions."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from tests.twin import diffs, git, payloads, payloads_talk, pulls
from tests.twin.conversations import role_of
from tests.twin.http import Answer, Call, Page, paged, route
from tests.twin.limits import COMPARE_FILES, CONTENT_BYTES
from tests.twin.routes_checks import commit_of
from tests.twin.state import Refused, node_id, not_found

REPO = "/repos/{owner}/{repo}"
READ = "contents:read"


@route("GET", REPO, "metadata:read")
async def get_repository(call: Call) -> Answer:
    return Answer(payloads.full_repository(call.world, call.home, call.who.user))


@route("GET", REPO + "/collaborators/{username}/permission", "metadata:read")
async def get_permission(call: Call) -> Answer:
    person = call.world.users.get(call.text("username").lower())
    if person is None:
        raise not_found()
    return Answer(payloads.permission(call.world, call.home, person))


@route("GET", REPO + "/collaborators/{username}", "metadata:read")
async def is_collaborator(call: Call) -> Answer:
    person = call.world.users.get(call.text("username").lower())
    if person is None or (person.login.lower() not in call.home.roles and role_of(call.home, person) != "admin"):
        raise not_found()
    return Answer(status=204)


# ---------------------------------------------------------------- commits


@route("GET", REPO + "/commits", READ)
async def list_commits(call: Call) -> Page:
    """Newest first, of `sha` or the default branch; `path` narrows. At most 1,000."""
    if git.is_empty(call.home.git_dir):
        raise Refused(409, "Git Repository is empty.")
    start = git.resolve(call.home.git_dir, call.query.get("sha") or call.home.default_branch)
    if start is None:
        raise not_found()
    paths = [call.query["path"]] if call.query.get("path") else []
    return Page(
        git.log(call.home.git_dir, start, paths=paths), lambda sha: payloads.commit(call.world, call.home, git.commit(call.home.git_dir, sha))
    )


@route("GET", REPO + "/commits/{commit_sha}/pulls", "pull_requests:read", READ)
async def list_pulls_of_commit(call: Call) -> Page:
    return Page(pulls.holding(call.home, commit_of(call, "commit_sha")), lambda one: payloads_talk.pull(call.world, one))


@route("GET", REPO + "/commits/{commit_sha}/branches-where-head", READ)
async def list_branches_of_head(call: Call) -> Answer:
    sha = commit_of(call, "commit_sha")
    found = [name for name, tip in git.refs(call.home.git_dir, "refs/heads/").items() if tip == sha]
    url = payloads.repository_url(call.world, call.home)
    return Answer(
        [{"name": name, "commit": {"sha": sha, "url": f"{url}/commits/{sha}"}, "protected": name in call.home.required_checks} for name in found]
    )


@route("GET", REPO + "/commits/{ref:.+}", READ)
async def get_commit(call: Call) -> Answer:
    """200; 422 no such commit; 409 empty repository. Answers for commits of forks too, as one object store serves all."""
    sha = commit_of(call)
    git_dir = holder(call, sha)
    if call.accepts("sha"):
        return Answer(sha, media="application/vnd.github.v3.sha")
    found = git.commit(git_dir, sha)
    changed = diffs.changes(git_dir, found.parents[0] if found.parents else git.EMPTY_TREE, sha)
    return Answer(payloads.commit(call.world, call.home, found, changed[:COMPARE_FILES]))


def holder(call: Call, *shas: str) -> Path:
    """The git directory that has all of these commits; a fork's also sees its parent's."""
    for git_dir in call.home.git_dirs:
        if all(git.resolve(git_dir, sha) for sha in shas):
            return git_dir
    raise not_found()


@route("GET", REPO + "/compare/{basehead:.+}", READ)
async def compare(call: Call) -> Answer:
    """`base...head`; names, ids, or `owner:branch` of a fork. 404 where one is missing or nothing is shared."""
    left, dots, right = call.text("basehead").partition("...")
    if not dots:
        raise not_found()
    base, head = _end(call, left), _end(call, right)
    git_dir = holder(call, base, head)
    merge_base = git.merge_base(git_dir, base, head)
    if merge_base is None:
        raise Refused(404, f"No common ancestor between {left} and {right}.")
    if call.accepts("diff"):
        return Answer(diffs.diff_text(git_dir, merge_base, head), media="application/vnd.github.v3.diff; charset=utf-8")
    return _comparison(call, git_dir, merge_base, base, head)


def _end(call: Call, name: str) -> str:
    owner, colon, branch = name.partition(":")
    homes = [one for one in (call.home, *call.home.forks) if not colon or one.owner.login.lower() == owner.lower()]
    for home in homes:
        if found := git.resolve(home.git_dir, branch if colon else name):
            return found
    raise not_found()


def _comparison(call: Call, git_dir: Path, merge_base: str, base: str, head: str) -> Answer:
    ahead, behind = git.ahead_behind(git_dir, base, head)
    word = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    shas = git.between(git_dir, base, head)

    def show(sha: str) -> Any:
        return payloads.commit(call.world, call.home, git.commit(git_dir, sha))

    commits = paged(call, Page(shas, show)) if "page" in call.query or "per_page" in call.query else Answer([show(sha) for sha in shas[:250]])
    url, page = (
        f"{payloads.repository_url(call.world, call.home)}/compare/{base}...{head}",
        f"{payloads.repository_page(call.world, call.home)}/compare",
    )
    files = [payloads.file(call.world, call.home, head, one) for one in diffs.changes(git_dir, merge_base, head)[:COMPARE_FILES]]
    links = {"url": url, "html_url": f"{page}/{base}...{head}", "permalink_url": f"{page}/{base}...{head}"}
    texts = {f"{kind}_url": f"{page}/{base}...{head}.{kind}" for kind in ("diff", "patch")}
    counts = {"status": word, "ahead_by": ahead, "behind_by": behind, "total_commits": len(shas)}
    ends = {"base_commit": show(base), "merge_base_commit": show(merge_base)}
    return Answer({**links, **texts, **counts, **ends, "commits": commits.body, "files": files}, headers=commits.headers)


# ---------------------------------------------------------------- branches, tags, git objects


@route("GET", REPO + "/branches", READ)
async def list_branches(call: Call) -> Page:
    wanted = call.query.get("protected")
    found = [
        (name, sha)
        for name, sha in git.refs(call.home.git_dir, "refs/heads/").items()
        if wanted in (None, str(name in call.home.required_checks).lower())
    ]
    return Page(found, lambda pair: payloads.short_branch(call.world, call.home, *pair))


@route("GET", REPO + "/branches/{branch:.+}", READ)
async def get_branch(call: Call) -> Answer:
    sha = git.refs(call.home.git_dir, "refs/heads/").get(call.text("branch"))
    if sha is None:
        raise Refused(404, "Branch not found")
    return Answer(payloads.branch(call.world, call.home, call.text("branch"), sha))


@route("GET", REPO + "/rules/branches/{branch:.+}", "metadata:read")
async def branch_rules(call: Call) -> Page:
    """The rules that hold for a branch; only the required checks are known here."""
    needed = call.home.required_checks.get(call.text("branch"), [])
    parameters = {"required_status_checks": [{"context": one} for one in needed], "strict_required_status_checks_policy": False}
    rule = {"type": "required_status_checks", "parameters": parameters, "ruleset_source_type": "Repository"}
    found = [{**rule, "ruleset_source": call.home.full_name, "ruleset_id": call.home.id}] if needed else []
    return Page(found, lambda one: one)


@route("GET", REPO + "/tags", READ)
async def list_tags(call: Call) -> Page:
    found = list(git.refs(call.home.git_dir, "refs/tags/").items())[::-1]
    return Page(found, lambda pair: payloads.tag(call.world, call.home, *pair))


@route("GET", REPO + "/git/commits/{commit_sha}", READ)
async def get_git_commit(call: Call) -> Answer:
    sha = git.resolve(call.home.git_dir, call.text("commit_sha"))
    if sha != call.text("commit_sha"):
        raise not_found()
    return Answer(payloads.git_commit(call.world, call.home, git.commit(call.home.git_dir, sha)))


@route("GET", REPO + "/git/ref/{ref:.+}", READ)
async def get_ref(call: Call) -> Answer:
    name = call.text("ref")
    sha = git.refs(call.home.git_dir, f"refs/{name}").get("")
    if sha is None:
        raise not_found()
    url = payloads.repository_url(call.world, call.home)
    target = {"sha": sha, "type": "commit", "url": f"{url}/git/commits/{sha}"}
    return Answer({"ref": f"refs/{name}", "node_id": node_id("Ref", call.home.id), "url": f"{url}/git/refs/{name}", "object": target})


# ---------------------------------------------------------------- contents


@route("GET", REPO + "/contents/{path:.*}", READ)
async def get_contents(call: Call) -> Answer:
    """A file, or a directory's list. A symlink to a file of the repository gives that file, as on GitHub."""
    sha = git.resolve(call.home.git_dir, call.query.get("ref") or call.home.default_branch)
    if sha is None:
        raise Refused(404, f"No commit found for the ref {call.query.get('ref')}")
    path = call.text("path").strip("/")
    entry = git.entry(call.home.git_dir, sha, path)
    if entry is None:
        raise not_found()
    if entry.kind == "tree":
        prefix = f"{path}/" if path else ""
        return Answer([payloads.content(call.world, call.home, sha, prefix + one.name, one) for one in git.entries(call.home.git_dir, entry.sha)])
    return _file(call, sha, path, _followed(call, sha, path, entry))


def _followed(call: Call, sha: str, path: str, entry: git.TreeEntry) -> git.TreeEntry:
    if entry.mode != "120000":
        return entry
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), git.blob(call.home.git_dir, entry.sha).decode("utf-8", "surrogateescape")))
    found = None if target.startswith(("/", "..")) else git.entry(call.home.git_dir, sha, target)
    return found if found and found.kind == "blob" else entry


def _file(call: Call, sha: str, path: str, entry: git.TreeEntry) -> Answer:
    if entry.kind == "commit":
        return Answer({**payloads.content(call.world, call.home, sha, path, entry), "submodule_git_url": None})
    data = git.blob(call.home.git_dir, entry.sha)
    if call.accepts("raw"):
        return Answer(data, media="application/vnd.github.v3.raw; charset=utf-8")
    shown = payloads.content(call.world, call.home, sha, path, entry, data if len(data) <= CONTENT_BYTES else b"")
    link = {"target": data.decode("utf-8", "replace")} if entry.mode == "120000" else {}
    return Answer({**shown, **link, **({"encoding": "none"} if len(data) > CONTENT_BYTES else {})})
