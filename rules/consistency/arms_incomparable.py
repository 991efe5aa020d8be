"""A comparison between arms that are not comparable

What it checks: the settings of control and candidate, key by key, against the variable that is declared to vary; gains claimed from a paired order
(ABBA, AB/BA) that was not finished; traced, profiled or diagnostic runs used as a metric; figures of another campaign or device count used as the
denominator of a gain here.

Why: a difference between two runs says something about the declared variable only where nothing else differs.

Fix: run the missing arm or the pair again with one difference, or withdraw the gain and keep the runs as what they are.

Example: the declared variable is `prefetch_depth`, and `threads` is 16 in the control and 32 in the candidate.

Not flagged: run ids, ports, paths, times and measured outcomes; an incomplete order from which no gain is claimed; a trace kept apart as a
diagnostic; a scaling study that declares the device count as its variable.

Strength: high.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rules.core.model import Bundle, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.arms import Arm, Difference, declared, declared_in_text, differences, pairs, undeclared
from rules.reading.campaigns import bundles_of_conversation, issues_of, names
from rules.reading.conversation import bodies, claim_root
from rules.reading.documents import Node, Number, document, is_document, places, pointer
from rules.reading.gains import Gain, Order, claims_gain, gains, unfinished
from rules.reading.inventory import Registered, inventories
from rules.reading.keys import family, words
from rules.reading.operands import foreign_operand
from rules.reading.outline import Column, Outline, Shape, keys_of
from rules.reading.prefilter import mentions
from rules.reading.progress import bundle_devices, device_count, device_counts
from rules.reading.quantities import quantities
from rules.reading.receipts import Names, arm_names, arm_of_text
from rules.reading.statements import Statement, statements, text_statements
from rules.reading.traced import DIAGNOSTIC_KEYS, is_kept_apart, says_traced, traced_by

_PAIR_WORDS = (
    "control", "baseline", "candidate", "treatment", "reference", "variant", "original", "optimi", "patched", "arm", "abba", "order", "sequence", "planned", "\"a\"", "gain", "speedup", "reduction",
    "improve", "saving", "trac", "faster", "instrument", "profil", "diagnos", "对照", "基线", "候选", "顺序", "提升", "降低", "加速",
)  # fmt: skip
_DEVICES = family("devices device gpus gpu npus npu cards chips accelerators tp ranks nodes world 设备 卡数 卡")


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from _Review(snapshot, bundle).of_documents()
    aside = {path for part in ("plan", "patch", "validator") for path in bundle.part(part)}
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")) and path not in aside:
            yield from _Review(snapshot, bundle).of_text(statements(snapshot, path), ())


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    found = bundles_of_conversation(snapshot)
    own = tuple(str(one.number) for one in (snapshot.issue, snapshot.pull) if one)
    for text in bodies(snapshot) if len(found) == 1 else ():
        yield from _Review(snapshot, found[0]).of_text(text_statements(snapshot, text), own)


@dataclass(frozen=True)
class _Review:
    """One bundle under this rule."""

    snapshot: Snapshot
    bundle: Bundle

    # ------------------------------------------------------------ documents

    def of_documents(self) -> Iterator[Finding]:
        told = False
        for path in self._documents():
            found = list(self._of_document(path))
            told = told or bool(found)
            yield from found
        if not told:
            yield from self._of_two_files()

    def _documents(self) -> list[str]:
        def make() -> list[str]:
            aside = {path for part in ("patch", "validator") for path in self.bundle.part(part)}
            read = [(path, document(self.snapshot, path)) for path in self.bundle.files if is_document(path) and path not in aside]
            return [path for path, doc in read if doc and doc.readable and mentions(doc.text, *_PAIR_WORDS)]

        return self.snapshot.memo(("compared documents", self.bundle.path), make)

    def _of_document(self, path: str) -> Iterator[Finding]:
        held = places(self.snapshot, path)
        in_plan = path in self.bundle.part("plan")
        claimed = [] if in_plan else [gain for gain in gains(held) if not is_kept_apart(held.top, gain.node)]
        variables = [name for _, name in declared(held)] or self._planned_variables()
        for control, candidate in pairs(path, held, arm_names(self.snapshot, self.bundle) if variables else Names()):
            yield from self._of_pair(control, candidate, variables, claimed)
        if claimed:
            yield from self._of_order(path, held, claimed)
            yield from self._of_elsewhere(path, held, claimed, variables)
            yield from self._of_traced_source(path, held, claimed)
        yield from _traced_metric(path, held)

    def _of_pair(self, control: Arm, candidate: Arm, variables: Sequence[str], claimed: Sequence[Gain]) -> Iterator[Finding]:
        found = differences(control, candidate, variables)
        wrong = undeclared(found, variables) if variables else tuple(one for one in found if claimed and _is_device_count(one))
        if wrong:
            yield _setting_finding(control, candidate, wrong, variables)
        traced = [arm for arm in (control, candidate) if traced_by(arm.value) is not None]
        if traced and claimed:
            yield _traced_finding(control.path, traced, claimed[0])

    def _planned_variables(self) -> list[str]:
        """What the plan declares to vary: in its documents, else in its text."""

        def make() -> list[str]:
            made = [name for path in self.bundle.part("plan") if is_document(path) for _, name in declared(places(self.snapshot, path))]
            texts = [path for path in (*self.bundle.part("plan"), f"{self.bundle.path}/README.md") if path.lower().endswith(".md")]
            return made or [name for path in texts for one in statements(self.snapshot, path) if (name := declared_in_text(one.text))]

        return self.snapshot.memo(("declared variables", self.bundle.path), make)

    def _of_two_files(self) -> Iterator[Finding]:
        """The control's receipt and the candidate's, each a file of its own, where the plan or a receipt declares what varies."""
        results = [path for path in self._documents() if path in self.bundle.part("results")]
        variables = [*self._planned_variables(), *(name for path in results for _, name in declared(places(self.snapshot, path)))]
        arms: dict[str, list[Arm]] = {"baseline": [], "candidate": []}
        for path in results if variables else ():
            top = places(self.snapshot, path).top
            arm = self._arm_of_file(path) if isinstance(top, dict) else None
            if arm:
                arms[arm].append(Arm(path, (), path.rpartition("/")[2], top))
        if len(arms["baseline"]) != 1:
            return
        for candidate in arms["candidate"][:16]:
            wrong = undeclared(differences(arms["baseline"][0], candidate, variables), variables)
            if wrong:
                yield _setting_finding(arms["baseline"][0], candidate, wrong, variables)

    def _arm_of_file(self, path: str) -> str | None:
        top = places(self.snapshot, path).top
        known = arm_names(self.snapshot, self.bundle)
        said = next((top[key] for key in ("arm", "role", "variant") if isinstance(top.get(key), str)), None)
        told = arm_of_text(said, known) if said else arm_of_text(path.rpartition("/")[2].rpartition(".")[0], known, value=False)
        return next(iter(told)) if len(told) == 1 else None

    def _of_order(self, path: str, held: Outline, claimed: Sequence[Gain]) -> Iterator[Finding]:
        plan = [node for file in self.bundle.part("plan") for node in places(self.snapshot, file).all()]
        for order in unfinished(held, plan):
            near = [gain for gain in claimed if _in_reach(order.node, gain.node)]
            if near:
                yield _order_finding(path, order, near[0])
                return

    def _of_elsewhere(self, path: str, held: Outline, claimed: Sequence[Gain], variables: Sequence[str]) -> Iterator[Finding]:
        """A control or denominator that another campaign's record gives."""
        own = {self.bundle.id.casefold(), *(f"#{one.value}" for one in issues_of(self.snapshot, self.bundle))}
        others = self._registered()
        for node in held.nodes(_gives_denominator, str):
            if len(node.value) > 400:
                continue
            other = next((o.id for o in others if names(node.value, o.path) or (re.search(r"[-_\d]", o.id) and names(node.value, o.id))), None)
            keyed = set(words(node.key)) & {"campaign", "bundle", "issue"} and node.value.strip().casefold() not in own
            if (other or keyed) and not any(set(words(name)) & (_DEVICES | {"campaign"}) for name in variables):
                yield _elsewhere_finding(path, node, claimed[0])
                return

    def _of_traced_source(self, path: str, held: Outline, claimed: Sequence[Gain]) -> Iterator[Finding]:
        """A gain whose operand stands in a traced receipt and in no other, or that names a traced receipt as its source."""
        traced = {
            file: mark
            for file in self._documents()
            if file != path and (top := places(self.snapshot, file).top) is not None and (mark := traced_by(top))
        }
        if not traced:
            return
        for node in held.nodes(lambda _: True, (str, Number)):
            named = next(
                (
                    file
                    for file in traced
                    if isinstance(node.value, str) and (names(node.value, self.bundle.relative(file)) or node.value.endswith(file.rpartition("/")[2]))
                ),
                None,
            )
            if (
                named is None
                and isinstance(node.value, Number)
                and len(node.value.text.replace(".", "").lstrip("0")) >= 3
                and arm_of_text(node.key, arm_names(self.snapshot, self.bundle), value=False)
            ):
                named = self._only_in(node.value, traced, path)
            if named and not set(words(node.key)) & DIAGNOSTIC_KEYS:
                yield _source_finding(path, node, named, traced[named], claimed[0])
                return

    def _only_in(self, value: Number, traced: Iterable[str], path: str) -> str | None:
        """The traced receipt that holds `value`, where no other document but `path` does."""
        held = self._numbers()
        found = [file for file in traced if float(value) in held[file]]
        others = [file for file in held if file != path and file not in set(traced)]
        return None if not found or any(float(value) in held[file] for file in others) else found[0]

    def _numbers(self) -> dict[str, frozenset[float]]:
        def make() -> dict[str, frozenset[float]]:
            columns = {path: places(self.snapshot, path).where(lambda _: True, Number) for path in self._documents()}
            return {path: frozenset(float(v) for one in held for v in one.values if isinstance(v, Number)) for path, held in columns.items()}

        return self.snapshot.memo(("numbers", self.bundle.path), make)

    # ------------------------------------------------------------ texts

    def of_text(self, made: Sequence[Statement], own: tuple[str, ...]) -> Iterator[Finding]:
        for statement in made:
            if claims_gain(statement) and statement.standing == "asserted":
                found = self._of_gain(statement, own)
                if found:
                    yield found

    def _of_gain(self, statement: Statement, own: tuple[str, ...]) -> Finding | None:
        if says_traced(statement.text):
            return _text_finding(statement, "a traced or profiled run", "A gain is stated from a traced run", ())
        foreign = self._foreign(statement, own)
        if foreign:
            return _text_finding(statement, foreign, "A gain is stated against a figure that is not of this campaign's setting", ())
        return self._of_open_order(statement)

    def _foreign(self, statement: Statement, own: tuple[str, ...]) -> str | None:
        """Another campaign or device count that the sentence takes an operand of its gain from."""
        if any(set(words(name)) & _DEVICES for name in self._planned_variables()):
            return None
        mine = {*own, *(one.value for one in issues_of(self.snapshot, self.bundle))}
        return foreign_operand(statement.text, mine, [other.id for other in self._registered()], self._devices())

    def _registered(self) -> list[Registered]:
        """The other campaigns that the inventory lists."""
        return [one for inventory in inventories(self.snapshot) for one in inventory.bundles if one.path != self.bundle.path and one.id]

    def _devices(self) -> int | None:
        """The device count of this bundle: of its plan, its results, its README."""
        found = bundle_devices(self.snapshot, self.bundle)
        if found is None:
            found = next(
                (
                    count
                    for path in self.bundle.part("results")
                    if (doc := document(self.snapshot, path)) and doc.readable and (count := device_count(doc.value))
                ),
                None,
            )
        if found is None:
            said = [
                count
                for one in statements(self.snapshot, f"{self.bundle.path}/README.md")
                if not claims_gain(one)
                for count, _ in device_counts(one.text)
            ]
            found = said[0] if len(set(said)) == 1 else None
        return found

    def _of_open_order(self, statement: Statement) -> Finding | None:
        """A gain in a text whose figures stand in a record of an order that was not finished."""
        figures = {one.text.replace(",", "") for one in quantities(statement.text) if one.digits > 2}
        plan = [node for file in self.bundle.part("plan") for node in places(self.snapshot, file).all()]
        for path in self._documents():
            held = places(self.snapshot, path) if path in self.bundle.part("results") else Outline(())
            order = next(unfinished(held, plan), None)
            if order and any(node.value.text in figures for node in held.nodes(lambda _: True, Number)):
                place = Location(path, pointer=pointer(order.node.path), role="record")
                return _text_finding(statement, f"{order.done} of {order.planned}", "A gain is stated from an order that was not finished", (place,))
        return None


