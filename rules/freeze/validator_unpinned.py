"""Acceptance depends on a validator whose bytes nothing pins

What it checks: every validator that a gate record or a text of the plan names, and the code under `validator/`: a file must be listed with its
SHA-256 in a manifest; an address must not lie on a branch or in a pull that can still change. The issue's text is read in the same way.

Why: whoever can change what judges a result, after the result is known, decides the result.

Fix: list the validator's files with their digests in a freeze manifest under `plan/`, or in a pointer file, before the next measured arm.

Example: `plan/gates.json` says `"validator": "validator/check.py"`, and no manifest lists that file.

Not flagged: a pointer file that names the validator's files with digests; a validator in another folder that a manifest lists; an address with a
full commit id; gates that need no script.

Strength: high in files, medium in the issue's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.campaigns import bundles_of_issue
from rules.reading.conversation import bodies
from rules.reading.documents import Node, Path, document, is_document, nodes
from rules.reading.gates import gates, in_force, validators
from rules.reading.keys import family, words
from rules.reading.layout import Bundle, bundle_at, bundles
from rules.reading.manifests import listed_by, manifests, normal, read_pairs, target
from rules.reading.statements import Statement, statements, text_statements

_KEYS = family(
    "validator validators judge judges judged checker checkers verifier scorer evaluator grader validation 校验 校验器 校验脚本 验证器 验证脚本 评判器"
)
_CODE = r"(?:py|sh|bash|js|ts|mjs|rs|go|c|cc|cpp|cu|java|kt|rb|pl|jl|r|lua|ipynb|sql|ps1|exe|so|whl|jar)"
_CODE_PATH = re.compile(rf"(?<![\w./:@-])(?:\.{{0,2}}/)?(?:[\w.+-]{{1,80}}/){{0,8}}[\w+-][\w.+-]{{0,80}}\.{_CODE}(?![\w-])", re.IGNORECASE)
_PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w.+-]{1,80}/){1,8}[\w.+-]{0,80}\Z|[\w+-][\w.+-]{0,80}\.[A-Za-z0-9]{1,8}\Z")
_FULL_COMMIT = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{40}(?![0-9a-fA-F])")
_DIGEST = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_URL = re.compile(r"https?://[^\s\"'<>()`]{1,500}", re.IGNORECASE)
_PULL = re.compile(
    r"(?<![A-Za-z])(?P<draft>draft|unmerged|open|草稿|未合并)\s{0,2}(?:pull(?: request)?|pr|mr|merge request|拉取请求)?\s{0,2}(?P<a>(?:[\w.-]{1,60}/[\w.-]{1,60})?[#!]\d{1,9})"
    r"|(?:pull(?: request)?|(?<![A-Za-z])prs?|(?<![A-Za-z])mr|拉取请求)\s{0,2}(?P<b>(?:[\w.-]{1,60}/[\w.-]{1,60})?[#!]?\d{1,9})"
    r"|(?P<c>https?://[^\s\"'<>()`]{1,200}/(?:pull|merge_requests)/\d{1,9})|(?P<d>(?:[\w.-]{1,60}/[\w.-]{1,60}|(?<![\w/#&]))#\d{1,9})(?!\d)",
    re.IGNORECASE,
)
_BRANCH_URL = re.compile(
    r"/(?:blob|tree|raw|src)/(?:branch/|refs/heads/)?(?P<a>[^/\s]{1,100})(?:/|\Z)|raw\.githubusercontent\.com/[^/\s]{1,60}/[^/\s]{1,60}/(?:refs/heads/)?(?P<b>[^/\s]{1,100})/",
    re.IGNORECASE,
)
_BRANCH_WORDS = re.compile(
    r"(?<![A-Za-z])(?:the\s{1,5})?[`'\"]?(?P<a>[\w./-]{1,60})[`'\"]?\s{1,5}branch(?![A-Za-z])|(?<![A-Za-z])branch\s{1,5}[`'\"]?(?P<b>[\w./-]{1,60})|[`'\"]?(?P<c>[\w./-]{1,60})[`'\"]?\s{0,2}分支|分支\s{0,2}[`'\"]?(?P<d>[\w./-]{1,60})",
    re.IGNORECASE,
)
_ARTICLES = family("a an the that this its their our some same its working feature topic of on in")
_REF_KEYS = family("branch ref 分支")
_COMMIT_KEYS = family("commit sha revision rev ref head 提交 版本")


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        yield from _of_bundle(snapshot, bundle)
    if snapshot.issue is not None and not any(_pinned_judges(snapshot, bundle) for bundle, _ in bundles_of_issue(snapshot, snapshot.issue)):
        yield from _of_issue(snapshot)


@dataclass(frozen=True, slots=True)
class Named:
    """One validator that something names: what it says, the object that says it (None for a plain string), and where."""

    text: str
    held: Any
    location: Location
    anywhere: bool = False


def _of_bundle(snapshot: Snapshot, bundle: Bundle) -> Iterator[Finding]:
    records = in_force(gates(snapshot, bundle))
    told: set[str] = set()
    for named in (*(n for gate in records for n in _named_in(gate.path, gate.nodes)), *_named_by_plan(snapshot, bundle)):
        why = _unpinned(snapshot, bundle, named, told)
        if why:
            yield _finding(bundle, named.location, why)
    loose = [path for path in _judges(snapshot, bundle) if path not in told and not _is_pinned(snapshot, bundle, path)]
    if records and loose and not _pinned_judges(snapshot, bundle):
        yield _finding(bundle, Location(loose[0], role="gate"), _listed_nowhere(bundle, loose), [Location(p, role="gate") for p in loose[1:20]])


# ---------------------------------------------------------------- what is named


def _named_in(path: str, places: Sequence[Node], keyed: bool = False) -> Iterator[Named]:
    """The values under a validator's key, each once at its outermost place; elsewhere (not `keyed`) only strings that hold a path of code."""
    taken: list[Path] = []
    for node in places[1:]:
        if any(node.path[: len(done)] == done for done in taken) or node.value in (None, "", True, False):
            continue
        where = Location(path, pointer=node.pointer, role="gate")
        if set(words(node.key)) & _KEYS and isinstance(node.value, (str, dict)):
            taken.append(node.path)
            yield Named(_said(node.value), node.value, where)
        elif not keyed and isinstance(node.value, str) and (_CODE_PATH.search(node.value[:2000]) or _speaks_of_one(node.value[:2000])):
            yield Named(node.value[:2000], None, where, anywhere=True)


