"""A status says that nothing was run, and the bundle holds completed receipts

What it checks: documents under `results/` with `status` in their name (JSON, YAML, Markdown) that say queued, 0 samples, "no … result yet" or "no
candidate search", against the completed receipts of the same bundle; and the issue's closing status line against what the issue's own
current-state text reports.

Why: a status is what readers and tools look at first; one that was left behind says the opposite of the evidence.

Fix: add a current status with the actual counts, list it in a manifest of its own and name it in the inventory; label a hash-frozen one as the
preflight snapshot instead of editing it. In an issue: change the line, and keep the qualifiers that still hold.

Example: `results/status.json` says `"execution": "queued"` beside `results/tp4-bringup.json` with HTTP 200.

Not flagged: a preflight snapshot that is labelled so, when a newer status is named by the inventory or listed in a manifest; zeros about another
device count, arm or campaign; a line that only denies a gain ("no speedup", "none qualified").

Strength: high for fields of a document, medium for prose and for an issue's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.campaigns import bundle_of_issue
from rules.reading.conversation import Text, bodies
from rules.reading.documents import document, is_document
from rules.reading.inventory import registered
from rules.reading.layout import Bundle
from rules.reading.manifests import frozen_by, manifests, target
from rules.reading.progress import Denial, Scope, contradicting, denials, devices_in, idle_fields
from rules.reading.receipts import Receipt
from rules.reading.statements import Statement, statements, string_statements, text_statements

_SNAPSHOT = re.compile(
    r"\bsnapshot\b|\bpre-?flight\b|\bhistorical\b|\barchived?\b|\bsuperseded\b|\bobsolete\b|\bfrozen at\b|快照|历史|已取代|已归档|预检", re.IGNORECASE
)
_LABEL_KEYS = re.compile(
    r"(?:label|kind|title|name|role|type|note|notes|description|about|comment|snapshot|superseded_by|状态类型|标签|说明)\Z", re.IGNORECASE
)
_NAME = re.compile(r"status|状态", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Said:
    """One place of a status document that says nothing was run, and the receipts against it."""

    place: Location
    shown: str
    against: tuple[Receipt, ...]
    structured: bool


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in _status_documents(bundle):
        said = [one for one in _said(snapshot, bundle, path) if one.against]
        if said and not _is_old_snapshot(snapshot, bundle, path):
            yield _document_finding(snapshot, bundle, path, said)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for text in bodies(snapshot):
        if text.path == "issue:body":
            yield from _closing_line(snapshot, text)


# ---------------------------------------------------------------- documents


def _status_documents(bundle: Bundle) -> list[str]:
    return [path for path in bundle.part("results") if _NAME.search(path.rpartition("/")[2]) and (is_document(path) or path.lower().endswith(".md"))]


def _said(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[_Said]:
    if not is_document(path):
        for denial in denials(statements(snapshot, path)):
            yield _Said(denial.statement.location(), f"“{denial.text}”", contradicting(snapshot, bundle, denial.scope), False)
        return
    doc = document(snapshot, path)
    if doc is None or not doc.readable or not isinstance(doc.value, (dict, list)):
        return
    for field in idle_fields(doc.value, bundle.id):
        yield _Said(Location(path, pointer=field.node.pointer), field.shown, contradicting(snapshot, bundle, field.scope), True)
    for node in doc.nodes:
        if isinstance(node.value, str) and (" " in node.value or not node.value.isascii()):
            for denial in denials(string_statements(node.value)):
                yield _Said(Location(path, pointer=node.pointer), f"“{denial.text}”", contradicting(snapshot, bundle, denial.scope), False)


def _is_old_snapshot(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    """Labelled as a snapshot, and a newer status is named by the inventory or listed in a manifest of the bundle."""
    return _is_labelled(snapshot, path) and any(other != path for other in _newer(snapshot, bundle))


def _is_labelled(snapshot: Snapshot, path: str) -> bool:
    if not is_document(path):
        return any(_SNAPSHOT.search(one.text) for one in statements(snapshot, path)[:6])
    doc = document(snapshot, path)
    return any(
        isinstance(node.value, str) and len(node.path) <= 2 and _LABEL_KEYS.search(node.key) and bool(_SNAPSHOT.search(f"{node.key} {node.value}"))
        for node in (doc.nodes if doc else ())
    )


def _newer(snapshot: Snapshot, bundle: Bundle) -> set[str]:
    entry = registered(snapshot, bundle)
    named = {entry.status, f"{bundle.path}/{entry.status}"} if entry and entry.status else set()
    listed = {target(snapshot, snapshot.head, bundle, m.path, pair.path) for m in manifests(snapshot, bundle) if not m.freeze for pair in m.pairs}
    documents = set(_status_documents(bundle))
    return {path for path in bundle.files if path in named} | {path for path in listed if path in documents}


def _document_finding(snapshot: Snapshot, bundle: Bundle, path: str, said: list[_Said]) -> Finding:
    against = list(dict.fromkeys(receipt.path for one in said for receipt in one.against))
    frozen = frozen_by(snapshot, bundle, path)
    shown = "; ".join(dict.fromkeys(one.shown for one in said[:4]))
    pinned = f" `{frozen.path}` pins the file, so the contradiction stays." if frozen else ""
    keep = "Label the existing file as the preflight snapshot and leave its bytes as they are." if frozen else "Or correct this one (edit text)."
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH if any(one.structured for one in said) else Severity.MEDIUM,
        title=f"{bundle.relative(path)} says that nothing was run, beside {len(against)} completed receipt{'' if len(against) == 1 else 's'}",
        problem=f"{shown}, while the bundle holds {len(against)} completed: {', '.join(f'`{bundle.relative(p)}`' for p in against[:4])}"
        f"{' …' if len(against) > 4 else ''}.{pinned}",
        impact="Whoever reads the status gets the opposite of the evidence.",
        next="Add a current status with the actual counts, give it a manifest of its own and name it in the inventory's `status` (commit a file). "
        + keep,
        locations=(*(one.place for one in said[:20]), *(Location(p, role="record") for p in against[:10])),
        evidence=(("completed receipts", str(len(against))), ("says", shown)),
        roots=(f"status:{bundle.path}",),
    )


# ---------------------------------------------------------------- the issue

_STATUS_LABEL = re.compile(
    r"\W{0,4}(?:(?:overall|campaign|current|final|closing|acceptance|present|latest)\s+)?(?:status|verdict|conclusion|bottom line|状态|结论|总体状态|活动状态)\W{0,3}\s*[:：–—-]",
    re.IGNORECASE,
)
_STATUS_HEADING = re.compile(r"(?:(?:overall|campaign|final|closing|acceptance)\s+)?(?:status|verdict|conclusion|状态|结论)\W*\Z", re.IGNORECASE)
_STATE_LABEL = re.compile(
    r"\W{0,4}(?:(?:current|latest|present|new|recent|reported|campaign|execution)\s+)*(?:state|status|progress|updates?|results?|what (?:ran|happened|has run|was run)|so far|"
    r"news|log|当前状态|现状|进展|最新进展|当前进展|进度|更新|结果)(?:\s+(?:so far|to date|update|report|sync|log))?\s*(?:\([^()]{0,80}\)\s*)?(?:[:：–—]|\Z)",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"\W{0,3}(?:agent-assisted-by|signed-off-by|co-authored-by|assisted-by|cc|generated (?:with|by)|reviewed-by)\b", re.IGNORECASE)
_RAN = re.compile(
    r"\b(?:(?:is|are|was|were|now|all) (?:now |all |already |both )?(?:complete|done|over|through)\b|completed|finished|ran|executed|measured|returned|failed|rejected|exited|produced|succeeded|took|reached|interrupted|crashed|was \d|were \d|is \d|HTTP \d{3}|exit(?:s|ing)? (?:code )?\d)"
    r"|完成|执行了|已执行|已运行|运行了|测得|失败|返回|跑完|拒绝|实测|已结束|跑过|测完",
    re.IGNORECASE,
)
_RUN_SUBJECT = re.compile(
    r"\b(?:runs?|requests?|screens?|baselines?|controls?|candidates?|bring-?ups?|trials?|benchmarks?|sweeps?|measurements?|samples?|arms?|repetitions?|warm-?ups?|probes?|experiments?)\b"
    r"|运行|请求|基线|对照|候选|样本|实验|测量|基准",
    re.IGNORECASE,
)
_PREPARES = r"(?:spec|plan|protocol|script|harness|gate|revision|config|configuration|manifest|freeze|validator|preparation|preflight|review|checklist|schema|form|build|set-?up|design|draft|documentation|规格|计划|协议|脚本|门槛|清单|准备|评审|配置|预检)"
_PREPARED = re.compile(rf"(?:{_RUN_SUBJECT.pattern})[\s-]{{0,2}}{_PREPARES}(?:s\b|\b|(?=[\u4e00-\u9fff]))", re.IGNORECASE)
_PREPARATION = re.compile(rf"\b{_PREPARES}s?\b|计划|协议|门槛|清单|准备|评审|预检", re.IGNORECASE)
_RAN_STRONG = re.compile(
    r"\b(?:completed|finished|ran|(?:was|were|been|got) (?:executed|measured|rejected|run)|succeeded|returned|failed (?:with|in|on|at|its)|took \d|measured \d)|完成|跑完|测得|已执行|已运行",
    re.IGNORECASE,
)


def _closing_line(snapshot: Snapshot, text: Text) -> Iterator[Finding]:
    held = [one for one in text_statements(snapshot, text) if one.standing != "quoted"]
    closing = _closing(held, text)
    if not closing:
        return
    first = held.index(closing[0])
    for denial in denials(closing):
        reported = next((one for one in _current_state(held[:first], text) if _reports(one, denial.scope)), None)
        if reported is not None:
            yield _issue_finding(snapshot, denial, reported)
            return


def _closing(held: list[Statement], text: Text) -> list[Statement]:
    """The last status line of the text with the sentences of its paragraph; without a labelled one, the last paragraph that is no trailer."""
    labelled = [
        one for one in held if one.kind != "heading" and (_STATUS_LABEL.match(one.text) or (one.section and _STATUS_HEADING.match(one.section[-1])))
    ]
    last = labelled[-1] if labelled else next((one for one in reversed(held) if one.kind != "heading" and not _TRAILER.match(one.text)), None)
    if last is None:
        return []
    start, end = _paragraph(text.text.split("\n"), last.line)
    lead = next((one.line for one in held if start <= one.line <= end and _STATUS_LABEL.match(one.text)), start)
    return [one for one in held if max(start, lead) <= one.line <= end and one.kind != "heading"]


def _paragraph(lines: list[str], line: int) -> tuple[int, int]:
    """First and last line of the run of lines without a blank one around `line`."""
    start = end = line
    while start > 1 and lines[start - 2].strip():
        start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return start, end


def _current_state(before: list[Statement], text: Text) -> list[Statement]:
    """The sentences of the text's current-state paragraphs and sections; without such, those that report a finished run."""
    lines = text.text.split("\n")
    zones = [_paragraph(lines, one.line) for one in before if one.kind != "heading" and _STATE_LABEL.match(one.text)]
    inside = [
        one
        for one in before
        if one.kind != "heading"
        and (
            any(a <= one.line <= b for a, b in zones)
            or any(_STATE_LABEL.fullmatch(heading) or _STATE_LABEL.match(heading) for heading in one.section[-1:])
        )
    ]
    return inside or [
        one for one in before if any(_RAN_STRONG.search(c.text) and _RUN_SUBJECT.search(c.text) and re.search(r"\d", one.text) for c in one.clauses)
    ]


