"""A text says that everything ended cleanly, and the raw record says otherwise

What it checks: strings of a record, and sentences of a README, guide, issue or pull, that claim a clean end ("all workers exited zero", "without
forced signals", "no process left behind") against the exit codes, signals, kills, remaining processes, OOM kills and timeouts of the smallest
object that holds both the string and an exit record of the same subject.

Why: a forced teardown that is described as clean exits hides a defect of the candidate, and lifecycle is a gate in most campaigns.

Fix: correct the sentence to what the raw block says, and leave the raw block as it is.

Example: `"lifecycle": "All workers and server exited zero"` beside four workers with exit code -15.

Not flagged: other jobs of the same file; a sentence about the server where only the container failed; tests that expect a failure; requirements,
limits and settings; a sentence that is negated, hedged, quoted or withdrawn, or that tells the event itself.

Strength: high in JSON and YAML, medium for sentences of a text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from rules.core.model import Bundle, Confirmed, Facts, Finding, Item, Location, Rule, Severity, Snapshot, Tree
from rules.reading.campaigns import bundles_of_conversation, bundles_of_issue, named_bundles
from rules.reading.clean_ends import CONTRADICTED, MENTIONS, CleanEnd, Subject, admits, clean_ends
from rules.reading.conversation import bodies, claim_root
from rules.reading.documents import Node, Path, document, places, pointer
from rules.reading.end_keys import WHOLE
from rules.reading.job_ids import job_ids, job_ids_at
from rules.reading.keys import family, words
from rules.reading.layout import documents_in_scope
from rules.reading.lifecycle import Observation, lifecycle_of
from rules.reading.outline import Column, Shape, keys_of
from rules.reading.prefilter import mentions
from rules.reading.receipts import Names, arm_of_text
from rules.reading.runs import Run, place_of, record_files, runs, runs_of, spoken_of
from rules.reading.statements import Statement, statements, string_statements, text_statements

SHOWN = 12
LONG = 300
"""A sentence of more characters may tell of several runs."""
MOST, NEAR = 500, 20_000
"""Strings of one document, or sentences of one text, that are held against records, and observations that each is held against, at most."""
LEAD = 3
"""Sentences before a claim, on its line, that may name its run."""
LONGEST = 8000
"""Characters of a string that is read for claims at most."""
_NO_CLAIM = family(
    "expected expect expects requirement requirements required require requires gate gates rule rules criteria criterion policy plan planned next test tests negative quote quoted quotes question "
    "prompt template example target targets command cmd script acceptance must description title name id instruction instructions definition schema setting settings config configuration env "
    "环境 要求 规则 计划 门槛 期望 示例"
)
_PLAIN_KEYS = family("status state outcome result summary note verdict how quality 状态 结果")
_FLAG = re.compile(r"(?:clean|gracef|orderly|exited_?zero|exit_?zero|no_?forced|unforced|all_?zero|正常退出|干净)", re.IGNORECASE)
_HINT = re.compile(
    r"clean|grace|normal|orderl|regular|exit|return|rc|code|status|signal|kill|forc|left|behind|orphan|zombie|stray|process|pid|linger|remain|leak|hung|surviv|oom|crash|time|退出|返回|干净|正常|信号|残留|遗留|强|进程",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Held:
    """One claim held against its record: everything it can be held against, and what contradicts it."""

    claim: CleanEnd
    compared: tuple[Observation, ...]
    against: tuple[Observation, ...]


# ---------------------------------------------------------------- strings of a record


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in record_files(bundle):
        doc = document(snapshot, path)
        if doc and doc.readable and mentions(doc.text, *MENTIONS):
            yield from _of_record(snapshot, path)
    aside = {path for part in ("plan", "patch", "validator") for path in bundle.part(part)}
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")) and path not in aside:
            yield from _of_text(snapshot, statements(snapshot, path), [(bundle, snapshot.head)])


def _of_record(snapshot: Snapshot, path: str) -> Iterator[Item]:
    told = lifecycle_of(snapshot, path)
    if not told:
        return
    held = places(snapshot, path)
    inside: dict[Path, list[Observation]] = defaultdict(list)
    for one in told:
        for depth in range(len(one.place)):
            inside[one.place[:depth]].append(one)
    made = ((node, claims) for node in held.pick(_claiming) if (claims := _claims(node)))
    for node, claims in islice(made, MOST):
        found = [one for claim, subject in claims for one in _against_nearest(node, held.top, claim, subject, inside)]
        if any(one.against for one in found):
            yield _record_finding(snapshot, path, node, found)
        elif found:
            yield Confirmed("record", found[0].claim.text[:80], Location(path, pointer=node.pointer), _place(path, found[0].compared[0]))


def _claiming(column: Column) -> list[int]:
    """The rows of a column that hold a string or a flag which may claim a clean end."""
    if not column.shape or _claims_nothing(column.shape):
        return []
    flag = bool in column.types and column.shape[-1] is not None and _FLAG.search(column.shape[-1]) is not None
    hits = (
        {value for value in column.values if type(value) is str and len(value) > 2 and _HINT.search(value[:LONGEST])}
        if str in column.types
        else set()
    )
    return (
        [row for row, value in enumerate(column.values) if (value is True and flag) or (type(value) is str and value in hits)] if flag or hits else []
    )


@lru_cache(maxsize=8192)
def _claims_nothing(shape: Shape) -> bool:
    return any(set(words(part)) & _NO_CLAIM for part in keys_of(shape))


def _claims(node: Node) -> list[tuple[CleanEnd, Subject | None]]:
    """The claims that a string, or a flag such as `clean_shutdown: true`, makes, one for each subject."""
    said = _sentence(node)
    if said is None:
        return []
    return [(claim, subject) for claim in clean_ends(string_statements(said)) for subject in (claim.subjects or (None,))]


def _sentence(node: Node) -> str | None:
    """The string; a short one with its key (`teardown: clean`); a flag that is true as its key."""
    if not node.path:
        return None
    key = str(node.path[-1])
    if node.value is True:
        return " ".join(words(key)) if _FLAG.search(key) else None
    if not isinstance(node.value, str) or not len(node.value) > 2 or not _HINT.search(node.value[:LONGEST]):
        return None
    if not re.search(r"[\s\u3400-\u9fff]", node.value.strip()):
        if not isinstance(node.path[-1], str):
            return None
        above = str(node.path[-2]) if len(node.path) > 1 and set(words(key)) <= _PLAIN_KEYS else ""
        return f"{' '.join(words(above) or words(key))} {node.value}" if re.fullmatch(r"[A-Za-z]{2,12}", node.value) else None
    return node.value[:LONGEST]


def _against_nearest(
    node: Node, top: object, claim: CleanEnd, subject: Subject | None, inside: Mapping[Path, Sequence[Observation]]
) -> Iterator[_Held]:
    """The claim against the smallest object around its string that holds an exit record of the same subject."""
    for depth in range(len(node.path) - 1, -1, -1):
        near = inside.get(node.path[:depth], ())[:NEAR]
        own = [one for one in near if one.place != node.path and not _parallel(top, node.path, one.place)]
        own = _of_job(claim, own, own, top)
        compared = _comparable(claim, subject, own)
        if compared:
            yield _Held(claim, compared, _contradicting(claim, compared, admits([claim.statement])))
            return


def _of_job(claim: CleanEnd, own: Sequence[Observation], told: Sequence[Observation], document: Any) -> list[Observation]:
    """Where the claim names a job's number, and a record (all it told) has numbers of jobs, only what is that job's."""
    wanted = job_ids(claim.statement.text)
    if not wanted or not any(job_ids_at(document, one.place) for one in told):
        return list(own)
    return [one for one in own if job_ids_at(document, one.place) & wanted]


def _parallel(top: object, mine: Path, other: Path) -> bool:
    """Whether `other` lies in a job of its own beside the one that holds the string: another element of a list, another arm, an object of the same form."""
    parting = next((depth for depth, (left, right) in enumerate(zip(mine, other, strict=False)) if left != right), None)
    if parting is None or len(mine) <= parting + 1:
        return False
    left, right = mine[parting], other[parting]
    if isinstance(left, int):
        return True
    above = _at(top, mine[:parting])
    return isinstance(above, dict) and _alike(str(left), above.get(str(left)), mine[parting + 1 :], str(right), above.get(str(right)))


def _at(top: Any, place: Path) -> object:
    for part in place:
        top = top[part]
    return top


def _alike(left: str, mine: object, rest: Path, right: str, other: object) -> bool:
    if not isinstance(mine, dict) or not isinstance(other, dict):
        return False
    arms = [arm_of_text(name, Names(), value=False) for name in (left, right)]
    if re.sub(r"\d+", "#", left) == re.sub(r"\d+", "#", right) or (all(arms) and arms[0] != arms[1]):
        return True
    return isinstance(other.get(str(rest[0])), type(mine.get(str(rest[0])))) and str(rest[0]) in other


# ---------------------------------------------------------------- holding a claim against observations


def _comparable(claim: CleanEnd, subject: Subject | None, told: Sequence[Observation]) -> tuple[Observation, ...]:
    """What a claim about `subject` can be held against: the observations of that subject; unlabelled ones where there are none."""
    kinds = CONTRADICTED[claim.claimed]
    relevant = [one for one in told if one.kind in kinds]
    if claim.claimed not in ("zero", "clean"):
        return tuple(relevant or (_implied(told) if claim.claimed == "unforced" else ()))
    if subject is None or subject.family in WHOLE:
        return tuple(_of_whole(claim, relevant))
    mine = [one for one in relevant if _is_of(subject, one)]
    others = any(one.subject for one in relevant if one.kind == "exit")
    run_level = [one for one in relevant if one.subject in (None, "process", "job") and not mine and not others]
    if claim.claimed == "clean" and subject.family == "worker":
        run_level = [one for one in relevant if one.subject is None and one.kind != "exit"] or run_level
    known = subject.family is not None or mine
    return tuple(mine + [one for one in run_level if one not in mine]) if known or not others else ()


def _implied(told: Sequence[Observation]) -> list[Observation]:
    """Where a record counts no forced signals, the exits and signals that only a kill leaves."""
    return [
        one for one in told if (one.kind == "signal" and one.bad) or (one.kind == "exit" and one.code in ("-9", "137", "-15", "143", "0:9", "0:15"))
    ]


def _of_whole(claim: CleanEnd, relevant: Sequence[Observation]) -> Sequence[Observation]:
    """For "exit code 0" without a subject the run's own exit, where the record has one; for a clean end everything."""
    if claim.subjects and all(subject.noun == "build" for subject in claim.subjects):
        relevant = [one for one in relevant if "build" in one.nouns or not set(one.nouns) & _OTHER_JOBS]
    own = [one for one in relevant if one.subject in (None, "job", "process")]
    return own if claim.claimed == "zero" and not claim.subjects and any(one.kind == "exit" for one in own) else relevant