# ---------------------------------------------------------------- traced runs


def _traced_metric(path: str, held: Outline) -> Iterator[Finding]:
    """An object that is called, or calls itself, a metric or headline and says that it was traced."""
    for node in held.pick(lambda column: _metrics(column, held)):
        if traced_by(node.value):
            name = node.key or str(node.value.get("metric") or path.rpartition("/")[2])
            yield _traced_finding(path, [Arm(path, node.path, name, node.value)], None)
            return


_METRIC = frozenset(["metric", "metrics", "headline", "official", "指标"])
_ROLE = frozenset(["role", "use", "used", "purpose", "serves", "用途", "作用"])


def _metrics(column: Column, held: Outline) -> list[int]:
    """The rows that hold an object called metric, or one that calls itself so: `role: acceptance metric`, `used_as: headline`."""
    if dict not in column.types:
        return []
    if set(words(column.key)) & _METRIC:
        return [row for row, value in enumerate(column.values) if isinstance(value, dict)]
    roles = [one for one in held.inside.get(column, ()) if str in one.types and set(words(one.shape[-1] or "")) & _ROLE]
    return [one.rows[at] for one in roles for at, value in enumerate(one.values) if isinstance(value, str) and set(words(value)) & _METRIC]


def _in_reach(order: Node, gain: Node) -> bool:
    """The gain stands in the order's object, in one inside it, or in one around it that lists no other comparison between them."""
    place = order.path[:-1]
    shared = 0
    for left, right in zip(place, gain.path, strict=False):
        if left != right:
            break
        shared += 1
    return shared == len(place) or not any(isinstance(part, int) for part in place[shared:] + gain.path[shared:-1])


