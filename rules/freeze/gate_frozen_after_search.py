"""A gate was frozen only after a candidate had been measured

What it checks: for each gate record in force (`plan/acceptance*.json`, `plan/gates*.json`, the code under `validator/`), the first commit that
carries its operative digest, as the file itself or in a manifest that lists it, against the first commit that holds a candidate's result in the
same bundle.

Why: a gate that is written or changed when the results are known can be drawn around them. The order of commits is the only proof of the order.

Four outcomes: *proven* (the gate's commit is a strict ancestor; nothing is reported), *same commit*, *violated*, and *unprovable* (a squash, a
shallow clone, commits that were reordered). Where history proves nothing, a gate's `recorded_at` later than a candidate's time is weaker evidence.
A manifest that names a witness commit is proof where that commit resolves, carries the digest and holds no candidate result.

Fix: freeze the operative gate, with its digests under `plan/`, before the next measured arm; let what was measured before stay INCONCLUSIVE, or
let the acceptance owner accept the later gate on record.

Example: `plan/gates.json` says "at most 0.9"; after the candidate's receipt it is edited to "at most 0.92".

Not flagged: baseline and control receipts, plans, statuses and preflights before the gate; a record that another one supersedes as a whole.

Strength: blocking when the history proves the wrong order, high for the same commit or by `recorded_at`, medium when the order cannot be proven.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from rules.core.model import Confirmed, Facts, Finding, History, Item, Location, Missing, Rule, Severity, Snapshot, Tree, Unchecked
from rules.reading.documents import is_document, places
from rules.reading.gates import Gate, gates, in_force, validators
from rules.reading.keys import words
from rules.reading.layout import Bundle, bundles
from rules.reading.manifests import is_sums, manifests, sha256
from rules.reading.outline import Shape, keys_of
from rules.reading.past import changes_in, commits_with
from rules.reading.receipts import Contents, Receipt, contents, may_hold_outcome, receipt, receipts
from rules.reading.times import Timed, times_of

BLOB_LIMIT = 16 * 1024 * 1024
FIRST_RESULTS = 20
REORDERED_SECONDS = 600
"""Clocks of two machines may differ by this much."""
_SQUASH = re.compile(r"\(#\d{1,9}\)\s*\Z")
_HEX = re.compile(r"[0-9a-fA-F]{7,40}\Z")

Outcome = Literal["proven", "same commit", "violated", "unprovable"]
RANK: dict[Outcome, int] = {"proven": 0, "unprovable": 1, "same commit": 2, "violated": 3}


@dataclass(frozen=True, slots=True)
class Order:
    """How a gate's first commit and a candidate's first commit lie. `why` says what makes an order unprovable."""

    outcome: Outcome
    gate: str | None
    result: str | None
    why: str = ""
    witness: str = ""
    recorded: tuple[Timed, Receipt, Timed] | None = None


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        governing = in_force(gates(snapshot, bundle))
        judges = validators(snapshot, bundle)
        if governing or judges:
            yield from _of_bundle(snapshot, bundle, governing, judges)


def _of_bundle(snapshot: Snapshot, bundle: Bundle, governing: tuple[Gate, ...], judges: tuple[str, ...]) -> Iterator[Item]:
    results = candidate_commits(snapshot, bundle)
    if not results and not any(r.is_candidate_result for r in receipts(snapshot, bundle)):
        return
    history = snapshot.history
    if history is None or not history.commits:
        yield from _by_record_alone(snapshot, bundle, governing)
        return
    orders = {path: order(snapshot, history, bundle, path, results) for path in (*(gate.path for gate in governing), *judges)}
    late = [path for path in judges if orders[path].outcome != "proven"]
    reported = False
    for gate in governing:
        found = _with_record(snapshot, bundle, gate, orders[gate.path])
        if found.outcome == "proven":
            yield Confirmed("record", f"{bundle.relative(gate.path)} precedes every candidate result", Location(gate.path), Location(gate.path))
            continue
        reported = True
        yield _finding(snapshot, bundle, gate.path, found, late)
    if late and not reported:
        worst = max(late, key=lambda path: RANK[orders[path].outcome])
        yield _finding(snapshot, bundle, worst, orders[worst], [path for path in late if path != worst])


# ---------------------------------------------------------------- history


def candidate_commits(snapshot: Snapshot, bundle: Bundle) -> dict[str, str]:
    """Commit → path of a candidate's result that it brings into the bundle, oldest first."""
    return snapshot.memo(("candidate commits", bundle.path), lambda: _candidate_commits(snapshot, bundle))