def _said(value: Any) -> str:
    """All strings of an object, one a line."""
    found: list[str] = []
    waiting = [value]
    while waiting and len(found) < 100:
        held = waiting.pop(0)
        if isinstance(held, str):
            found.append(held[:1000])
        elif isinstance(held, dict):
            waiting += held.values()
        elif isinstance(held, list):
            waiting += held
    return "\n".join(found)


def _named_by_plan(snapshot: Snapshot, bundle: Bundle) -> Iterator[Named]:
    """Sentences of the plan's texts that name a validator's file or pull."""
    records = {gate.path for gate in gates(snapshot, bundle)} | {manifest.path for manifest in manifests(snapshot, bundle)}
    for path in bundle.part("plan"):
        if is_document(path) and path not in records:
            yield from _named_in(path, nodes(snapshot, path), keyed=True)
        for one in statements(snapshot, path) if path.lower().endswith((".md", ".markdown")) else ():
            if _speaks_of_one(one.text) and _uses(one.text) and one.standing not in ("quoted", "withdrawn", "reported"):
                yield Named(one.text, None, one.location(), anywhere=True)


# ---------------------------------------------------------------- is it pinned


def _unpinned(snapshot: Snapshot, bundle: Bundle, named: Named, told: set[str]) -> str:
    """Why what is named is not pinned, or "" where it is, or where it names no file and no address. `told` collects what was looked at."""
    if _DIGEST.search(named.text):
        told.update(_files(snapshot, bundle, named))
        return ""
    fixed = bool(_FULL_COMMIT.search(named.text))
    movable = _movable(named, needs_word=named.anywhere)
    if movable:
        return "" if fixed else f"The validator is {movable}, which can still change"
    paths = _paths(named)
    loose = []
    for text in paths:
        found = _resolved(snapshot, bundle, named.location.path, text)
        told.update(found or (text,))
        if found:
            loose += [bundle.relative(path) for path in found if not _is_pinned(snapshot, bundle, path) and not _is_pointer(snapshot, path)]
        elif not named.anywhere and not fixed and not _listed_by_name(snapshot, bundle, text):
            loose.append(text)
    if not loose:
        return ""
    shown = ", ".join(f"`{path}`" for path in loose[:5]) + (f" and {len(loose) - 5} more" if len(loose) > 5 else "")
    return f"The validator {shown} is listed with its SHA-256 in no manifest of the bundle"


