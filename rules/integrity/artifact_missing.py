"""Something that a document names or claims to be in the repository is not there

What it checks: paths inside the bundle that a JSON or YAML value or a backticked path names; and sentences that say that something is
prepared, retained, committed or included.

Why: a receipt that points to a log nobody can open is half a receipt.

Fix: commit the file, or declare it external in the inventory with a reason, or say that it is missing.

Example: `"raw_log": "results/raw/server.log"` and no such file.

Not flagged: addresses, globs that match, placeholders, examples, what the text itself calls missing, paths of another repository or pull, what
the inventory declares external. Entries of manifests belong to `hash-mismatch`.

Strength: high for a JSON or YAML value, medium in prose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rules.core.model import Bundle, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.campaigns import bundles_of_issue, named_bundles
from rules.reading.conversation import bodies
from rules.reading.documents import at, is_document
from rules.reading.inventory import externals, is_external
from rules.reading.layout import bundle_at, bundles, documents_in_scope
from rules.reading.named_paths import extension, files_of, inside_bundle, named_paths
from rules.reading.statements import Mention, Statement, mentions, statements, text_statements
from rules.reading.words import ABSENT, EXAMPLES, EXTERNAL, KEPT, PREPARED, WAITING, Family, family, has_word

# What can be kept in a repository, as word stems → how such a file is called.
KINDS: dict[str, tuple[str, str]] = {
    "logs": (r"logs?|日志", r"log|stdout|stderr|\.out\Z|\.err\Z"),
    "traces": (r"traces?|timelines?|轨迹|跟踪", r"trace|timeline|nsys|prof"),
    "profiles": (r"profiles?|flame ?graphs?|火焰图|性能剖析", r"prof|flame|perf"),
    "outputs": (r"outputs?|dumps?|transcripts?|输出|转储", r"output|out|dump|transcript|result"),
    "recordings": (r"recordings?|videos?|screenshots?|captures?|录像|截图|抓包", r"record|\.mp4|\.png|\.jpg|\.wav|screenshot|pcap|capture"),
    "harness": (
        r"harness(?:es)?|benchmark (?:script|client)s?|(?:load )?generators?|scripts?|脚本",
        r"harness|bench|script|\.py\Z|\.sh\Z|client|generator",
    ),
    "preflight": (r"pre-?flights?|预检", r"preflight|pre-flight"),
    "samples": (r"(?:raw )?samples|样本", r"sample|raw|\.csv|\.json"),
    "receipts": (r"receipts?|回执|收据", r"receipt|result|\.json"),
}


def _noun(words: str) -> re.Pattern[str]:
    """English words as whole words, Chinese ones anywhere."""
    english = "|".join(word for word in words.split("|") if word.isascii())
    chinese = "|".join(word for word in words.split("|") if not word.isascii())
    return re.compile(rf"(?<![\w-])(?:{english})(?![\w-])" + (f"|{chinese}" if chinese else ""), re.IGNORECASE)


_NOUN = {kind: _noun(words) for kind, (words, _) in KINDS.items()}
_FILE = {kind: re.compile(name, re.IGNORECASE) for kind, (_, name) in KINDS.items()}
_SOURCES = frozenset(
    [
        "src",
        "lib",
        "libs",
        "scripts",
        "tools",
        "docs",
        "doc",
        "test",
        "tests",
        "include",
        "rtl",
        "hw",
        "kernel",
        "kernels",
        "cmd",
        "pkg",
        "internal",
        "source",
        "sources",
    ]
)
_DENIED = re.compile(r"\b(?:no|not|never|none|neither|nor|without|cannot)\b|n't\b|没有|无|未|不", re.IGNORECASE)
_CLAIMS: tuple[Family, ...] = (KEPT, PREPARED)
_ELSEWHERE = re.compile(
    r"(?<![\w/])#\d|github\.com|\b(?:upstream|another|other) (?:repositor|pull|repo|project|campaign)|\bon the (?:tuning )?host\b|artifact store|object store|s3:|\bgit (?:object|history|tag)|上游|另一个仓库|别的仓库",
    re.IGNORECASE,
)
_ADMITTED = family(
    r"not (?:yet )?(?:\w+ )?(?:committed|there|kept|retained|included|part of|written|recorded)",
    r"no longer",
    r"was not",
    r"were not",
    r"todo",
    r"tbd",
    r"will",
    zh=("未提交", "没有", "尚未", "将", "待"),
)
PLACES = 20
TOGETHER = 12
"""Absent files named by one document above which they are one finding."""


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from _in_documents(snapshot, bundle)
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is bundle:
            yield from _in_text(snapshot, path, statements(snapshot, path), (bundle,))


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for text in bodies(snapshot):
        if text.path.startswith("issue") and snapshot.issue:
            about = tuple(bundle for bundle, _ in bundles_of_issue(snapshot, snapshot.issue))
        else:
            about = bundles(snapshot)
        if snapshot.base is None and text.path.startswith("pull"):
            about = named_bundles(snapshot, text.text)
        yield from _in_text(snapshot, text.path, text_statements(snapshot, text), about)


# ---------------------------------------------------------------- values of documents


def _in_documents(snapshot: Snapshot, bundle: Bundle) -> Iterator[Finding]:
    missing: dict[str, list[Location]] = defaultdict(list)
    for path in bundle.files:
        for named in named_paths(snapshot, bundle, path) if is_document(path) else ():
            if not named.files and not named.external and not _is_nested(snapshot, bundle, named.text):
                missing[named.text].append(at(path, named.place))
    by_document: dict[str, list[str]] = defaultdict(list)
    for text, places in missing.items():
        by_document[places[0].path].append(text)
    for path, texts in by_document.items():
        if len(texts) > TOGETHER:
            yield _together(bundle, path, texts, [missing[text][0] for text in texts])
        else:
            yield from (_finding(bundle, text, tuple(missing[text][:PLACES]), Severity.HIGH, f"`{path}` names `{text}`") for text in texts)


def _together(bundle: Bundle, path: str, texts: list[str], places: list[Location]) -> Finding:
    """A document that names dozens of absent files has one defect."""
    shown = ", ".join(f"`{text}`" for text in texts[:5])
    found = _finding(bundle, texts[0], tuple(places[:PLACES]), Severity.HIGH, f"`{path}` names {shown} and {len(texts) - 5} more")
    return replace(
        found,
        title=f"{len(texts)} files that {bundle.relative(path)} names are not in the repository",
        problem=found.problem.replace("there is no such file", "there are no such files").replace("it is not declared", "none is declared"),
        evidence=tuple(("path", text) for text in texts[:20]),
        roots=(f"artifacts:{path}",),
    )


# ---------------------------------------------------------------- sentences


def _in_text(snapshot: Snapshot, path: str, made: Iterable[Statement], about: tuple[Bundle, ...]) -> Iterator[Finding]:
    said: set[str] = set()
    for statement in made:
        claims = any(words.search(statement.text) for words in _CLAIMS)
        if not (statement.code_spans or claims) or statement.standing not in ("asserted", "reported"):
            continue
        for finding in (*_paths(snapshot, path, statement, about), *(_claims(snapshot, statement, about) if claims else ())):
            if finding.title not in said:
                said.add(finding.title)
                yield finding
                break


def _paths(snapshot: Snapshot, path: str, statement: Statement, about: tuple[Bundle, ...]) -> Iterator[Finding]:
    """Backticked paths inside a bundle that are not there."""
    if not statement.code_spans or _is_admitted(statement.text) or _DENIED.search(statement.text):
        return
    for span in statement.code_spans:
        text = span.text.strip()
        bundle = next((b for b in about if _is_path(text) and inside_bundle(b, text)), None)
        if bundle is None or (bundle_at(snapshot, path) is None and not text.startswith(bundle.path + "/")):
            continue
        relative = text.removeprefix(bundle.path + "/")
        if relative.partition("/")[0].lower() in _SOURCES:
            continue
        if not files_of(snapshot, bundle, path, text) and not is_external(snapshot, bundle, relative) and not _is_nested(snapshot, bundle, text):
            where = Location(path, line=span.line, role="claim", text=statement.text)
            yield _finding(bundle, text, (where,), Severity.MEDIUM, f"“{excerpt(statement.text)}” names `{text}`")


def _is_nested(snapshot: Snapshot, bundle: Bundle, text: str) -> bool:
    """A path from the repository's root that stands below a folder instead: a whole example repository was moved there."""
    wanted = f"/{text.strip('/')}"
    return text.startswith(bundle.path + "/") and any(path.endswith(wanted) or f"{wanted}/" in path for path in snapshot.head.files)