def _candidate_commits(snapshot: Snapshot, bundle: Bundle) -> dict[str, str]:
    lead = f"{bundle.path}/{bundle.root.results}/"
    found: dict[str, str] = {}
    for change in changes_in(snapshot, bundle):
        may = change.after and change.commit not in found and change.path.startswith(lead) and may_hold_outcome(change.path)
        if may and _is_candidate(snapshot, bundle, change.path, change.after or ""):
            found[change.commit] = change.path
    return found


def _is_candidate(snapshot: Snapshot, bundle: Bundle, path: str, oid: str) -> bool:
    history = snapshot.history
    assert history is not None

    def held() -> Contents:
        data = history.blob(oid)
        return contents(path, data) if len(data) <= BLOB_LIMIT else None

    try:
        found = receipt(snapshot, bundle, path, oid, held)
    except Missing:
        return False
    return found is not None and found.is_candidate_result


def carriers(snapshot: Snapshot, history: History, bundle: Bundle, path: str) -> list[str]:
    """The commits that bring the operative bytes of `path`, or a list of digests that holds them, oldest first."""
    try:
        digest = sha256(snapshot, snapshot.head, path)
    except Missing:
        digest = ""
    listing = [
        change.commit
        for change in changes_in(snapshot, bundle)
        if digest and change.after and (is_sums(change.path) or is_document(change.path)) and _lists(snapshot, history, change.after, digest)
    ]
    places = {commit: number for number, commit in enumerate(history.commits)}
    return sorted({*commits_with(snapshot, snapshot.head.files[path].oid), *listing}, key=lambda commit: -places.get(commit, 0))


def _lists(snapshot: Snapshot, history: History, oid: str, digest: str) -> bool:
    def make() -> frozenset[str]:
        data = history.blob(oid)
        return frozenset(m.decode().lower() for m in re.findall(rb"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])", data[:BLOB_LIMIT]))

    try:
        return digest in snapshot.cache.by_blob("digests named", oid, 4096, make)
    except Missing:
        return False


def order(snapshot: Snapshot, history: History, bundle: Bundle, path: str, results: dict[str, str]) -> Order:
    """The worst order of the gate's first commits against the first commits of candidate results; a witness commit can still prove it."""
    gate_commits = carriers(snapshot, history, bundle, path)
    firsts = _firsts(history, results)
    if not firsts:
        return Order("unprovable", gate_commits[0] if gate_commits else None, None, "no commit that can be seen brings the candidate's result")
    worst = max((_against(snapshot, history, gate_commits, result) for result in firsts), key=lambda o: RANK[o.outcome])
    refused = (
        []
        if worst.outcome == "proven"
        else [why for commit in witnesses(snapshot, bundle) for why in [_refusal(snapshot, history, bundle, path, commit)]]
    )
    if None in refused:
        return Order("proven", worst.gate, worst.result)
    return replace(worst, witness="; ".join(why for why in refused if why))


def _firsts(history: History, results: Iterable[str]) -> list[str]:
    """Of the commits with a candidate result, oldest first, those that no other one precedes."""
    firsts: list[str] = []
    for commit in list(results)[:FIRST_RESULTS]:
        if not any(history.is_ancestor(first, commit) for first in firsts):
            firsts.append(commit)
    return firsts


def _against(snapshot: Snapshot, history: History, gate_commits: list[str], result: str) -> Order:
    before = next((c for c in gate_commits if c != result and history.is_ancestor(c, result)), None)
    if before:
        return _reordered(history, before, result) or Order("proven", before, result)
    if not gate_commits:
        return Order("unprovable", None, result, "no commit that can be seen brings the gate's bytes")
    if not history.complete and _is_oldest_seen(history, result):
        return Order("unprovable", gate_commits[0], result, "the clone is shallow: both stand in, or after, the oldest commit that can be seen")
    if result in gate_commits:
        squash = _is_squash(snapshot, history, result)
        return (
            Order("unprovable", result, result, f"commit {result[:8]} is a squash: its parts are lost")
            if squash
            else Order("same commit", result, result)
        )
    if history.is_ancestor(result, gate_commits[0]):
        return Order("violated", gate_commits[0], result)
    return Order("unprovable", gate_commits[0], result, "the two commits lie on branches of which neither precedes the other")


def _is_oldest_seen(history: History, commit: str) -> bool:
    return not any(parent in history.commits for parent in history.commits[commit].parents)