_OTHER_JOBS = family("run test trial benchmark job campaign soak session")
"""What is run once it has been built: its end says nothing of the build's."""


def _is_of(subject: Subject, one: Observation) -> bool:
    if subject.index is not None and one.index is not None and subject.index != one.index:
        return False
    return one.subject == subject.family if subject.family else subject.noun in one.nouns


def _contradicting(claim: CleanEnd, compared: Sequence[Observation], admitted: frozenset[str]) -> tuple[Observation, ...]:
    bad = [
        one
        for one in compared
        if one.bad and one.kind not in admitted and one.code not in admitted and not (one.kind == "exit" and "signal" in admitted and _by_signal(one))
    ]
    good = sum(not one.bad for one in compared if one.kind == "exit")
    if claim.count is not None and good >= claim.count and all(one.kind in ("exit", "signal") for one in bad):
        return ()
    return () if claim.count is not None and _whole_runs(compared) >= claim.count else tuple(bad)


def _whole_runs(compared: Sequence[Observation]) -> int:
    """How many elements of lists hold nothing bad: "two runs exit 0" is not said of the others."""
    ended: dict[Path, bool] = {}
    for one in compared:
        last = max((depth for depth, part in enumerate(one.place) if isinstance(part, int)), default=None)
        if last is not None:
            run = one.place[: last + 1]
            ended[run] = ended.get(run, True) and not one.bad
    return sum(ended.values())


