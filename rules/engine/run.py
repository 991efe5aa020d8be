"""Discover the rules, ask, run them one by one, contain what crashes, and put the report together."""

from __future__ import annotations

import gc
import hashlib
import importlib
import inspect
import pkgutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from rules.core.model import Bundle, Facts, Finding, Item, Outcome, Question, Report, Rule, Severity, Snapshot, Unchecked
from rules.engine import assemble
from rules.engine.survey import recorded
from rules.reading.inventory import inventories
from rules.reading.layout import bundles

FAMILIES = ("integrity", "freeze", "status", "revisions", "consistency", "governance", "privacy")
ENTRY_POINTS = "assay.rules"
NEEDS = {
    "base": "there is no base to compare with",
    "history": "the history is not available (plain folder, or shallow clone)",
    "pull": "no pull was given",
    "issue": "no issue was given",
}


class UnusableRules(Exception):
    """The rules that an operator plugged in cannot be used; one sentence that names the entry point."""


@lru_cache(maxsize=1)
def discover() -> tuple[Rule, ...]:
    """Every rule of the package and of the entry-point group `assay.rules`, in order of id. Raises `UnusableRules`."""
    found: dict[str, Rule] = {}
    for rule in (*own(), *_plugged()):
        if rule.id in found:
            raise UnusableRules(f"two rules are called {rule.id}: rename the one of the entry-point group {ENTRY_POINTS}.")
        found[rule.id] = rule
    return tuple(found[id] for id in sorted(found))


def own() -> Iterator[Rule]:
    """The rules of the package, each with its module's docstring."""
    for family in FAMILIES:
        package = importlib.import_module(f"rules.{family}")
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"rules.{family}.{info.name}")
            rule = getattr(module, "RULE", None)
            if isinstance(rule, Rule):
                yield replace(rule, doc=inspect.cleandoc(module.__doc__ or ""))


def _plugged() -> Iterator[Rule]:
    for point in entry_points(group=ENTRY_POINTS):
        rule = _loaded(point)
        yield replace(rule, doc=rule.doc or inspect.cleandoc(getattr(inspect.getmodule(rule.check or rule.each), "__doc__", None) or ""))


def _loaded(point: EntryPoint) -> Rule:
    try:
        rule = point.load()
    except Exception as error:  # an operator's module may fail in any way while it is imported
        raise UnusableRules(f"the entry point {point.name} = {point.value} cannot be imported ({type(error).__name__}).") from error
    if not isinstance(rule, Rule) or not (rule.check or rule.each):
        raise UnusableRules(f"the entry point {point.name} = {point.value} gives no rule with a check.")
    return rule


def chosen(rules: Sequence[Rule], snapshot: Snapshot, only: Iterable[str] = (), preview: bool = False) -> tuple[Rule, ...]:
    """The rules that run: not switched off by the config, not in preview unless asked for; `only` names some."""
    wanted = frozenset(only)
    return tuple(
        rule for rule in rules if (rule.id in wanted if wanted else snapshot.config.rules.get(rule.id) != "off" and (preview or not rule.preview))
    )


def questions(snapshot: Snapshot, rules: Sequence[Rule], progress: Callable[[str], None] = lambda _: None) -> tuple[Question, ...]:
    """First pass: what the outside must answer. A rule that crashes here asks nothing; it will crash, and be named, in the second pass."""
    asked: dict[Question, None] = {}
    _read(snapshot, rules, progress)
    for rule in rules:
        if rule.asks and not _lacks(rule, snapshot):
            try:
                asked.update(dict.fromkeys(Question(q.repository.lower(), q.sha.lower()) for q in rule.asks(snapshot)))
            except Exception:  # noqa: BLE001, S112 - contained: the second pass reports it
                continue
    return tuple(asked)


def review(snapshot: Snapshot, facts: Facts, rules: Sequence[Rule], progress: Callable[[str], None] = lambda _: None) -> Report:
    """Second pass: run `rules` over `snapshot` and put the report together. Never raises for what the repository holds."""
    runs = [replace(run, items=list(run.items)) for run in _read(snapshot, rules, progress)]
    for run in runs:
        progress(run.rule.id)
        run.check(facts)
    items = [item for run in runs for item in run.items]
    return assemble.report(snapshot, {rule.id: rule for rule in rules}, items, [run.outcome() for run in runs])