def _is_squash(snapshot: Snapshot, history: History, commit: str) -> bool:
    found = history.commits[commit]
    on_base = snapshot.base is None or snapshot.merge_base is None or history.is_ancestor(commit, snapshot.merge_base.commit or "")
    return on_base and len(found.parents) <= 1 and bool(_SQUASH.search(found.subject))


def _reordered(history: History, gate: str, result: str) -> Order | None:
    """Rebased commits keep their authors' dates: a gate written after the result that it now precedes was moved there."""
    one, other = history.commits[gate], history.commits[result]
    rewritten = one.time != one.author_time or other.time != other.author_time
    if rewritten and (one.author_time - other.author_time).total_seconds() > REORDERED_SECONDS:
        why = f"the history was rewritten (force-push): commit {gate[:8]} was written after {result[:8]}, which it now precedes"
        return Order("unprovable", gate, result, why)
    return None


# ---------------------------------------------------------------- witnesses


def _refusal(snapshot: Snapshot, history: History, bundle: Bundle, path: str, commit: str) -> str | None:
    """Why a witness commit does not prove that the gate's bytes stood before any candidate result; None where it does."""
    tree = history.tree(commit)
    if tree is None:
        return f"the witness commit `{commit[:8]}` that a manifest names is not in this repository"
    if not _carries(snapshot, bundle, tree, path):
        return f"the witness commit `{commit[:8]}` that a manifest names carries other bytes of the gate, or none"
    if _holds_candidate(snapshot, bundle, tree):
        return f"the witness commit `{commit[:8]}` that a manifest names already holds a candidate result"
    return None


def witnesses(snapshot: Snapshot, bundle: Bundle) -> tuple[str, ...]:
    """The commits that the bundle's lists of digests name as their witness."""
    found = []
    for manifest in manifests(snapshot, bundle):
        for node in places(snapshot, manifest.path).nodes(_names_a_witness, str):
            if _HEX.match(node.value.strip()):
                found.append(node.value.strip().lower())
    return tuple(dict.fromkeys(found))


def _names_a_witness(shape: Shape) -> bool:
    said = {word for part in keys_of(shape) for word in words(part)}
    last = set(words(shape[-1] or "")) if shape else set()
    frozen = {"witness", "witnessed", "frozen", "freeze", "freezing", "见证", "冻结"}
    return bool(said & frozen) and bool(last & ({"commit", "sha", "revision", "rev", "id", "head", "提交"} | frozen)) and "256" not in last


def _carries(snapshot: Snapshot, bundle: Bundle, tree: Tree, path: str) -> bool:
    oid = snapshot.head.files[path].oid
    return any(entry.oid == oid for held, entry in tree.files.items() if held.startswith(bundle.path + "/"))