def _reports(statement: Statement, scope: Scope) -> bool:
    """A clause says, undenied, that something ran; a denial of one device count or part needs a report of it."""
    said = "".join(re.findall(r"[^\W_]+", statement.text.casefold()))
    if not all(phrase in said for phrase in scope.phrases) or (
        scope.arm == "candidate" and not re.search(r"candidate|screen|search|候选|搜索", said)
    ):
        return False
    if scope.devices is not None and devices_in(statement.text) != scope.devices:
        return False
    return any(
        clause.standing in ("asserted", "reported")
        and (_RUN_SUBJECT.search(statement.text) or re.search(r"\d", clause.text))
        and any(not clause.denies(match.start()) and not _is_preparation(clause.text[: match.start()]) for match in _RAN.finditer(clause.text))
        for clause in statement.clauses
    )


def _is_preparation(subject: str) -> bool:
    """What was finished is the plan of a run, not a run: "the run spec is complete"."""
    bare = _PREPARED.sub(" spec ", subject)
    return bool(_PREPARATION.search(bare)) and not _RUN_SUBJECT.search(bare)


def _issue_finding(snapshot: Snapshot, denial: Denial, reported: Statement) -> Finding:
    bundle = bundle_of_issue(snapshot)
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title="The issue's status line says that nothing was run, and its current state reports runs",
        problem=f"The status line says “{denial.text}”; line {reported.line} of the same text reports runs.",
        impact="The issue's last line can be quoted as evidence that nothing ran.",
        next="Change the line to what was executed and what of it is qualified; keep the qualifiers that still hold, such as “no speedup” (edit text).",
        locations=(denial.statement.location(), reported.location("record")),
        evidence=(("status line", denial.text),),
        roots=(f"status:{bundle or 'issue'}",),
    )


RULE = Rule("status-stale", "status", Severity.HIGH, check, each=each, norms=(("status", "current"), ("status record",), ("newer records",)))
