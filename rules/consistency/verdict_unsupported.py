"""A verdict does not follow from its own gates

What it checks: the verdict of each result (PASS, FAIL, accepted, 通过 …) against its gates: their numbers and limits, their flags, the gates that the
plan freezes and the result never judges, and the stated decision rule ("2 of 3").

Why: a verdict is what others quote. One that its own gates do not carry is worse than none.

Fix: record what the gates say (FAIL or INCONCLUSIVE), or run what was not measured. A gate is not changed to fit a result.

Example: `"verdict": "PASS"` beside a gate with `"observed": 263.4, "max": 250, "passed": true`.

Not flagged: INCONCLUSIVE, whatever its gates say; diagnostics and software checks; gates waived in words; a decision rule that is not understood.

Strength: blocking; medium for a verdict in a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules.core.model import Bundle, Confirmed, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.campaigns import bundles_of_conversation
from rules.reading.conversation import bodies, claim_root
from rules.reading.decision_rules import DecisionRule, decision_rule, decision_rules
from rules.reading.documents import Node, document, is_document, places, pointer
from rules.reading.gate_entries import Entry, entries, name_words
from rules.reading.gates import gates, in_force
from rules.reading.judgements import MENTIONS, JudgedGate, Stated, judged, stated_verdicts
from rules.reading.keys import family, words
from rules.reading.prefilter import mentions
from rules.reading.receipts import arm_names, arm_of_text
from rules.reading.statements import Statement, asserted, statements, text_statements
from rules.reading.verdict_words import said_of

_PARTIAL = family(
    "screen screening probe operator micro microbench stage preflight smoke diagnostic diagnostics trace profile lint unit software ci check checks warmup bringup build test tests sanity 预检 冒烟 诊断"
)
_STEMS = family(
    "verdict result results summary outcome acceptance decision final conclusion qualification adjudication judgement judgment report overall evaluation status 结论 判定 验收"
)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """One stated verdict with its gates as they were judged, and the plan's gates that nothing judges."""

    path: str
    stated: Stated
    gates: tuple[JudgedGate, ...]
    unjudged: tuple[tuple[str, Entry], ...]
    rule: DecisionRule


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    held = list(_verdicts(snapshot, bundle))
    for verdict in held:
        wrong = _wrong(verdict)
        if wrong:
            yield _finding(bundle, verdict, *wrong)
        elif verdict.gates and verdict.stated.said in ("pass", "fail"):
            yield Confirmed(
                "record",
                f"{verdict.stated.text} follows from {len(verdict.gates)} gates",
                _place(verdict),
                Location(verdict.path, pointer=pointer(verdict.gates[0].place), role="gate"),
            )
    aside = {path for part in ("plan", "patch", "validator") for path in bundle.part(part)}
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")) and path not in aside:
            yield from _of_text(statements(snapshot, path), held, against_record=True)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    said = [text for text in bodies(snapshot) if mentions(text.text, "verdict", "结论", "判定", "裁决")]
    found = bundles_of_conversation(snapshot) if said else ()
    if len(found) == 1:
        held = list(_verdicts(snapshot, found[0]))
        for text in said:
            yield from _of_text(text_statements(snapshot, text), held, against_record=text.path != "pull:body")


# ---------------------------------------------------------------- verdicts of the records


def _verdicts(snapshot: Snapshot, bundle: Bundle) -> Iterator[_Verdict]:
    """The verdicts of the bundle's documents outside its plan."""
    aside = {path for part in ("plan", "patch", "validator") for path in bundle.part(part)}
    records = [
        path
        for path in bundle.files
        if is_document(path) and path not in aside and (doc := document(snapshot, path)) and doc.readable and mentions(doc.text, *MENTIONS)
    ]
    found = [(path, one) for path in records for one in stated_verdicts(places(snapshot, path)) if one.said in ("pass", "fail", "open")]
    if not found:
        return
    plan = _plan_gates(snapshot, bundle)
    everywhere = {path: entries(places(snapshot, path).all()) for path in records}
    for path, stated in found:
        whole = _is_of_campaign(snapshot, bundle, path, stated)
        mine = stated.gates or (_loose(bundle, path, everywhere, found) if whole and stated.said != "open" else ())
        told = (judged(entry, next((frozen for _, frozen in plan if whole and entry.has_name_of(frozen)), None)) for entry in mine)
        merged = tuple(gate for gate in told if not gate.silent)
        direct, unjudged = _from_values(snapshot, path, plan, everywhere) if whole else ((), ())
        names = tuple(gate.name for gate in merged)
        yield _Verdict(path, stated, (*merged, *direct), unjudged, _rule(snapshot, bundle, path, stated, names))