@lru_cache(maxsize=8192)
def _gives_denominator(shape: Shape) -> bool:
    said = {word for part in keys_of(shape) for word in words(part)}
    return bool(said & family("baseline control denominator reference compared against relative comparator 基线 对照 分母")) and not said & family(
        "dataset model weights prompt plan target note notes reason"
    )


def _is_device_count(one: Difference) -> bool:
    held = set(words(str(one.key[-1])))
    return (
        bool(held & family("devices device gpus npus cards chips accelerators world 设备 卡数"))
        and one.left[:1].isdigit()
        and one.right[:1].isdigit()
    )


# ---------------------------------------------------------------- findings


def _setting_finding(control: Arm, candidate: Arm, wrong: Sequence[Difference], variables: Sequence[str]) -> Finding:
    shown = ", ".join(f"`{one.name}` ({one.left or 'absent'} against {one.right or 'absent'})" for one in wrong[:8]) + (
        f" and {len(wrong) - 8} more" if len(wrong) > 8 else ""
    )
    said = f"The declared variable is {', '.join(f'`{name[:60]}`' for name in dict.fromkeys(variables))}; " if variables else ""
    places = [
        Location(arm.path, pointer=pointer((*arm.place, *one.key)), role="operand")
        for one in wrong[:8]
        for arm, value in ((candidate, one.right), (control, one.left))
        if value
    ]
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="Control and candidate differ in more than the declared variable"
        if variables
        else "Control and candidate ran on different numbers of devices",
        problem=f"{said}control and candidate also differ in {shown}." if variables else f"A gain is claimed between arms that differ in {shown}.",
        impact="The measured difference cannot be put down to the declared variable.",
        next="Run the candidate again with the control's settings (new run), or declare every difference and withdraw the claim about the one variable (edit text).",
        locations=tuple(places) or (Location(candidate.path, pointer=pointer(candidate.place)),),
        evidence=tuple((one.name, f"{one.left or 'absent'} / {one.right or 'absent'}") for one in wrong[:8]),
        roots=(f"record:{candidate.path}#{pointer(candidate.place)}/comparison",),
    )


