"""A conversation as a web page, so that a picture of what a person sees can be taken."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from tests.twin.conversations import issue_of
from tests.twin.pulls import commits
from tests.twin.reviews import comments_of
from tests.twin.state import Issue, Repository, Review, ReviewComment, User, World, stamp

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
TAG = re.compile(r"</?(?:details|summary|sub|sup|br|hr|kbd)(?: open)?\s?/?>", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
STYLE = """
body{font:14px/1.5 -apple-system,"Segoe UI","Noto Sans","Noto Sans CJK SC",Helvetica,Arial,sans-serif;color:#1f2328;margin:24px auto;max-width:980px;padding:0 16px}
h1{font-weight:400;font-size:26px;margin:0 0 8px}h1 span{color:#59636e}.state{color:#fff;border-radius:2em;padding:4px 12px;font-weight:500;font-size:13px}
.open{background:#1f883d}.closed{background:#cf222e}.merged{background:#8250df}.draft{background:#59636e}.meta{color:#59636e;margin:0 0 20px}
.box{border:1px solid #d1d9e0;border-radius:6px;margin:16px 0}.box>header{background:#f6f8fa;border-bottom:1px solid #d1d9e0;border-radius:6px 6px 0 0;padding:8px 16px;color:#59636e}
.box>header b{color:#1f2328}.body{padding:16px;overflow-wrap:break-word}.body>*:first-child{margin-top:0}.body>*:last-child{margin-bottom:0}
code,pre{font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}code{background:#818b981f;border-radius:6px;padding:.2em .4em}
pre{background:#f6f8fa;border-radius:6px;padding:16px;overflow:auto}pre code{background:none;padding:0}blockquote{border-left:.25em solid #d1d9e0;color:#59636e;margin:0;padding:0 1em}
table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:6px 13px}a{color:#0969da;text-decoration:none}h2{border-bottom:1px solid #d1d9e0b3;padding-bottom:.3em}
.inline{margin:0 16px 16px}.hunk{border-radius:6px 6px 0 0;margin:0;padding:8px 16px;white-space:pre-wrap}.bot{border:1px solid #d1d9e0;border-radius:2em;font-size:12px;padding:0 7px}
.check{padding:8px 16px;border-top:1px solid #d1d9e0}.success{color:#1a7f37}.failure{color:#d1242f}.action_required{color:#9a6700}summary{cursor:pointer}
"""


class Careful(RendererHTML):
    """Raw HTML is shown as text, but for a few harmless tags without attributes; comments vanish, as they do on GitHub."""

    def html_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        return careful(tokens[idx].content)

    def html_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        return careful(tokens[idx].content)


def careful(raw: str) -> str:
    """HTML with everything but the harmless tags escaped."""
    raw = COMMENT.sub("", raw)
    parts, at = [], 0
    for found in TAG.finditer(raw):
        parts += [escape(raw[at : found.start()]), found.group().lower()]
        at = found.end()
    return "".join([*parts, escape(raw[at:])])


def markdown(text: str | None) -> str:
    """The text as GitHub shows it, near enough."""
    renderer = MarkdownIt("commonmark", {"html": True, "breaks": True}, renderer_cls=Careful).enable(["table", "strikethrough"])
    found: str = renderer.render(text or "*No description provided.*")
    return found


def conversation(world: World, home: Repository, number: int) -> str:
    """The page of an issue or a pull. Raises `Refused` 404."""
    issue = issue_of(home, number)
    title = f"<h1>{escape(issue.title)} <span>#{number}</span></h1>"
    parts = [title, _meta(issue), _box(issue.user, "opened", stamp(issue.created_at), issue.body)]
    parts += [_entry(issue, entry.parts, entry.event) for entry in issue.timeline]
    parts.append(_checks(home, issue))
    style = f'<meta charset="utf-8"><title>{escape(issue.title)}</title><style>{STYLE}</style>'
    return f"<!doctype html><html lang=en><head>{style}</head><body>{''.join(parts)}</body></html>"


def _meta(issue: Issue) -> str:
    pull = issue.pull
    word = "merged" if pull and pull.merged_at else "draft" if pull and pull.draft and issue.state == "open" else issue.state
    about = f"{escape(issue.user.login)} opened this issue"
    if pull:
        count = len(commits(pull))
        about = f"{escape(issue.user.login)} wants to merge {count} commit{'s' * (count != 1)} into <code>{escape(pull.base_ref)}</code> from <code>{escape(pull.head_ref)}</code>"
    return f'<p class="meta"><span class="state {word}">{word.capitalize()}</span> {about}</p>'


def _entry(issue: Issue, parts: object, event: str) -> str:
    assert isinstance(parts, dict)
    if event == "commented":
        comment = parts["comment"]
        return _box(comment.user, "commented", stamp(comment.created_at), comment.body)
    if event == "reviewed":
        return _review(issue, parts["review"])
    if event in ("closed", "reopened", "merged", "head_ref_force_pushed", "convert_to_draft", "ready_for_review"):
        return f'<p class="meta">{event.replace("_", " ")}</p>'
    return ""


def _review(issue: Issue, review: Review) -> str:
    assert issue.pull
    word = {"COMMENTED": "reviewed", "APPROVED": "approved", "CHANGES_REQUESTED": "requested changes"}.get(review.state, review.state.lower())
    inside = "".join(_inline(one) for one in comments_of(issue.pull, review))
    return _box(review.user, word, stamp(review.submitted_at), review.body or None, inside, empty=True)


def _inline(one: ReviewComment) -> str:
    where = f"{escape(one.path)}" + (f":{one.original_line}" if one.original_line else "")
    tail = "\n".join(one.diff_hunk.split("\n")[-4:])
    hunk = f'<pre class="hunk">{escape(tail)}</pre>' if tail else ""
    return f'<div class="inline"><div class="box"><header><b>{where}</b></header>{hunk}<div class="body">{markdown(one.body)}</div></div></div>'


def _box(user: User, did: str, when: str | None, body: str | None, inside: str = "", empty: bool = False) -> str:
    bot = ' <span class="bot">bot</span>' if user.kind == "Bot" else ""
    head = f"<header><b>{escape(user.login.removesuffix('[bot]'))}</b>{bot} {did} <time>{when or ''}</time></header>"
    text = "" if empty and not body else f'<div class="body">{markdown(body)}</div>'
    return f'<section class="box">{head}{text}{inside}</section>'


def _checks(home: Repository, issue: Issue) -> str:
    runs = [run for run in home.runs.values() if issue.pull and run.head_sha == issue.pull.head_sha]
    if not runs:
        return ""
    lines = [
        f'<div class="check"><b class="{run.conclusion or "queued"}">{escape(run.name)}</b> — {run.conclusion or run.status}: {escape(str(run.output.get("title") or ""))}</div>'
        for run in runs
    ]
    return f'<section class="box"><header>Checks</header>{"".join(lines)}</section>'