def _by_signal(one: Observation) -> bool:
    return one.code.startswith("-") or ":" in one.code or one.code in ("137", "143", "139", "134")


# ---------------------------------------------------------------- sentences of a text


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for text in bodies(snapshot):
        if mentions(text.text, *MENTIONS):
            held: list[tuple[Bundle, Tree]] = [(bundle, snapshot.head) for bundle in bundles_of_conversation(snapshot)]
            if text.path.startswith("issue") and snapshot.issue:
                held = list(bundles_of_issue(snapshot, snapshot.issue)) or held
            yield from _of_text(snapshot, text_statements(snapshot, text), held)
    for path in documents_in_scope(snapshot):
        found = list(statements(snapshot, path)) if not _in_bundle(snapshot, path) else []
        named = named_bundles(snapshot, " ".join(one.text for one in found)) if found else ()
        if len(named) == 1:
            yield from _of_text(snapshot, found, [(named[0], snapshot.head)])


def _in_bundle(snapshot: Snapshot, path: str) -> bool:
    return any(path.startswith(root.bundles.partition("*")[0]) and path.count("/") > root.bundles.count("/") for root in snapshot.config.roots)


def _of_text(snapshot: Snapshot, made: Sequence[Statement], held: Sequence[tuple[Bundle, Tree]]) -> Iterator[Item]:
    claims = list(islice(clean_ends(one for one in made if one.kind != "heading" and _HINT.search(one.text)), MOST))
    if not claims:
        return
    known = [(run, tree) for bundle, tree in held for run in runs(snapshot, bundle, tree)]
    trees = {id(run): tree for run, tree in known}
    texts = {run.path: found.text for run, tree in known if (found := document(snapshot, run.path, tree))}
    for statement in dict.fromkeys(claim.statement for claim in claims):
        mine = [claim for claim in claims if claim.statement is statement]
        about = [run for run in spoken_of(_told(made, mine), [run for run, _ in known], texts) if run.observations]
        pairs = [(run, one) for run in about for claim in mine for one in _against_run(snapshot, claim, run, trees[id(run)], made, statement)]
        if any(one.against for _, one in pairs):
            yield _text_finding(snapshot, statement, [(run, one) for run, one in pairs if one.against], trees)
        elif pairs:
            run, one = pairs[0]
            yield Confirmed("record", one.claim.text[:80], statement.location(), place_of(run, one.compared[0]))