def _order_finding(path: str, order: Order, gain: Gain) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="A gain is claimed from an order of runs that was not finished",
        problem=f"{order.done} was run of {order.planned}; `{pointer(gain.node.path)}` still claims {gain.shown}.",
        impact="Without the missing runs drift and order cannot be told from the gain.",
        next="Run the missing arms (new run), or withdraw the gain and record the order as incomplete, INCONCLUSIVE (edit text).",
        locations=(Location(path, pointer=pointer(gain.node.path)), Location(path, pointer=pointer(order.node.path), role="record")),
        evidence=(("planned", order.planned), ("run", order.done), ("claimed", gain.shown)),
        roots=(f"record:{path}#{pointer(order.node.path[:-1])}/comparison",),
    )


def _traced_finding(path: str, traced: Sequence[Arm], gain: Gain | None) -> Finding:
    marks = ", ".join(f"`{arm.name}` says {traced_by(arm.value)}" for arm in traced)
    places = [Location(path, pointer=pointer(gain.node.path))] if gain else []
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="A traced or diagnostic run is used as a metric",
        problem=f"{marks}" + (f"; `{pointer(gain.node.path)}` claims {gain.shown} from it." if gain else "."),
        impact="Tracing changes what it measures; the figure is no timing of the untraced program.",
        next="Take the figure from an untraced run (new run), or keep the traced one as a diagnostic and withdraw the gain (edit text).",
        locations=(*places, *(Location(path, pointer=pointer(arm.place), role="operand") for arm in traced)),
        evidence=tuple((arm.name, traced_by(arm.value) or "") for arm in traced),
        roots=(f"record:{path}#{pointer(traced[0].place[:-1])}/comparison",),
    )