def _is_path(text: str) -> bool:
    return 3 <= len(text) <= 300 and not re.search(r"[<>{}$|\s…]|\.\.\.|://", text) and bool(extension(text) or text.endswith("/") or "*" in text)


def _is_admitted(text: str) -> bool:
    return any(has_word(text, words) for words in (ABSENT, EXTERNAL, EXAMPLES, _ADMITTED)) or bool(_ELSEWHERE.search(text))


def _claims(snapshot: Snapshot, statement: Statement, about: tuple[Bundle, ...]) -> Iterator[Finding]:
    """ "Raw logs are retained", "preflight prepared": the noun beside the verb, and no file that could be it."""
    if has_word(statement.text, EXAMPLES) or _ELSEWHERE.search(statement.text) or (statement.kind == "row" and _ANSWERS_NO.search(statement.text)):
        return
    for words in _CLAIMS:
        for mention in mentions(statement, words):
            kind = _kind(mention) if _is_claimed(mention) else None
            if kind and not any(_has(snapshot, bundle, kind, mention) for bundle in about):
                yield _claim(statement, kind, about, mention)
                return


def _is_claimed(mention: Mention) -> bool:
    clause = mention.clause.text
    doubted = any(has_word(clause, words) for words in (ABSENT, EXTERNAL, _ADMITTED, WAITING))
    return not mention.negated and mention.standing in ("asserted", "reported") and not doubted


