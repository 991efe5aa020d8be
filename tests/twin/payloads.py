"""GitHub's JSON for accounts, apps, repositories, commits, branches and files; complete enough for its published models."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tests.twin import git
from tests.twin.access import client_id
from tests.twin.conversations import role_of
from tests.twin.diffs import FileChange
from tests.twin.state import App, Installation, Json, Label, Reaction, Repository, Token, User, World, node_id, stamp

REPOSITORY_LINKS = {
    "archive_url": "/{archive_format}{/ref}", "assignees_url": "/assignees{/user}", "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}", "collaborators_url": "/collaborators{/collaborator}", "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}", "compare_url": "/compare/{base}...{head}", "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors", "deployments_url": "/deployments", "downloads_url": "/downloads", "events_url": "/events",
    "forks_url": "/forks", "git_commits_url": "/git/commits{/sha}", "git_refs_url": "/git/refs{/sha}", "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks", "issue_comment_url": "/issues/comments{/number}", "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}", "keys_url": "/keys{/key_id}", "labels_url": "/labels{/name}", "languages_url": "/languages",
    "merges_url": "/merges", "milestones_url": "/milestones{/number}", "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}", "releases_url": "/releases{/id}", "stargazers_url": "/stargazers", "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers", "subscription_url": "/subscription", "tags_url": "/tags", "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}  # fmt: skip
USER_LINKS = {
    "followers_url": "/followers", "following_url": "/following{/other_user}", "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}", "subscriptions_url": "/subscriptions", "organizations_url": "/orgs",
    "repos_url": "/repos", "events_url": "/events{/privacy}", "received_events_url": "/received_events",
}  # fmt: skip
RIGHTS = ("read", "triage", "write", "maintain", "admin")


def user(world: World, one: User) -> Json:
    url = f"{world.api}/users/{quote(one.login)}"
    return {
        "login": one.login, "id": one.id, "node_id": node_id("User", one.id), "avatar_url": f"{world.html}/avatars/{one.id}",
        "gravatar_id": "", "url": url, "html_url": f"{world.html}/{one.login.removesuffix('[bot]')}",
        **{key: url + tail for key, tail in USER_LINKS.items()},
        "type": one.kind, "site_admin": False, "user_view_type": "public",
    }  # fmt: skip


def app(world: World, one: App, events: Sequence[str] | None = None) -> Json:
    return {
        "id": one.id, "slug": one.slug, "node_id": node_id("App", one.id), "client_id": client_id(world), "owner": user(world, one.owner),
        "name": one.slug, "description": "", "external_url": "https://example.com", "html_url": f"{world.html}/apps/{one.slug}",
        "created_at": stamp(one.created_at), "updated_at": stamp(one.created_at), "permissions": dict(one.permissions),
        "events": list(events if events is not None else one.events), "installations_count": len(world.installations),
    }  # fmt: skip


def installation(world: World, one: Installation) -> Json:
    url = f"{world.api}/app/installations/{one.id}"
    return {
        "id": one.id, "client_id": client_id(world), "account": user(world, one.account),
        "repository_selection": "all" if one.repositories is None else "selected",
        "access_tokens_url": f"{url}/access_tokens", "repositories_url": f"{world.api}/installation/repositories",
        "html_url": f"{world.html}/settings/installations/{one.id}", "app_id": world.app.id, "app_slug": world.app.slug,
        "target_id": one.account.id, "target_type": one.account.kind, "permissions": dict(one.permissions),
        "events": list(world.app.events), "created_at": stamp(one.created_at), "updated_at": stamp(one.created_at),
        "single_file_name": None, "has_multiple_single_files": False, "single_file_paths": [],
        "suspended_by": user(world, one.account) if one.suspended_at else None, "suspended_at": stamp(one.suspended_at),
    }  # fmt: skip


def token(world: World, one: Token, repositories: Sequence[Repository]) -> Json:
    chosen = {"repositories": [repository(world, each) for each in repositories]} if one.repositories is not None else {}
    selection = "all" if one.repositories is None and one.installation and one.installation.repositories is None else "selected"
    return {
        "token": one.value,
        "expires_at": stamp(one.expires_at),
        "permissions": dict(one.permissions),
        "repository_selection": selection,
        **chosen,
    }


def repository_url(world: World, one: Repository) -> str:
    return f"{world.api}/repos/{one.full_name}"


def repository_page(world: World, one: Repository) -> str:
    return f"{world.html}/{one.full_name}"


def repository(world: World, one: Repository) -> Json:
    url, page = repository_url(world, one), repository_page(world, one)
    opened = sum(1 for issue in one.issues.values() if issue.state == "open")
    return {
        "id": one.id, "node_id": node_id("Repository", one.id), "name": one.name, "full_name": one.full_name, "private": one.private,
        "owner": user(world, one.owner), "html_url": page, "description": None, "fork": one.fork_of is not None, "url": url,
        **{key: url + tail for key, tail in REPOSITORY_LINKS.items()},
        "git_url": f"git://{page.partition('://')[2]}.git", "ssh_url": f"git@example.com:{one.full_name}.git", "clone_url": f"{page}.git",
        "svn_url": page, "mirror_url": None, "homepage": None, "language": None, "license": None, "size": 0, "default_branch": one.default_branch,
        "forks": len(one.forks), "forks_count": len(one.forks), "stargazers_count": 0, "watchers": 0, "watchers_count": 0,
        "open_issues": opened, "open_issues_count": opened, "is_template": False, "topics": [], "has_issues": True, "has_projects": False,
        "has_wiki": False, "has_pages": False, "has_downloads": False, "has_discussions": False, "archived": one.archived, "disabled": False,
        "visibility": "private" if one.private else "public", "pushed_at": stamp(one.created_at), "created_at": stamp(one.created_at),
        "updated_at": stamp(one.created_at), "allow_forking": True, "web_commit_signoff_required": False,
    }  # fmt: skip


def full_repository(world: World, one: Repository, asker: User | None) -> Json:
    """What the single repository's endpoint adds; a fork names its parent."""
    parent = {key: repository(world, one.fork_of) for key in ("parent", "source")} if one.fork_of else {}
    mine = {"permissions": rights(role_of(one, asker))} if asker else {}
    return {**repository(world, one), **parent, **mine, "subscribers_count": 0, "network_count": len(one.forks), "temp_clone_token": None}