def _holds_candidate(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> bool:
    lead = f"{bundle.path}/{bundle.root.results}/"
    return any(
        _is_candidate(snapshot, bundle, path, entry.oid)
        for path, entry in tree.files.items()
        if path.startswith(lead) and entry.is_file and may_hold_outcome(path)
    )


# ---------------------------------------------------------------- recorded times


def _by_record_alone(snapshot: Snapshot, bundle: Bundle, governing: tuple[Gate, ...]) -> Iterator[Item]:
    """A plain folder: only the recorded times speak."""
    for gate in governing:
        found = recorded_after(snapshot, bundle, gate)
        if found:
            yield _finding(snapshot, bundle, gate.path, Order("unprovable", None, None, "there is no history", recorded=found), [])
        else:
            yield Unchecked(f"whether {gate.path} was frozen before the search", "there is no history (a plain folder)")


def _with_record(snapshot: Snapshot, bundle: Bundle, gate: Gate, found: Order) -> Order:
    """History outranks `recorded_at`: it speaks only where the history proves nothing."""
    if found.outcome not in ("unprovable", "same commit"):
        return found
    return replace(found, recorded=recorded_after(snapshot, bundle, gate))


def recorded_after(snapshot: Snapshot, bundle: Bundle, gate: Gate) -> tuple[Timed, Receipt, Timed] | None:
    """(the gate's recorded time, the candidate's receipt, its time) where the gate was recorded later; times without a zone do not speak."""
    if gate.recorded is None or gate.recorded.moment.micros is None:
        return None
    for one in receipts(snapshot, bundle):
        for timed in times_of(places(snapshot, one.path)) if one.is_candidate_result else ():
            at = timed.moment.micros
            if timed.key.role in ("start", "end", "event", "recorded") and at is not None and at < gate.recorded.moment.micros:
                return gate.recorded, one, timed
    return None


# ---------------------------------------------------------------- words


def _finding(snapshot: Snapshot, bundle: Bundle, path: str, found: Order, others: list[str]) -> Finding:
    name = bundle.relative(path)
    result_path = candidate_commits(snapshot, bundle).get(found.result or "")
    locations = [Location(path, role="gate")]
    if found.recorded:
        locations += [
            Location(path, pointer=found.recorded[0].node.pointer, role="gate"),
            Location(found.recorded[1].path, pointer=found.recorded[2].node.pointer, role="result"),
        ]
    if result_path:
        locations.append(Location(result_path, role="result", at=None if result_path in snapshot.head.files else found.result))
    locations += [Location(other, role="gate") for other in others[:20] if other != path]
    return Finding(
        rule=RULE.id,
        severity=_severity(found),
        title=TITLES["recorded" if found.recorded and found.outcome == "unprovable" else found.outcome].format(name=name),
        problem=_problem(bundle, name, found, result_path, [bundle.relative(other) for other in others if other != path]),
        impact="The comparison has no gate that was fixed before its outcome was known, so it cannot be more than INCONCLUSIVE."
        if found.outcome != "unprovable" or found.recorded
        else "A reader cannot tell whether the gate was fixed before the outcome was known.",
        next=_next(found),
        locations=tuple(dict.fromkeys(locations)),
        evidence=_evidence(found),
        roots=(f"freeze:{bundle.path}",),
    )


TITLES = {
    "violated": "{name} was frozen after a candidate had been measured",
    "same commit": "{name} and the first candidate result arrive in the same commit",
    "unprovable": "Whether {name} was frozen before the search cannot be proven",
    "recorded": "{name} was recorded after a candidate had been measured",
}


def _severity(found: Order) -> Severity:
    if found.outcome == "violated":
        return Severity.BLOCKING
    return Severity.HIGH if found.outcome == "same commit" or found.recorded else Severity.MEDIUM


def _problem(bundle: Bundle, name: str, found: Order, result_path: str | None, others: list[str]) -> str:
    result = f"`{bundle.relative(result_path)}`" if result_path else "a candidate result"
    match found.outcome:
        case "violated":
            text = (
                f"Order violated: the operative bytes of `{name}` first appear in commit `{(found.gate or '')[:8]}`, which comes after "
                f"`{(found.result or '')[:8]}`, the first commit with a candidate result ({result})."
            )
        case "same commit":
            text = f"Same commit: `{(found.result or '')[:8]}` first brings both the operative bytes of `{name}` and a candidate result ({result})."
        case _:
            text = f"Order unprovable for `{name}` against {result}: {found.why}."
    if found.recorded:
        gate_time, candidate, time = found.recorded
        text += (
            f" Its `{gate_time.node.key}` is {gate_time.moment.text}, later than `{time.node.key}` {time.moment.text} "
            f"of the candidate receipt `{bundle.relative(candidate.path)}`."
        )
    if found.witness:
        text += f" {found.witness[:1].upper()}{found.witness[1:]}."
    if others:
        shown = ", ".join(f"`{other}`" for other in others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        text += f" Nor does the history show that {shown} came before the first candidate result."
    return text


def _next(found: Order) -> str:
    if found.outcome == "unprovable" and not found.recorded:
        return (
            "Name in the freeze manifest the commit that carried the gate before the search, if it still exists (commit a file); "
            "otherwise say in the record that the order cannot be shown."
        )
    return (
        "Keep the gate and the results as they are and let these comparisons stay INCONCLUSIVE; freeze the operative gate with its digests under the plan "
        "before the next measured arm (commit a file, then a new run), or have the acceptance owner accept the later gate on record (decision)."
    )


def _evidence(found: Order) -> tuple[tuple[str, str], ...]:
    pairs = [
        ("outcome", found.outcome),
        ("gate's first commit", found.gate or "none seen"),
        ("first commit with a candidate result", found.result or "none seen"),
    ]
    if found.recorded:
        pairs += [("gate recorded", found.recorded[0].moment.text), ("candidate's time", found.recorded[2].moment.text)]
    return tuple(pairs)


RULE = Rule(
    "gate-frozen-after-search",
    "freeze",
    Severity.BLOCKING,
    check,
    norms=(("freeze", "before", "search"), ("frozen", "before", "search"), ("gates", "before", "candidate"), ("冻结", "搜索", "之前")),
)