_ANSWERS_NO = re.compile(r"\|\s{0,3}(?:no|none|false|n/?a|absent|missing|[-–—✗✘❌×]|0|否|无|没有)\s{0,3}(?:\||\Z)", re.IGNORECASE)
"""A cell of a table that says no to its row's label: `log available | No`."""


def _kind(mention: Mention) -> str | None:
    """What the verb speaks of: "raw logs are retained", "retained raw logs", "preflight prepared", 日志已保留; a noun elsewhere in the clause is none."""
    before, after = mention.clause.text[: mention.match.start()], mention.clause.text[mention.match.end() :]
    for kind, noun in _NOUN.items():
        predicate = not _ATTRIBUTE.search(before)
        if (predicate and any(_SUBJECT.match(before, m.end()) for m in noun.finditer(before))) or any(
            _OBJECT.match(after[: m.start()]) and not _SAYS_ELSE.match(after, m.end()) for m in noun.finditer(after[:NEAR])
        ):
            return kind
    return None


NEAR = 60
"""Characters after a claim's verb in which its noun may stand."""
_ATTRIBUTE = re.compile(r"\b(?:the|an?|this|that|these|those|its|their|our|each|any|every)\s{1,3}\Z", re.IGNORECASE)
"""`output for the recorded detector`: the word belongs to what follows."""
_SAYS_ELSE = re.compile(
    r"\s(?:is|was|are|were|has|have|had|does|do|did|could|can|would) ?(?:not|no|never|n't)\b|\s(?:cannot|fail(?:s|ed)?)\b|n't\b", re.IGNORECASE
)
"""`the preserved script is not executable` is no claim that it is preserved here."""
_SUBJECT = re.compile(
    r"(?:,? (?:and|or|of|from|for|in|with) (?:[\w/-]{1,24} ?){1,4})?(?:[\s)]{0,2}(?:is|are|was|were|has|have|been|being|all|also|now|already|both|remain|remains|stay|kept|fully|still)\b){0,4}[\s:]{0,2}\Z"
    r"|[^，。；,;]{0,8}(?:已|均|都|全部|一并|也)?[^，。；,;]{0,4}\Z",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"\s?(?:(?:the|all|its|their|our|raw|full|complete|original|corresponding|both|every|each|server|worker|compiler|device|client|benchmark|run|\d+)\s){0,5}\Z|[^，。；,;]{0,8}\Z",
    re.IGNORECASE,
)


def _has(snapshot: Snapshot, bundle: Bundle, kind: str, mention: Mention) -> bool:
    """True when a file of the bundle could be what is claimed, or the inventory lists such a thing as external."""
    folders = [span.text for span in mention.statement.code_spans if inside_bundle(bundle, span.text)]
    if folders:
        return any(files_of(snapshot, bundle, mention.statement.path, text) or is_external(snapshot, bundle, text) for text in folders)
    if any(
        _NOUN[kind].search(external.name.replace("_", " ").replace("/", " ")) or _FILE[kind].search(external.name)
        for external in externals(snapshot, bundle)
    ):
        return True
    return any(_FILE[kind].search(bundle.relative(path)) and path != mention.statement.path for path in bundle.files)


def _claim(statement: Statement, kind: str, about: tuple[Bundle, ...], mention: Mention) -> Finding:
    searched = ", ".join(f"{len(b.files)} files of `{b.path}/`" for b in about[:3]) or "the tree, which has no bundle of this campaign"
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"The {kind} said to be {mention.match[0]} are not in the repository"
        if kind != "preflight"
        else f"The preflight said to be {mention.match[0]} has no artifact",
        problem=f"“{excerpt(statement.text)}”; no file that could be the {kind} was found in {searched}, and none is declared external.",
        impact="The sentence cannot be checked by anybody but its author.",
        next=f"Commit the {kind}, or list them under `external` in the inventory with a reason, or drop the claim (edit text).",
        locations=(statement.location(),),
        evidence=(("claim", mention.match[0]), ("kind", kind)),
        roots=(f"artifact:{statement.path}:{kind}", f"claim:{statement.path}#{statement.text.casefold()}"),
        searched=searched,
    )


def _finding(bundle: Bundle, text: str, places: tuple[Location, ...], severity: Severity, said: str) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=severity,
        title=f"{text} is named and not in the repository",
        problem=f"{said}; there is no such file at head, neither from the document's folder nor from the bundle's nor from the repository's, and it is not declared external.",
        impact="What the document points to cannot be opened or checked.",
        next="Commit the file, or list it under `external` in the inventory with a reason, or say in the document that it is missing (edit text).",
        locations=places,
        evidence=(("path", text),),
        roots=(f"artifact:{bundle.path}/{text.removeprefix(bundle.path + '/')}",),
        searched=f"{len(bundle.files)} files of `{bundle.path}/`",
    )


RULE = Rule(
    "artifact-missing",
    "integrity",
    Severity.HIGH,
    check,
    each=each,
    norms=(("not in this checkout", "external"), ("external", "explains")),
)