def _movable(named: Named, needs_word: bool) -> str:
    """`in the draft pull acme/judges#318`, `on the branch main`; "" for neither."""
    for url in _URL.findall(named.text):
        branch = _BRANCH_URL.search(url)
        if branch and not re.fullmatch(r"[0-9a-fA-F]{7,64}", branch["a"] or branch["b"] or ""):
            return f"on the branch `{branch['a'] or branch['b']}`"
    pull = _PULL.search(named.text)
    if (
        pull
        and (not needs_word or _speaks_of_one(named.text))
        and not re.search(r"(?<![A-Za-z])merged(?![A-Za-z])|已合并", named.text.replace("unmerged", ""), re.IGNORECASE)
    ):
        name = next(pull[g] for g in "abcd" if pull[g])
        return f"in the {'draft ' if pull['draft'] else ''}pull `{name}`"
    keyed = (
        next((str(v) for k, v in named.held.items() if set(words(k)) & _REF_KEYS and isinstance(v, str)), "") if isinstance(named.held, dict) else ""
    )
    if keyed and not re.fullmatch(r"[0-9a-fA-F]{7,64}", keyed):
        return f"on the branch `{keyed[:60]}`"
    told = _BRANCH_WORDS.search(named.text)
    if told and (not needs_word or _speaks_of_one(named.text)):
        name = next(told[g] for g in "abcd" if told[g])
        return "on a branch" if name.lower() in _ARTICLES else f"on the branch `{name}`"
    return ""


def _paths(named: Named) -> list[str]:
    found = []
    for line in named.text.split("\n"):
        text = line.strip().strip("`")
        if not named.anywhere and _PATH.match(text):
            found.append(text)
        else:
            found += [match[0] for match in _CODE_PATH.finditer(_URL.sub(" ", line))]
    return list(dict.fromkeys(found))


def _files(snapshot: Snapshot, bundle: Bundle, named: Named) -> list[str]:
    return [path for text in _paths(named) for path in _resolved(snapshot, bundle, named.location.path, text)]


def _resolved(snapshot: Snapshot, bundle: Bundle, source: str, text: str) -> list[str]:
    """The files that a path names: one, or the code of a folder."""
    found = target(snapshot, snapshot.head, bundle, source, text)
    if found:
        return [found]
    for folder in (bundle.path, ""):
        lead = normal(f"{folder}/{text}") + "/"
        inside = (
            [path for path in snapshot.head.files if path.startswith(lead) and not path.lower().endswith((".md", ".txt"))] if len(lead) > 1 else []
        )
        if inside:
            return inside
    return []


