"""A tail percentile is stated from fewer observations than it needs

What it checks: p90 and higher, wherever the number of observations stands with it: the length of the listed samples, a count in the same object
or one level up, runs × requests, a table's column, or the sentence that gives both. A percentile p needs n ≥ 1 / (1 − p): ten for p90, twenty for p95, a hundred for p99.

Why: with fewer observations the figure is the largest value under another name, and says nothing about the tail.

Fix: call it what it is, the maximum of n (edit text), or measure more (new run).

Example: `{"n": 12, "p95_ms": 48.2}`, or "Over 60 requests the p99 was 48.2 ms".

Not flagged: exactly enough observations; a figure that is stated as a maximum or as descriptive; targets and gates; medians.

Strength: medium.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from rules.core.model import Bundle, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import words
from rules.reading.conversation import texts
from rules.reading.documents import Document, Path, resolve
from rules.reading.few import few
from rules.reading.layout import bundle_at, documents_in_scope
from rules.reading.markdown import markdown
from rules.reading.owners import owner
from rules.reading.prefilter import mentions
from rules.reading.quantities import quantities
from rules.reading.records import of_tables, place, source
from rules.reading.recount import label
from rules.reading.samples import Sampled, Stated, read_samples, sampled, whole_number
from rules.reading.statements import Statement, statements, text_statements
from rules.reading.statistic_keys import LIMIT_WORDS, Statistic, counts, read_key
from rules.reading.tallies import Tally, tallies
from rules.reading.units import COUNTS
from rules.reading.units import words as word_set

TAIL = Fraction(9, 10)
_FAMILIES = frozenset(["n", "sample", "run", "request", "prompt", "episode", "clip", "session", "image", "frame", "message", "file"])
# Things that are timed one by one where an object names their number beside a percentile.
_EVENTS = word_set(
    "page tile scene transaction payment tick packet probe ping lookup read write transfer upload download document utterance sentence cycle pass match poll fetch event "
    "print scan order trade exposure shot sector"
)
_EVENT_QUALIFIERS = word_set("count n number total measured timed recorded of the")
_LOAD = word_set("duration concurrency rate rps qps client user thread connection")
_SETUP = ("config", "workload", "setup", "parameters", "params", "load", "settings", "protocol", "run", "meta")
_DESCRIPTIVE = re.compile(
    r"descriptive|not an? (?:\w{2,20} )?(?:estimate|inference|percentile)|no estimate|largest (?:of|observ|value|sample)|the maximum|as (?:the |a )?max|(?:is|equals?|means?|i\.e\.|same as) (?:the |a )?max"
    r"|indicative|illustrati|informational|for orientation|too few|under-?sampled|small sample|not enough (?:samples|observations|requests)|not meaningful"
    r"|描述性|仅供参考|仅作|最大值|不作估计|不是估计|样本不足|样本(?:数|量)?(?:过|太)少|不具代表",
    re.IGNORECASE,
)
_PERCENTILE = re.compile(
    r"(?<![A-Za-z0-9_])(?:T?P|p|tp)[- ]?(?P<a>9\d(?:\.\d{1,3})?|999)(?![A-Za-z0-9_%])|(?<![\d.])(?P<b>9\d(?:\.\d{1,3})?)(?:th|st|nd|rd)?[- %]{0,2}(?:percentile|百?分位)"
    r"|第\s?(?P<c>9\d(?:\.\d{1,3})?)\s?百?分位"
)
_TARGET = re.compile(
    r"\b(?:target|gate|limit|threshold|slo|sla|budget|must|require[sd]?|goal|would need|needs?)\b|目标|门限|阈值|上限|要求|需要", re.IGNORECASE
)
_BEFORE_COUNT = re.compile(
    r"(?:\b(?:over|of|from|across|in|for|on|after|among|with|by|only|just|all|these|those|the)|\(|,|、|，|（)\s{0,2}\Z", re.IGNORECASE
)
_NO_OBSERVATIONS = word_set(
    "worker rank process node device arm seed receipt rater shard container pod host thread user client token time percent point step layer"
)


@dataclass(frozen=True, slots=True)
class Thin:
    """One percentile that n observations do not carry."""

    p: Fraction
    value: str
    n: int
    counted: str
    where: Location
    count: Location | None
    group: object


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    plan = frozenset(bundle.part("plan"))
    found = [thin for path in bundle.files if path not in plan for thin in _in_file(snapshot, path)]
    documents = [path for path in bundle.files if path.lower().endswith((".md", ".markdown")) and path not in plan]
    said = [thin for path in documents for thin in (*_in_tables(snapshot, path), *_in_text(statements(snapshot, path)))]
    yield from few(_findings([*found, *said]), "percentiles")


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """The conversation, and changed documents outside of bundles."""
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None:
            yield from _findings([*_in_tables(snapshot, path), *_in_text(statements(snapshot, path))])
    for text in texts(snapshot):
        yield from _findings(list(_in_text(text_statements(snapshot, text))))


# ---------------------------------------------------------------- documents and tables


def _in_file(snapshot: Snapshot, path: str) -> Iterator[Thin]:
    doc = source(snapshot, path)
    if doc is not None and mentions(doc.text, "p9", "q9", "percentile", "quantile", "分位", "9th"):
        yield from _in_document(doc, sampled(snapshot, path))


def _in_tables(snapshot: Snapshot, path: str) -> Iterator[Thin]:
    for table in of_tables(markdown(snapshot, path)):
        yield from _in_document(table, read_samples(table.outline))


def _in_document(doc: Document, held: Sampled) -> Iterator[Thin]:
    declared: dict[Path, list[tuple[str, int]]] = defaultdict(list)
    for one in held.declared:
        declared[one.path[:-1]].append((str(one.path[-1]), one.value))
    for stated in held.stated:
        p = _tail(stated.statistic)
        if p is None or _is_target(stated.path) or _is_described(doc, stated.path):
            continue
        counted = _observations(doc, held, stated, declared)
        if counted is not None and counted[0] < 1 / (1 - p):
            n, name, at = counted
            yield Thin(p, stated.text, n, name, place(doc, stated.path), place(doc, at, "record"), (doc.path, at, n))


def _tail(statistic: Statistic) -> Fraction | None:
    return statistic.p if statistic.kind == "percentile" and statistic.p is not None and statistic.p >= TAIL else None


def _is_target(path: Path) -> bool:
    return any(not LIMIT_WORDS.isdisjoint(words(part)) for part in path if isinstance(part, str))


def _is_described(doc: Document, path: Path) -> bool:
    """True when the object, or one around it, calls the figure descriptive or a maximum."""
    for up in range(1, min(3, len(path)) + 1):
        holder = resolve(doc.value, path[:-up])
        for key, value in holder.items() if isinstance(holder, dict) and len(holder) <= 200 else ():
            if isinstance(value, str) and len(value) < 2000 and _DESCRIPTIVE.search(value):
                return True
            if _DESCRIPTIVE.search(key) and value is not False:
                return True
    return False


def _observations(doc: Document, held: Sampled, stated: Stated, declared: dict[Path, list[tuple[str, int]]]) -> tuple[int, str, Path] | None:
    """(how many, what is counted, where): as many as the document allows to read."""
    series = owner(held, stated)
    listed = (series.filled, "listed samples", series.path) if series is not None else None
    counted = _declared(doc, stated.path, declared)
    if listed and counted:
        return max(listed, counted, key=lambda one: one[0])
    return listed or counted


def _declared(doc: Document, path: Path, declared: dict[Path, list[tuple[str, int]]]) -> tuple[int, str, Path] | None:
    """The counts of the object and of the one around it: a number of observations, times the runs."""
    around = [base for base in (path[:-1], _around(path[:-1])) if base is not None]
    wider = _around(around[-1]) if len(around) == 2 else None
    if wider is not None and not any(_counts_observations(key) for base in around for key, _ in declared.get(base, ())[:100]):
        around.append(wider)
    bases = [*around, *((*base, key) for base in around for key in _SETUP)]
    found = [(key, value, base) for base in bases for key, value in (*declared.get(base, ())[:100], *_events(doc, base)) if _counts_observations(key)]
    direct = [one for one in found if _family(one[0]) != "run"]
    runs = [one for one in found if _family(one[0]) == "run"]
    if direct:
        key, value, base = max(direct, key=lambda one: one[1])
        many = max((one[1] for one in runs), default=1)
        return max(value, value * many), f"`{key}`" + (f" × `{runs[0][0]}`" if many > 1 else ""), (*base, key)
    if runs and not _has_load(doc, around):
        key, value, base = max(runs, key=lambda one: one[1])
        return value, f"`{key}`", (*base, key)
    return None


def _events(doc: Document, base: Path) -> Iterator[tuple[str, int]]:
    """The numbers of events that an object names."""
    try:
        holder = resolve(doc.value, base)
    except (KeyError, IndexError, TypeError):
        return
    for key, value in holder.items() if isinstance(holder, dict) and len(holder) <= 200 else ():
        n = whole_number(value) if _event(key) else None
        if n:
            yield key, n


def _around(base: Path) -> Path | None:
    """The next object outwards."""
    if not base:
        return None
    up = base[:-1]
    while up and isinstance(up[-1], int):
        up = up[:-2]
    return up[:-1] if isinstance(base[-1], int) and up == base[:-1] else up


def _counts_observations(key: str) -> bool:
    found = counts(key)
    return (found is not None and found.family in _FAMILIES) or _event(key) is not None


def _event(key: str) -> str | None:
    """The event that a key counts: `pages`, `n_transactions`."""
    held = [word for word in words(key) if word not in _EVENT_QUALIFIERS]
    plural = key.lower().rstrip("_count").endswith("s") or "count" in words(key) or key.lower().startswith(("n_", "num_"))
    return held[0] if len(held) == 1 and held[0] in _EVENTS and plural else None


def _family(key: str) -> str:
    found = counts(key)
    return found.family if found else ""


def _has_load(doc: Document, bases: Iterable[Path]) -> bool:
    """True where a run is a period of load: many observations each."""
    holders = [resolve(doc.value, base) for base in bases]
    return any(
        not _LOAD.isdisjoint(words(key)) and read_key(key).statistic is None
        for held in holders
        if isinstance(held, dict) and len(held) <= 200
        for key in held
    )


# ---------------------------------------------------------------- sentences


def _in_text(made: tuple[Statement, ...]) -> Iterator[Thin]:
    for index, one in enumerate(made):
        if one.kind in ("row", "heading") or not _PERCENTILE.search(one.text[:4000]):
            continue
        if one.standing in ("quoted", "planned", "required", "withdrawn", "question"):
            continue
        following = made[index + 1].text if index + 1 < len(made) else ""
        if not _DESCRIPTIVE.search(one.text) and not (_DESCRIPTIVE.search(following) and _PERCENTILE.search(following) is None):
            yield from _in_sentence(one)


def _in_sentence(one: Statement) -> Iterator[Thin]:
    found = [match for match in _PERCENTILE.finditer(one.text[:4000]) if not _denied(one, match)]
    if not found or _TARGET.search(one.text) or not _has_value(one.text):
        return
    counted = [t for t in tallies(one.text) if _counts(one.text, t)]
    if not counted:
        return
    runs = [t.value for t in counted if t.family == "run"]
    direct = [t for t in counted if t.family != "run"]
    best = max(direct or counted, key=lambda t: t.value)
    n = best.value * (max(runs) if direct and runs else 1)
    for match in found:
        p = _printed(match)
        if n < 1 / (1 - p):
            yield Thin(p, one.text, n, f"“{one.text[best.start : best.end].strip()}”", one.location(), None, (one.path, one.text, n))


def _printed(match: re.Match[str]) -> Fraction:
    text = match["a"] or match["b"] or match["c"]
    return Fraction(999, 1000) if text == "999" else Fraction(text) / 100


def _denied(one: Statement, match: re.Match[str]) -> bool:
    return any(c.start <= match.start() < c.start + len(c.text) and c.denies(match.start() - c.start) for c in one.clauses)


def _has_value(text: str) -> bool:
    """A percentile is stated where a measured value stands in the sentence."""
    return any(q.unit is None or q.unit.family not in COUNTS for q in quantities(text) if q.unit is not None or "." in q.text)


def _counts(text: str, tally: Tally) -> bool:
    if tally.noun in _NO_OBSERVATIONS or tally.family in _NO_OBSERVATIONS:
        return False
    return tally.known or bool(_BEFORE_COUNT.search(text, max(0, tally.start - 10), tally.start))


# ---------------------------------------------------------------- findings


def _findings(found: list[Thin]) -> Iterator[Finding]:
    """One per count: all percentiles that stand on it; a sentence that repeats a record's figure belongs to the record's."""
    groups: dict[object, list[Thin]] = defaultdict(list)
    recorded: dict[tuple[Fraction, int], list[Thin]] = defaultdict(list)
    for thin in found:
        known = recorded[thin.p, thin.n]
        same = next((one.group for one in known[:50] if _repeats(thin, one)), None) if thin.count is None else None
        groups[same or thin.group].append(thin)
        if thin.count is not None:
            known.append(thin)
    for held in groups.values():
        yield _finding(held)


def _repeats(thin: Thin, one: Thin) -> bool:
    """True when the sentence holds the record's figure."""
    return re.search(rf"(?<![\d.]){re.escape(one.value)}(?![\d.]*\d)", thin.value) is not None


