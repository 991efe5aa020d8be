"""The pull's text claims more than the committed files, or than the issue

What it checks: sentences of the pull's body that claim a check ("independently verified"), kept artifacts ("retained raw logs") or a verdict,
against what the bundle's files, the inventory and the documents of the change say of the same; and sentences that the issue states with a
qualifier ("unverified author commentary", "no committed receipt") which the pull leaves out.

Why: the pull's text is what outside readers see and quote; it must not outlive the correction of the files.

Fix: bring the sentence to the level that the files and the issue state.

Example: "kept change locally verified with retained raw logs", while the summary says author-reported and the logs are external.

Not flagged: quotations and corrections of older wording; a claim whose artifacts are committed; a sentence that carries the same qualifier.

Strength: medium.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.campaigns import bundles_of_conversation
from rules.reading.conversation import Text, bodies, claim_root
from rules.reading.documents import document, is_document
from rules.reading.layout import Bundle
from rules.reading.provenance import Claim, Said, absent_artifacts, claims, clean_end, forced_ends, holds, subjects, weak_evidence
from rules.reading.qualifiers import missing_qualifiers
from rules.reading.statements import Statement, text_statements

_VERDICT = re.compile(
    r"\W{0,4}(?:(?:campaign|overall|final|acceptance|review)\s+)?(?:verdict|status|outcome|result|结论|状态|判定)\W{0,3}(?:\s+is)?\s*(?:[:：=—-]|\bis\b|为|是)\W{0,4}(?P<word>pass(?:ed|es)?|accepted|qualified|success(?:ful)?|通过|合格)\b",
    re.IGNORECASE,
)
_RECORDED_KEYS = ("verdict", "campaign_status", "campaign_verdict", "adjudication", "status", "outcome", "conclusion")
_SHORT_OF_PASS = re.compile(r"\s*(?:INCONCLUSIVE|FAIL(?:ED)?|REJECTED|UNQUALIFIED|NOT[ _-]PASS(?:ED)?|未通过|不合格|无结论)\b", re.IGNORECASE)
_PASSED = re.compile(r"\s*(?:PASS(?:ED)?|ACCEPTED|QUALIFIED|通过|合格)\b", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/.:-])[\w.-]{1,100}(?:/[\w.-]{1,100}){1,20}")


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    pull = next((text for text in bodies(snapshot) if text.path == "pull:body"), None)
    if pull is None:
        return
    held = bundles_of_conversation(snapshot)
    said = [one for one in text_statements(snapshot, pull) if one.kind != "heading"]
    found: dict[Statement, list[_Reason]] = {}
    for statement in said:
        for reason in _against_files(snapshot, held, statement):
            found.setdefault(statement, []).append(reason)
    for statement, reason in _against_issue(snapshot, said):
        found.setdefault(statement, []).append(reason)
    for statement, reasons in found.items():
        yield _finding(pull, statement, reasons)


@dataclass(frozen=True, slots=True)
class _Reason:
    """What a sentence claims, what is said elsewhere instead, and where."""

    claimed: str
    instead: str
    place: Location


def _reason(claimed: str, said: Said) -> _Reason:
    return _Reason(claimed, f"it claims “{excerpt(claimed, 80)}”, and `{said.place.path}` says {excerpt(said.shown, 120)}", said.place)


def _against_files(snapshot: Snapshot, held: tuple[Bundle, ...], statement: Statement) -> Iterator[_Reason]:
    for claim in claims(statement):
        other = next((one for bundle in held for one in _opposite(snapshot, bundle, claim)), None)
        if other and not _names_existing(snapshot, held, statement, claim):
            yield _reason(claim.shown, other)
    ended = clean_end(statement)
    forced = next((one for bundle in held for one in forced_ends(snapshot, bundle, subjects(statement.text))), None) if ended else None
    if ended and forced:
        yield _reason(ended, forced)
    verdict = _VERDICT.match(statement.text) if statement.standing == "asserted" else None
    recorded = _recorded_short(snapshot, held) if verdict else None
    if verdict and recorded:
        yield _reason(verdict["word"], recorded)


def _opposite(snapshot: Snapshot, bundle: Bundle, claim: Claim) -> tuple[Said, ...]:
    if claim.what == "verified":
        return weak_evidence(snapshot, bundle)
    return () if holds(bundle, claim.artifact) else absent_artifacts(snapshot, bundle, claim.artifact)


def _names_existing(snapshot: Snapshot, held: tuple[Bundle, ...], statement: Statement, claim: Claim) -> bool:
    """The sentence names where the kept artifacts are, and they are there."""
    if claim.what != "retained":
        return False
    named = [match[0].rstrip(".") for text in (statement.text, *(span.text for span in statement.code_spans)) for match in _PATH.finditer(text)]
    folders = ["", *(bundle.path + "/" for bundle in held)]
    return any(_is_there(snapshot, folder + path) for path in named for folder in folders)


def _is_there(snapshot: Snapshot, path: str) -> bool:
    return path in snapshot.head.files or any(bundle_file.startswith(path.rstrip("/") + "/") for bundle_file in snapshot.head.files)


def _recorded_short(snapshot: Snapshot, held: tuple[Bundle, ...]) -> Said | None:
    """A recorded verdict short of PASS at the top of a result, where no result records a PASS."""
    found: list[tuple[str, str, str]] = []
    for path in [path for bundle in held for path in bundle.part("results") if is_document(path)]:
        doc = document(snapshot, path)
        value = doc.value if doc and isinstance(doc.value, dict) else {}
        found += [(path, key, value[key]) for key in _RECORDED_KEYS if isinstance(value.get(key), str)]
    if any(_PASSED.match(text) for _, _, text in found):
        return None
    short = next((one for one in found if _SHORT_OF_PASS.match(one[2])), None)
    return Said(f"`{short[1]}`: “{short[2][:40]}”", Location(short[0], pointer=f"/{short[1]}", role="record")) if short else None


def _against_issue(snapshot: Snapshot, said: list[Statement]) -> Iterator[tuple[Statement, _Reason]]:
    issue = next((text for text in bodies(snapshot) if text.path == "issue:body"), None)
    if issue is None:
        return
    for statement, qualified, words in missing_qualifiers(said, list(text_statements(snapshot, issue))):
        instead = f"the issue states the same only with “{excerpt(words, 60)}” (line {qualified.line}), which is missing here"
        yield statement, _Reason("no qualifier", instead, qualified.location("record"))


def _finding(pull: Text, statement: Statement, reasons: list[_Reason]) -> Finding:
    by_issue = reasons[0].place.path.startswith("issue")
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"The pull's text claims more than {'the issue' if by_issue else 'the committed files'}",
        problem=f"“{excerpt(statement.text, 160)}”: {'; '.join(reason.instead for reason in reasons[:4])}.",
        impact="Readers of the pull take for checked or kept what the record does not show.",
        next="Bring the sentence to the level that the files and the issue state, qualifier included (edit text). No new run is needed.",
        locations=tuple(dict.fromkeys([statement.location(), *(reason.place for reason in reasons)])),
        evidence=tuple(("claimed", excerpt(reason.claimed, 80)) for reason in reasons[:4]),
        roots=(claim_root(pull.path, statement.text),),
    )


RULE = Rule("wording-stale", "status", Severity.MEDIUM, check, needs=frozenset(["pull"]), norms=(("author-reported",), ("label", "reported")))