def _source_finding(path: str, node: Node, source: str, mark: str, gain: Gain) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="A traced or diagnostic run is used as a metric",
        problem=f"`{pointer(node.path)}` rests on `{source}`, which says {mark}; `{pointer(gain.node.path)}` claims {gain.shown}.",
        impact="Tracing changes what it measures; the figure is no timing of the untraced program.",
        next="Take the figure from an untraced run (new run), or keep the traced one as a diagnostic and withdraw the gain (edit text).",
        locations=(Location(path, pointer=pointer(node.path)), Location(source, role="record")),
        evidence=((node.key, source), ("traced", mark)),
        roots=(f"record:{path}#{pointer(node.path[:-1])}/comparison",),
    )


def _elsewhere_finding(path: str, node: Node, gain: Gain) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="The denominator of a gain is another campaign's figure",
        problem=f"`{pointer(node.path)}` names “{str(node.value)[:120]}”; `{pointer(gain.node.path)}` claims {gain.shown} against it.",
        impact="Another campaign has other hardware, settings or revisions; the ratio is no gain of this one.",
        next="Measure the control in this campaign (new run), or report both figures apart and withdraw the gain (edit text).",
        locations=(Location(path, pointer=pointer(node.path)), Location(path, pointer=pointer(gain.node.path), role="related")),
        evidence=((node.key, str(node.value)[:120]), ("claimed", gain.shown)),
        roots=(f"record:{path}#{pointer(node.path[:-1])}/comparison",),
    )


def _text_finding(statement: Statement, seen: str, title: str, places: tuple[Location, ...]) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=title,
        problem=f"“{statement.text[:300]}” rests on {seen}.",
        impact="What the two figures differ in is more than the change that the gain is put down to.",
        next="State the figures apart, without a gain (edit text), or measure both arms here, untraced and in full order (new run).",
        locations=(statement.location(), *places),
        evidence=(("rests on", seen),),
        roots=(claim_root(statement.path, statement.text),),
    )


RULE = Rule(
    "arms-incomparable", "consistency", Severity.HIGH, check=check, each=each,
    norms=(("another device count",), ("one variable",), ("only", "variable"), ("traced", "timing"), ("paired",), ("abba",), ("ab/ba",)),
)  # fmt: skip