def _against_run(snapshot: Snapshot, claim: CleanEnd, run: Run, tree: Tree, made: Sequence[Statement], statement: Statement) -> Iterator[_Held]:
    admitted = admits([statement, *_same_paragraph(made, statement)])
    doc = document(snapshot, run.path, tree)
    own = _of_job(claim, run.observations, lifecycle_of(snapshot, run.path, tree), doc.value if doc else None)
    for subject in claim.subjects or (None,):
        compared = _comparable(claim, subject, own)
        if compared:
            yield _Held(claim, compared, _contradicting(claim, compared, admitted))


def _same_paragraph(made: Sequence[Statement], statement: Statement) -> list[Statement]:
    """The sentences before and after, on the same or the adjoining line of one block."""
    at = next(i for i, one in enumerate(made) if one is statement)
    near = [*made[max(0, at - 2) : at], *made[at + 1 : at + 3]]
    return [one for one in near if one.kind == statement.kind and (one.end_line == statement.line or one.line == statement.end_line)]


def _told(made: Sequence[Statement], claims: Sequence[CleanEnd]) -> list[str]:
    """What tells which run the claims of one sentence are about, nearest first: of a long sentence the stretch between semicolons that claims, the
    sentence, what stands before it on its line (`TP2/SP2: …`), the nearest heading below the title."""
    statement = claims[0].statement
    stretches = [part for part in re.split(r"[;；]", statement.text) if any(claim.text[:30] in part for claim in claims)]
    at = next(i for i, one in enumerate(made) if one is statement)
    lead: list[Statement] = []
    for one in reversed(made[max(0, at - LEAD) : at]):
        if one.end_line != (lead[-1].line if lead else statement.line) or one.kind != statement.kind:
            break
        lead.append(one)
    return [*([" ".join(stretches)] if len(statement.text) > LONG else []), statement.text, *(one.text for one in lead), *statement.section[:0:-1]]