def _loose(bundle: Bundle, verdict: str, everywhere: dict[str, tuple[Entry, ...]], found: Sequence[tuple[str, Stated]]) -> tuple[Entry, ...]:
    """The gates of documents that state no verdict of their own and lie where the verdict's does: among the results, or below its folder."""
    own = {path for path, stated in found if stated.gates}
    return tuple(
        entry
        for path, held in everywhere.items()
        if path not in own and _is_near(bundle, verdict, path)
        for entry in held
        if entry.value is not None or not isinstance(entry.place[-1], int)
    )


def _is_near(bundle: Bundle, verdict: str, path: str) -> bool:
    """Two studies that lie side by side in one bundle do not judge each other."""
    results = bundle.part("results")
    mine, other = verdict.rpartition("/")[0], path.rpartition("/")[0]
    return (verdict in results and path in results) or f"{other}/".startswith(f"{mine}/") or f"{mine}/".startswith(f"{other}/")


def _is_of_campaign(snapshot: Snapshot, bundle: Bundle, path: str, stated: Stated) -> bool:
    """A verdict over the candidate as a whole: no screen, no diagnostic, no baseline, at the document's top or under `verdict`."""
    if not stated.strong or len([part for part in stated.place if isinstance(part, str)]) > 2 or any(isinstance(part, int) for part in stated.place):
        return False
    stem = set(words(path.rpartition("/")[2].rpartition(".")[0]))
    top = places(snapshot, path).top
    keys = {word for key in top for word in words(key)} if isinstance(top, dict) else set()
    said = [v for k, v in top.items() if isinstance(v, str) and set(words(k)) & family("kind type role scope 类型")] if isinstance(top, dict) else []
    if (
        stem & _PARTIAL
        or keys & (_PARTIAL - family("check checks test tests build ci unit status"))
        or any(set(words(text)) & _PARTIAL for text in said)
    ):
        return False
    arm = top.get("arm") if isinstance(top, dict) else None
    if isinstance(arm, str) and arm_of_text(arm, arm_names(snapshot, bundle)) == {"baseline"}:
        return False
    return bool(stated.gates) or bool(stem & _STEMS)


def _plan_gates(snapshot: Snapshot, bundle: Bundle) -> tuple[tuple[str, Entry], ...]:
    """(path, gate) of every gate that the plan's documents in force list by name."""
    records = gates(snapshot, bundle)
    gone = {gate.path for gate in records} - {gate.path for gate in in_force(records)}
    made = []
    for path in bundle.part("plan"):
        doc = document(snapshot, path) if is_document(path) and path not in gone else None
        if doc and doc.readable and mentions(doc.text, "gate", "criteri", "accept", "require", "threshold", "门", "准则", "验收", "判据"):
            made += [(path, entry) for entry in entries(places(snapshot, path).all()) if any(not key[0].isdigit() for key in entry.keys)]
    return tuple(made)


def _from_values(
    snapshot: Snapshot, path: str, plan: Sequence[tuple[str, Entry]], everywhere: dict[str, tuple[Entry, ...]]
) -> tuple[tuple[JudgedGate, ...], tuple[tuple[str, Entry], ...]]:
    """Of the plan's gates that no result lists: those whose metric stands in the verdict's own document as a value, and those that nothing judges."""
    listed = [entry for held in everywhere.values() for entry in held]
    open_ones = [(where, entry) for where, entry in plan if not any(entry.same_gate(other) for other in listed)]
    direct, unjudged = [], []
    for where, entry in open_ones:
        found = [node for node in places(snapshot, path).all() if node.path and isinstance(node.path[-1], str) and _is_named(node, entry)]
        if found:
            values = [
                judged(Entry(entry.name, node.path, {node.path[-1]: node.value, "observed": node.value}), entry)
                for node in found[:1]
                if not isinstance(node.value, (dict, list))
            ]
            direct += [one for one in values if one.holds is not None or one.unmeasured]
        elif not _is_spoken_of(snapshot, entry, everywhere):
            unjudged.append((where, entry))
    return tuple(direct), tuple(unjudged)


def _is_named(node: Node, entry: Entry) -> bool:
    return any(set(key) <= set(name_words(str(node.path[-1]))) for key in entry.keys)