def _finding(held: list[Thin]) -> Finding:
    one = min(held, key=lambda thin: (-thin.p, thin.count is None))
    names = ", ".join(dict.fromkeys(label(Statistic("percentile", thin.p)) for thin in held))
    need = ceil(1 / (1 - one.p))
    figures = ", ".join(f"{label(Statistic('percentile', t.p))} = {t.value}" for t in held if t.count is not None)
    counts_at = [thin.count for thin in held if thin.count is not None]
    path, text = one.where.path, one.where.text
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"{names} is stated from {one.n} observations",
        problem=f"{figures or names} rests on n = {one.n} ({one.counted}); {label(Statistic('percentile', one.p))} needs at least {need}.",
        impact="With so few observations it is the largest value, or near it, and tells nothing about the tail.",
        next=f"Call it the maximum of {one.n} or descriptive (edit text), or measure at least {need} observations (new run).",
        locations=tuple(dict.fromkeys([thin.where for thin in held] + counts_at)),
        evidence=(("n", str(one.n)), ("needed", str(need))),
        roots=(f"record:{path}#{one.where.pointer}" if one.count is not None else f"claim:{path}#{text}",),
    )


RULE = Rule(
    "percentile-undersampled",
    "consistency",
    Severity.MEDIUM,
    check,
    each=each,
    norms=(("percentile", "sample"), ("p99", "at least"), ("p95", "at least")),
)