# ---------------------------------------------------------------- findings


def _events(held: Iterable[Observation]) -> str:
    shown = list(dict.fromkeys(held))
    counted: dict[str, int] = {}
    for one in shown:
        label = f"{one.subject + ' ' if one.subject and one.subject not in one.shown.lower() else ''}`{one.shown}`"
        counted[label] = counted.get(label, 0) + 1
    texts = [label + (f" ({number} times)" if number > 1 else "") for label, number in counted.items()]
    return ", ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def _place(path: str, one: Observation) -> Location:
    return Location(path, pointer=pointer(one.place), role="record")


def _record_finding(snapshot: Snapshot, path: str, node: Node, held: Sequence[_Held]) -> Finding:
    against = list(dict.fromkeys(event for one in held for event in one.against))
    run = next((run for run in sorted(runs_of(snapshot, path), key=lambda r: -len(r.place)) if against[0].place[: len(run.place)] == run.place), None)
    said = node.value if isinstance(node.value, str) else f"{node.path[-1]}: true"
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{path.rpartition('/')[2]} claims a clean end that its raw record contradicts",
        problem=f"`{node.pointer}` says “{said[:300]}”; the record in the same object holds {_events(against)}.",
        impact="Whoever reads the summary and not the raw block takes a failed or forced end for a clean one.",
        next="Correct the sentence to what the raw block says, and keep the raw block unchanged (edit text).",
        locations=(Location(path, pointer=node.pointer, role="claim"), *(_place(path, event) for event in against[:SHOWN])),
        evidence=tuple((pointer(event.place), event.code) for event in against[:SHOWN]),
        roots=(run.root if run else f"record:{path}#/lifecycle",),
    )


def _text_finding(snapshot: Snapshot, statement: Statement, pairs: Sequence[tuple[Run, _Held]], trees: dict[int, Tree]) -> Finding:
    events = list(dict.fromkeys((run, event) for run, one in pairs for event in one.against))
    files = list(dict.fromkeys(run.path for run, _ in events))
    where = {run: None if trees[id(run)] is snapshot.head else trees[id(run)].commit for run, _ in events}
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title="A sentence claims a clean end that the bundle's record contradicts",
        problem=f"“{statement.text[:300]}”; {', '.join(f'`{file}`' for file in files[:4])} {'holds' if len(files) == 1 else 'hold'} {_events(e for _, e in events)}.",
        impact="A reader of the text takes a failed or forced end for a clean one.",
        next="Change the sentence to the exit codes and signals that the record holds (edit text); leave the record as it is.",
        locations=(statement.location(), *(place_of(run, event, where[run]) for run, event in events[:SHOWN])),
        evidence=tuple((f"{run.path}#{pointer(event.place)}", event.code) for run, event in events[:SHOWN]),
        roots=(*dict.fromkeys(run.root for run, _ in events), claim_root(statement.path, statement.text)),
    )


RULE = Rule(
    "lifecycle-contradiction", "consistency", Severity.HIGH, check=check, each=each,
    norms=(("worker", "exit"), ("lifecycle",), ("exit code",), ("forced", "signal"), ("clean", "shutdown")),
)  # fmt: skip