def _read(snapshot: Snapshot, rules: Sequence[Rule], progress: Callable[[str], None]) -> list[_Run]:
    """Every rule over every bundle by itself, bundle by bundle, so that a bundle's documents are parsed once for all rules and both passes."""

    def make() -> list[_Run]:
        runs = [_Run(rule, snapshot, _lacks(rule, snapshot)) for rule in rules]
        for bundle in bundles(snapshot):
            progress(bundle.id)
            key = _bundle_key(snapshot, bundle)
            for run in runs:
                run.each(bundle, key)
            recorded(snapshot, bundle)
        return runs

    with _no_cycles():
        return snapshot.memo(("read", tuple(rule.id for rule in rules)), make)


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Documents hold no cycles; looking for some among their millions of values costs a quarter of a review."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _bundle_key(snapshot: Snapshot, bundle: Bundle) -> str:
    """A name for all that `Rule.each` may depend on."""
    held = hashlib.sha256(repr(snapshot.config).encode())
    files = snapshot.head.files
    for path in (*(i.path for i in inventories(snapshot)), *bundle.files):
        held.update(f"\0{path}\0{files[path].oid}\0{files[path].mode}".encode("utf-8", "surrogateescape"))
    return held.hexdigest()


ITEM_BYTES = 2048
"""What one kept item weighs in the cache."""


@dataclass
class _Run:
    """One rule over one snapshot: what it yielded so far, how long it took, and whether it crashed."""

    rule: Rule
    snapshot: Snapshot
    lacking: str | None
    items: list[Item] = field(default_factory=list)
    seconds: float = 0.0
    crash: str | None = None

    def each(self, bundle: Bundle, key: str) -> None:
        each, reads = self.rule.each, self.rule.reads
        if each is not None:
            kept = self.snapshot.cache.by_blob
            self._timed(lambda: kept(f"items:{self.rule.id}", key, ITEM_BYTES, lambda: tuple(each(self.snapshot, bundle))))
        if reads is not None:
            self._timed(lambda: reads(self.snapshot, bundle) or ())

    def check(self, facts: Facts) -> None:
        check = self.rule.check
        if check is not None:
            self._timed(lambda: check(self.snapshot, facts))

    def _timed(self, work: Callable[[], Iterable[Item]]) -> None:
        if self.lacking or self.crash:
            return
        start = time.perf_counter()
        try:
            self.items.extend(_leveled(item, self.rule, self.snapshot) for item in work())
        except Exception as error:  # noqa: BLE001 - one crashing rule must not take the review with it
            self.crash = f"{type(error).__name__} at {place(error)}"
        self.seconds += time.perf_counter() - start

    def outcome(self) -> Outcome:
        state: Literal["ran", "skipped", "crashed"] = "skipped" if self.lacking else "crashed" if self.crash else "ran"
        return Outcome(self.rule.id, state, self.lacking or self.crash or _reason(self.items), round(self.seconds * 1000, 3))


def _lacks(rule: Rule, snapshot: Snapshot) -> str | None:
    present = {
        "base": snapshot.base is not None,
        "history": snapshot.history is not None,
        "pull": snapshot.pull is not None,
        "issue": snapshot.issue is not None,
    }
    return next((NEEDS[need] for need in sorted(rule.needs) if not present[need]), None)


def _reason(items: list[Item]) -> str | None:
    unchecked = sum(isinstance(item, Unchecked) for item in items)
    return f"{unchecked} not checked" if unchecked else None


def place(error: BaseException) -> str:
    """The innermost line of our own code. An exception's message may hold the repository's text, so it is not shown."""
    frame = error.__traceback__
    place = "?"
    while frame is not None:
        code = frame.tb_frame.f_code
        place = f"{code.co_qualname}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place


def _leveled(item: Item, rule: Rule, snapshot: Snapshot) -> Item:
    """A finding at the severity that the repository's config gives its rule, if any. A config can lower or raise, never silence a crash."""
    level = snapshot.config.rules.get(rule.id)
    if isinstance(item, Finding) and level and level != "off":
        return replace(item, severity=Severity(level))
    return item


__all__ = ["UnusableRules", "chosen", "discover", "place", "questions", "review"]