def _is_spoken_of(snapshot: Snapshot, entry: Entry, everywhere: dict[str, tuple[Entry, ...]]) -> bool:
    """A result has a field of the gate's name, or waives it in words."""
    return any(
        _is_named(node, entry)
        or (
            isinstance(node.value, str)
            and _WAIVES.search(node.value) is not None
            and any(set(key) <= set(name_words(node.value)) for key in entry.keys)
        )
        for path in everywhere
        for node in places(snapshot, path).all()
        if node.path and isinstance(node.path[-1], str)
    )


_WAIVES = re.compile(r"waive|exempt|withdrawn|not applicable|out of scope|豁免|不适用|撤销", re.IGNORECASE)


def _rule(snapshot: Snapshot, bundle: Bundle, path: str, stated: Stated, names: tuple[str, ...]) -> DecisionRule:
    """The decision rule nearest to the verdict: of its own document, of the plan's documents, of the plan's text; else every gate must hold."""
    own = [rule for node, rule in decision_rules(places(snapshot, path).all(), names) if node.path[:-1] == stated.place[: len(node.path) - 1]]
    if own:
        return own[0]
    for file in bundle.part("plan"):
        doc = document(snapshot, file) if is_document(file) else None
        found = (
            decision_rules(places(snapshot, file).all(), names)
            if doc and doc.readable and mentions(doc.text, "rule", "when", "quorum", "require", "need", "min", "规则", "条件")
            else ()
        )
        if found:
            return found[0][1]
    for file in bundle.part("plan"):
        for one in statements(snapshot, file) if file.lower().endswith(".md") else ():
            if _TEXT_RULE.search(one.text):
                return decision_rule(one.text, names)
    return DecisionRule()


_TEXT_RULE = re.compile(
    r"(?<![A-Za-z])(?:PASS(?:es)?|accepted|passes|qualifies|verdict)(?![A-Za-z]).{0,60}?(?:when|if|requires?|needs?|only|once).{0,80}?(?:gates?|criteria|of the|of \d)"
    r"|(?:通过|PASS).{0,30}?(?:门槛|门禁|闸门|准则|项|个)|(?:门槛|门禁|闸门|准则|项|个).{0,30}?(?:才|方可|即|则)?(?:判|算|为)?(?:通过|PASS)"
)


# ---------------------------------------------------------------- does it follow


def _wrong(verdict: _Verdict) -> tuple[str, list[JudgedGate]] | None:
    """Why the verdict does not follow, and the gates that show it; None where it does, or where that cannot be told."""
    held, rule = [gate for gate in verdict.gates if gate.outcome != "waived"], verdict.rule
    if verdict.stated.said not in ("pass", "fail") or not rule.known or not (held or verdict.unjudged):
        return None
    if rule.named:
        held = [gate for gate in held if gate.name in rule.named]
    passed = [gate for gate in held if gate.outcome == "pass"]
    failed = [gate for gate in held if gate.outcome == "fail"]
    open_ones = [gate for gate in held if gate.outcome == "open"]
    need = len(held) // 2 + 1 if rule.majority else rule.need
    if verdict.stated.said == "pass":
        return _unsupported_pass(verdict, passed, [*failed, *open_ones], need)
    if need is not None:
        return (f"{len(passed)} of {len(held)} gates pass, and the rule asks for {need}", passed) if held and len(passed) >= need else None
    if failed or not held or verdict.unjudged:
        return None
    if open_ones:
        return None if _gives_reason(verdict) else ("no gate failed; what was not measured makes it INCONCLUSIVE", open_ones)
    return None if verdict.stated.partly or len(verdict.gates) < len(verdict.stated.gates) else (f"all of its {len(held)} gates pass", held)


def _unsupported_pass(verdict: _Verdict, passed: list[JudgedGate], wrong: list[JudgedGate], need: int | None) -> tuple[str, list[JudgedGate]] | None:
    if need is not None:
        return (f"{len(passed)} gates pass, and the rule asks for {need}", wrong) if len(passed) < need else None
    if not wrong and not (verdict.unjudged and not verdict.rule.named):
        return None
    parts = [f"`{gate.name}` {'failed' if gate.outcome == 'fail' else 'was not measured'} ({gate.shown})" for gate in wrong[:6]]
    parts += [
        f"`{entry.name}` of `{path.rpartition('/')[2]}` is not judged by any result" for path, entry in verdict.unjudged[:6] if not verdict.rule.named
    ]
    return "; ".join(parts), wrong