def rights(role: str) -> dict[str, bool]:
    rank = RIGHTS.index(role) if role in RIGHTS else -1
    return {word: rank >= index for index, word in enumerate(("pull", "triage", "push", "maintain", "admin"))}


def permission(world: World, one: Repository, person: User) -> Json:
    """`permission` maps maintain to write and triage to read; `role_name` does not."""
    role = role_of(one, person)
    legacy = {"maintain": "write", "triage": "read"}.get(role, role)
    mine = rights(role)
    return {"permission": legacy, "role_name": role, "user": {**user(world, person), "permissions": mine, "role_name": role}}


# ---------------------------------------------------------------- commits


def signature(one: git.Signature) -> Json:
    return {"name": one.name, "email": one.email, "date": stamp(one.at)}


VERIFICATION = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def commit(world: World, home: Repository, one: git.CommitObject, files: Sequence[FileChange] | None = None) -> Json:
    """A commit as the commits API prints it; with `files` it is the single commit's endpoint."""
    url, page = repository_url(world, home), repository_page(world, home)
    body: Json = {
        "sha": one.sha, "node_id": node_id("Commit", int(one.sha[:12], 16)),
        "commit": {
            "author": signature(one.author), "committer": signature(one.committer), "message": one.message,
            "tree": {"sha": one.tree, "url": f"{url}/git/trees/{one.tree}"}, "url": f"{url}/git/commits/{one.sha}",
            "comment_count": 0, "verification": VERIFICATION,
        },
        "url": f"{url}/commits/{one.sha}", "html_url": f"{page}/commit/{one.sha}", "comments_url": f"{url}/commits/{one.sha}/comments",
        "author": _account(world, one.author), "committer": _account(world, one.committer),
        "parents": [{"sha": sha, "url": f"{url}/commits/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in one.parents],
    }  # fmt: skip
    if files is not None:
        added, deleted = sum(change.additions for change in files), sum(change.deletions for change in files)
        body["stats"] = {"additions": added, "deletions": deleted, "total": added + deleted}
        body["files"] = [file(world, home, one.sha, change) for change in files]
    return body


def _account(world: World, one: git.Signature) -> Json | None:
    """The account whose login is the address's local part, if the twin knows one."""
    known = world.users.get(one.email.partition("@")[0].lower())
    return user(world, known) if known else None


def git_commit(world: World, home: Repository, one: git.CommitObject) -> Json:
    """A commit as the git database API (and a timeline) prints it."""
    url, page = repository_url(world, home), repository_page(world, home)
    return {
        "sha": one.sha, "node_id": node_id("Commit", int(one.sha[:12], 16)), "url": f"{url}/git/commits/{one.sha}",
        "html_url": f"{page}/commit/{one.sha}", "author": signature(one.author), "committer": signature(one.committer),
        "tree": {"sha": one.tree, "url": f"{url}/git/trees/{one.tree}"}, "message": one.message,
        "parents": [{"sha": sha, "url": f"{url}/git/commits/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in one.parents],
        "verification": VERIFICATION,
    }  # fmt: skip


def simple_commit(one: git.CommitObject) -> Json:
    """A commit inside a check suite or a push."""
    people = {role: {"name": who.name, "email": who.email} for role, who in (("author", one.author), ("committer", one.committer))}
    return {"id": one.sha, "tree_id": one.tree, "message": one.message, "timestamp": stamp(one.committer.at), **people}


def file(world: World, home: Repository, sha: str, one: FileChange) -> Json:
    """A changed file. `patch` is absent, not null, where GitHub leaves it out."""
    path, page = quote(one.path), repository_page(world, home)
    optional = {"patch": one.patch, "previous_filename": one.previous}
    return {
        "sha": one.blob, "filename": one.path, "status": one.status, "additions": one.additions, "deletions": one.deletions,
        "changes": one.additions + one.deletions, "blob_url": f"{page}/blob/{sha}/{path}", "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{repository_url(world, home)}/contents/{path}?ref={sha}",
        **{key: value for key, value in optional.items() if value is not None},
    }  # fmt: skip


def short_branch(world: World, home: Repository, name: str, sha: str) -> Json:
    protected = name in home.required_checks
    url = repository_url(world, home)
    return {
        "name": name, "commit": {"sha": sha, "url": f"{url}/commits/{sha}"}, "protected": protected,
        "protection": _protection(home, name), "protection_url": f"{url}/branches/{quote(name)}/protection",
    }  # fmt: skip


def branch(world: World, home: Repository, name: str, sha: str) -> Json:
    links = {"self": f"{repository_url(world, home)}/branches/{quote(name)}", "html": f"{repository_page(world, home)}/tree/{name}"}
    return {**short_branch(world, home, name, sha), "commit": commit(world, home, git.commit(home.git_dir, sha)), "_links": links}


def _protection(home: Repository, name: str) -> Json:
    contexts = home.required_checks.get(name, [])
    checks = [{"context": one, "app_id": None} for one in contexts]
    level = "non_admins" if contexts else "off"
    return {"enabled": bool(contexts), "required_status_checks": {"enforcement_level": level, "contexts": contexts, "checks": checks}}


def tag(world: World, home: Repository, name: str, sha: str) -> Json:
    url = repository_url(world, home)
    balls = {f"{kind}_url": f"{url}/{kind}/refs/tags/{name}" for kind in ("zipball", "tarball")}
    return {"name": name, "commit": {"sha": sha, "url": f"{url}/commits/{sha}"}, "node_id": node_id("Ref", home.id), **balls}


def content(world: World, home: Repository, sha: str, path: str, entry: git.TreeEntry, data: bytes | None = None) -> Json:
    """A file or a directory's entry; `data` is a file's bytes, given only by the file's own endpoint."""
    kind = {"tree": "dir", "commit": "submodule", "blob": "symlink" if entry.mode == "120000" else "file"}[entry.kind]
    url, page = repository_url(world, home), repository_page(world, home)
    own = {
        "self": f"{url}/contents/{quote(path)}?ref={sha}",
        "git": f"{url}/git/{entry.kind}s/{entry.sha}",
        "html": f"{page}/{entry.kind}/{sha}/{quote(path)}",
    }
    body: Mapping[str, Any] = {} if data is None else {"encoding": "base64", "content": b64encode(data).decode()}
    return {
        "type": kind, "size": entry.size, "name": path.rpartition("/")[2], "path": path, "sha": entry.sha, "url": own["self"],
        "git_url": own["git"], "html_url": own["html"], "download_url": f"{page}/raw/{sha}/{quote(path)}" if kind == "file" else None,
        "_links": own, **body,
    }  # fmt: skip


# ---------------------------------------------------------------- labels and reactions


def label(world: World, home: Repository, one: Label) -> Json:
    url = f"{repository_url(world, home)}/labels/{quote(one.name)}"
    own = {"name": one.name, "color": one.color, "default": False, "description": one.description}
    return {"id": one.id, "node_id": node_id("Label", one.id), "url": url, **own, "archived_at": None, "archived_by": None}


def reaction(world: World, one: Reaction) -> Json:
    own = {"id": one.id, "node_id": node_id("Reaction", one.id), "content": one.content}
    return {**own, "user": user(world, one.user), "created_at": stamp(one.created_at)}


def reactions(url: str, given: Sequence[Reaction]) -> Json:
    """The roll-up that comments and issues carry."""
    words = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
    return {"url": f"{url}/reactions", "total_count": len(given), **{word: sum(1 for one in given if one.content == word) for word in words}}