def _is_pinned(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    """True where a manifest of this bundle, or of the bundle that holds the file, lists it."""
    home = bundle_at(snapshot, path)
    return any(path in listed_by(snapshot, one) for one in (bundle, home) if one is not None)


def _listed_by_name(snapshot: Snapshot, bundle: Bundle, text: str) -> bool:
    """A file that is not in the tree may still be listed."""
    name = normal(text)
    return any(normal(pair.path).endswith(name) for manifest in manifests(snapshot, bundle) for pair in manifest.pairs)


def _is_pointer(snapshot: Snapshot, path: str) -> bool:
    """A document that names files with digests pins them by itself."""
    found = document(snapshot, path) if is_document(path) else None
    return found is not None and any(True for _ in read_pairs(found.value))


def _judges(snapshot: Snapshot, bundle: Bundle) -> list[str]:
    """The code under `validator/`."""
    return [path for path in validators(snapshot, bundle) if _CODE_PATH.fullmatch(bundle.relative(path))]


def _pinned_judges(snapshot: Snapshot, bundle: Bundle) -> bool:
    return any(_is_pinned(snapshot, bundle, path) for path in _judges(snapshot, bundle) if path in snapshot.head.files)


# ---------------------------------------------------------------- texts

_NOUN = re.compile(
    r"(?<![A-Za-z-])(?:validators?|judges?(?=\s+(?:of|in|from|at|on|script|code|program))|judging (?:script|code)|scorers?|verifiers?|checkers?|graders?"
    r"|(?:validation|acceptance|comparison|scoring|judging|check(?:ing)?) (?:scripts?|code|programs?|tools?)"
    r"|(?:identity|duration|equality|acceptance|gate|coverage|continuity|audio|media|quality|exactness|correctness) checks?)(?![A-Za-z])"
    r"|校验(?:器|脚本|程序|代码)|验证(?:器|脚本|程序|代码)|评判(?:器|脚本)|判定(?:脚本|程序)|检查(?:器|脚本|程序)|评分(?:器|脚本)",
    re.IGNORECASE,
)
_USE = re.compile(
    r"(?<![A-Za-z])(?:re-?us(?:e|es|ed|ing)|us(?:e|es|ed|ing)|adopt(?:s|ed|ing)?|rel(?:y|ies|ied|ying)|depend(?:s|ed|ing)?|judg(?:e|es|ed)(?: by| with)|decid(?:es|ed)|"
    r"validat(?:es|ed)|verif(?:y|ies|ied)|accept(?:s|ed|ance)?|appl(?:y|ies|ied)|rests?|taken from|comes? from|based on|runs?|passes|pass|checked|through|via|with|by)(?![A-Za-z])"
    r"|复用|沿用|采用|使用|依赖|依据|基于|取自|来自|判定|为准|通过|验收|由",
    re.IGNORECASE,
)


_ACCEPTS = re.compile(
    r"(?<![A-Za-z])(?:accept(?:s|ed|ance)?|gates?|judg(?:e|es|ed)|validat(?:e|es|ed|ion)|qualif(?:y|ies|ied))(?![A-Za-z])|验收|判定|校验",
    re.IGNORECASE,
)


def _speaks_of_one(text: str) -> bool:
    return _NOUN.search(text) is not None


def _uses(text: str) -> bool:
    return _USE.search(text) is not None


def _of_issue(snapshot: Snapshot) -> Iterator[Finding]:
    """Sentences of the issue that rest acceptance on a validator in a pull or on a branch."""
    told: set[str] = set()
    for text in bodies(snapshot):
        for one in text_statements(snapshot, text) if text.path == "issue:body" else ():
            why = _of_sentence(one)
            if why and why not in told:
                told.add(why)
                yield _issue_finding(one, why)


_NEAR = 120
"""Characters between a validator's name and the pull or branch that it is said to be in."""


def _of_sentence(one: Statement) -> str:
    if not _uses(one.text) or one.standing in ("quoted", "withdrawn", "reported") or _DIGEST.search(one.text) or _FULL_COMMIT.search(one.text):
        return ""
    nouns = list(_NOUN.finditer(one.text)) or (list(_CODE_PATH.finditer(one.text)) if _ACCEPTS.search(one.text) else [])
    for noun in nouns:
        if _is_denied(one, noun.start()):
            continue
        near = one.text[max(0, noun.start() - _NEAR) : noun.end() + _NEAR]
        movable = _movable(Named(near, None, one.location()), needs_word=False)
        if movable:
            return movable
    return ""


def _is_denied(one: Statement, position: int) -> bool:
    """The clause that names the validator says that it is not used."""
    clause = next((c for c in reversed(one.clauses) if c.start <= position), None)
    uses = [clause.denies(match.start()) for match in _USE.finditer(clause.text)] if clause else []
    return bool(uses) and all(uses)


# ---------------------------------------------------------------- words


def _listed_nowhere(bundle: Bundle, loose: list[str]) -> str:
    shown = ", ".join(f"`{bundle.relative(path)}`" for path in loose[:5]) + (f" and {len(loose) - 5} more" if len(loose) > 5 else "")
    return f"The validator {shown} is listed with its SHA-256 in no manifest of the bundle"


def _finding(bundle: Bundle, where: Location, why: str, more: list[Location] | None = None) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="Acceptance depends on a validator that nothing pins",
        problem=f"{why}.",
        impact="What judges the results can be changed after they are known, and no reader would see it.",
        next="List the validator's files with their SHA-256 in a freeze manifest under the plan before the next measured arm (commit a file); "
        "results that were judged before stay INCONCLUSIVE.",
        locations=(where, *(more or ())),
        evidence=(("validator", why),),
        roots=(f"freeze:{bundle.path}",),
    )


def _issue_finding(one: Statement, movable: str) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title="The issue rests acceptance on a validator that can still change",
        problem=f"“{excerpt(one.text)}”: the validator is {movable}, and no digest or commit pins its bytes.",
        impact="The gate that the campaign is to be held against is not fixed.",
        next="Freeze the validator's bytes by path and SHA-256 in the campaign's plan (commit a file), and name that record in the issue (edit text).",
        locations=(one.location(),),
        evidence=(("validator", movable),),
        roots=(f"claim:issue:body#{' '.join(one.text.split()).casefold()[:300]}",),
    )


RULE = Rule(
    "validator-unpinned",
    "freeze",
    Severity.HIGH,
    check,
    norms=(("validator", "hash"), ("validator", "sha-256"), ("校验", "哈希"), ("验证器", "哈希")),
)