def _gives_reason(verdict: _Verdict) -> bool:
    """The verdict's text is more than its word."""
    return len(verdict.stated.text) > 40


# ---------------------------------------------------------------- a verdict in a text

_TEXT = re.compile(
    r"(?<![A-Za-z])(?i:verdict|conclusion|adjudication)\s?(?:is|was|:|：|=|—|-)\s?[*_`\"“]{0,3}(?P<en>(?i:pass(?:ed)?|accepted|fail(?:ed)?|rejected))(?![A-Za-z])"
    r"|(?:结论|判定|裁决|最终结论|总体结论|验收结果)\s?(?:是|为|：|:)\s?[*_`]{0,3}(?P<zh>通过|合格|PASS|不通过|未通过|FAIL)(?![A-Za-z])"
)


def _of_text(made: Sequence[Statement], held: Sequence[_Verdict], against_record: bool) -> Iterator[Finding]:
    """A verdict that a text states, against the one campaign verdict on record; a pull that claims more than the record is `wording-stale`'s matter."""
    whole = [one for one in held if one.stated.strong]
    if len(whole) != 1:
        return
    record = whole[0]
    for statement, clause in asserted(one for one in made if _TEXT.search(one.text)):
        match = _TEXT.search(statement.text)
        if match is None or clause.hedge or clause.negated or statement.standing != "asserted":
            continue
        said = said_of(match["en"] or match["zh"])
        why = (
            _wrong(record)
            if said == record.stated.said
            else (f"the record says {record.stated.text}", [])
            if said == "pass" and against_record
            else None
        )
        if why:
            yield _text_finding(statement, record, why[0])
            return


def _text_finding(statement: Statement, record: _Verdict, why: str) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title="A text states a verdict that the record does not carry",
        problem=f"“{statement.text[:200]}”; `{record.path}`: {why}.",
        impact="Readers of the text take the campaign for decided.",
        next="State the verdict that the gates carry (edit text).",
        locations=(statement.location(), _place(record, "record")),
        evidence=(("record", record.stated.text[:80]),),
        roots=(_root(record), claim_root(statement.path, statement.text)),
    )


# ---------------------------------------------------------------- findings


def _place(verdict: _Verdict, role: str = "claim") -> Location:
    return Location(verdict.path, pointer=pointer(verdict.stated.place), role=role)  # type: ignore[arg-type]


def _root(verdict: _Verdict) -> str:
    return f"record:{verdict.path}#{pointer(verdict.stated.place)}"


def _finding(bundle: Bundle, verdict: _Verdict, why: str, gates: Sequence[JudgedGate]) -> Finding:
    said = "PASS" if verdict.stated.said == "pass" else "FAIL"
    places = [
        Location(verdict.path, pointer=pointer(gate.place), role="gate") for gate in gates[:12] if gate in verdict.gates and _is_in(verdict, gate)
    ]
    frozen = [Location(path, pointer=pointer(entry.place), role="gate") for path, entry in verdict.unjudged[:12]]
    names = [gate.name for gate in gates] + [entry.name for _, entry in verdict.unjudged]
    rule = f" The decision rule: “{verdict.rule.text[:160]}”." if verdict.rule.text else ""
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING,
        title=f"{bundle.relative(verdict.path)} states {said}, and its gates do not carry it",
        problem=f"`{pointer(verdict.stated.place)}` is “{verdict.stated.text[:80]}”; {why}.{rule}",
        impact=f"The campaign is quoted as {said} without what its own gates ask for.",
        next="Record the verdict that the gates carry (edit text), or measure what is missing and record it (new run). Leave the gates as they were frozen.",
        locations=(_place(verdict), *places, *frozen),
        evidence=tuple((gate.name, gate.shown.replace("`", "")) for gate in gates[:8])
        + tuple((entry.name, "not judged") for _, entry in verdict.unjudged[:8]),
        roots=(_root(verdict),),
        searched=f"{len(verdict.gates)} judged gates; {', '.join(names[:6])}" if verdict.unjudged else None,
    )


def _is_in(verdict: _Verdict, gate: JudgedGate) -> bool:
    """The gate stands in the verdict's own document."""
    return not verdict.stated.gates or any(entry.place == gate.place for entry in verdict.stated.gates)


RULE = Rule(
    "verdict-unsupported", "consistency", Severity.BLOCKING, check=check, each=each,
    norms=(("prevents pass",), ("verdict", "gate"), ("pass", "every gate"), ("pass", "all gates"), ("null", "pass"), ("unmeasured", "gate")),
)  # fmt: skip
