"""Gate records: what a candidate must pass, since when, and which record is in force."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from rules.core.model import Snapshot
from rules.reading.documents import Node, Number, Path, is_document, nodes
from rules.reading.keys import family, words
from rules.reading.layout import Bundle
from rules.reading.manifests import manifests
from rules.reading.times import Timed, timed_at

Direction = Literal["min", "max"]

_GATE_NAMES = family("acceptance gate gates criteria criterion 验收 门槛 闸门 准则")
_NOT_GATES = family("integrity manifest manifests sha checksum checksums sums digests hashes schema notes history freeze freezes log pointer 清单")
_GATE_KEYS = family(
    "metric metrics rule rules gate gates threshold thresholds limit limits min max target targets criteria criterion reduction least most accept "
    "acceptance lossless requirement requirements must pass supersedes superseded replaces op equal 指标 门槛 阈值 目标 规则 准则 要求"
)
_SUPERSEDES = family(
    "supersedes superseded supersede superseding replaces replaced replace obsoletes obsoleted overrides overridden 取代 替代 废止 代替"
)
_NEUTRAL = _SUPERSEDES | family(
    "by gate gates record records file files path id ids acceptance version name plan document criteria previous prior old json"
)
_DRAFT = re.compile(r"\b(?:draft|proposed|proposal|pending|withdrawn|rejected|not[ _-]in[ _-]force)\b|草案|提议|撤回|未生效", re.IGNORECASE)
_METRIC_KEYS = family("metric metrics measure quantity 指标 度量")
_CONTEXT_KEYS = family(
    "workload workloads duration durations arm arms device devices dataset shape shapes scenario batch concurrency resolution phase stage case clip input "
    "inputs precision platform hardware suite model target_arm length size 负载 工作负载 时长 设备 场景 数据集 批量 并发 阶段"
)
_MIN_WORDS = family("min minimum least above floor lower over exceeds 至少 最小 最低 下限 不低于")
_MAX_WORDS = family("max maximum most below ceiling upper under limit budget tolerance cap 至多 最大 最高 上限 不超过")
_GAIN_WORDS = family("reduction improvement speedup gain saving savings decrease uplift 降低 提升 加速 减少")
_VALUE_WORDS = family("threshold target value bound required reference 阈值 目标 取值")
_OPERATOR_KEYS = family("op operator comparator comparison relation direction cmp 比较 方向")
_RULE_KEYS = family(
    "rule rules condition criterion criteria requirement target limit threshold accept pass must expression 规则 条件 要求 目标 准则 门槛 阈值"
)
_NUMBER = r"(?P<number>\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,12})?|\d{1,15}(?:\.\d{1,12})?)"
_UNIT = r"(?: {0,2}(?P<unit>%|％|percent\b|pct\b|[A-Za-zµμ]{1,12}\b|[一-鿿]{1,3}))?"
_AT_LEAST = re.compile(
    r"(?:at least|no(?:t)? less than|no(?:t)? lower than|no(?:t)? fewer than|not below|>=|≥|>|above|over|more than|greater than|exceeds?|minimum(?: of)?|"
    r"至少|不低于|不少于|不小于|大于|高于|超过) {0,2}" + _NUMBER + _UNIT,
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:at most|no(?:t)? more than|no(?:t)? greater than|no(?:t)? higher than|not (?:to )?exceed(?:ing)?|not above|not over|<=|≤|<|up to|within|maximum(?: of)?|"
    r"(?<!not )(?<!no )(?:below|under|less than|lower than|fewer than)|不超过|不高于|不大于|不多于|至多|(?<!不)(?:小于|低于|少于)) {0,2}"
    + _NUMBER
    + _UNIT,
    re.IGNORECASE,
)
_LESS_BY = re.compile(_NUMBER + r" {0,2}(?P<unit>%|％|percent|pct) {0,2}(?:less|lower|fewer|faster|shorter|higher|more|reduction)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limit:
    """One threshold. Two limits are about the same thing where `metric`, `context`, `measure` and `direction` are equal.

    metric     the metric's words, or none where the record names none
    context    (key, value) pairs of workload, duration, arm, devices that it holds for
    measure    what the number counts: the key's words without those of direction, or the unit of a rule in words
    direction  `min`: a larger value is stricter; `max`: a smaller one is
    """

    metric: tuple[str, ...]
    context: frozenset[tuple[str, str]]
    measure: tuple[str, ...]
    direction: Direction
    value: Fraction
    text: str
    place: Path

    def same_subject(self, other: Limit) -> bool:
        return (self.metric, self.context, self.measure, self.direction) == (other.metric, other.context, other.measure, other.direction)

    def stricter_than(self, other: Limit) -> bool:
        return self.same_subject(other) and (self.value > other.value if self.direction == "min" else self.value < other.value)


@dataclass(frozen=True, slots=True)
class Superseding:
    """That a record supersedes another one: the path of the other, in part only or as a whole, and where it says so."""

    older: str
    newer: str
    partial: bool
    said_in: str
    place: Path


@dataclass(frozen=True)
class Gate:
    """One gate record under the plan. `names` are what a text may call it: file name, stem, id, lower case."""

    path: str
    names: tuple[str, ...]
    recorded: Timed | None
    draft: bool
    limits: tuple[Limit, ...]
    nodes: tuple[Node, ...]


def is_gate_name(relative: str) -> bool:
    """True for a path inside the plan that is named as a gate record: `acceptance*.json`, `gates*.yaml`, `gates/latency.json`."""
    if not is_document(relative):
        return False
    folders, _, file = relative.rpartition("/")
    held = set(words(file.rpartition(".")[0]))
    inside = bool(set(words(folders.rpartition("/")[2])) & _GATE_NAMES)
    return (bool(held & _GATE_NAMES) or inside) and not held & _NOT_GATES


def gates(snapshot: Snapshot, bundle: Bundle) -> tuple[Gate, ...]:
    """The gate records of the bundle's plan at head, in order of path."""
    return snapshot.memo(("gates", bundle.path), lambda: tuple(gate for path in bundle.part("plan") if (gate := _gate(snapshot, bundle, path))))


def _gate(snapshot: Snapshot, bundle: Bundle, path: str) -> Gate | None:
    if not is_gate_name(bundle.relative(path).partition("/")[2]):
        return None
    held = nodes(snapshot, path)
    if not any(_GATE_KEYS & set(words(node.key)) for node in held[1:500]):
        return None
    top = [n for n in held if len(n.path) == 1]
    ids = [
        n.value.strip().lower()
        for n in top
        if n.key.lower() in {"id", "name", "record", "gate_id", "gateid"} and isinstance(n.value, str) and n.value.strip()
    ]
    file = path.rpartition("/")[2].lower()
    return Gate(
        path=path,
        names=tuple(dict.fromkeys([file, file.rpartition(".")[0], *ids])),
        recorded=next((t for node in top if (t := timed_at(node)) and t.key.role == "recorded"), None),
        draft=any(isinstance(n.value, str) and {"status", "state", "状态"} & set(words(n.key)) and _DRAFT.search(n.value[:200]) for n in top),
        limits=tuple(_limits(held, _context_of_name(file.rpartition(".")[0]))),
        nodes=held,
    )


def validators(snapshot: Snapshot, bundle: Bundle) -> tuple[str, ...]:
    """What judges: code and records under `validator/` at head, without its texts, its tests and its lists of digests."""
    lists = {manifest.path for manifest in manifests(snapshot, bundle)}
    return tuple(
        path
        for path in bundle.part("validator")
        if path not in lists
        and path in snapshot.head.files
        and snapshot.head.files[path].is_file
        and not path.lower().endswith((".md", ".markdown", ".txt", ".rst", ".log"))
        and not {"test", "tests", "fixtures", "init"} & {word for part in bundle.relative(path).split("/") for word in words(part)}
    )


# ---------------------------------------------------------------- what supersedes what


def supersedings(records: Iterable[Gate]) -> tuple[Superseding, ...]:
    """Every statement of one record about another one that it supersedes, or is superseded by."""
    known = tuple(records)
    made = []
    for gate in known:
        for node in gate.nodes:
            said = _said(node)
            other = _resolve(known, node.value) if said and isinstance(node.value, str) else None
            if said and other:
                older, newer = (gate.path, other.path) if said == "by" else (other.path, gate.path)
                made.append(Superseding(older, newer, _is_partial(node), gate.path, node.path))
    return tuple(dict.fromkeys(made))


def _said(node: Node) -> Literal["of", "by"] | None:
    """Whether a node stands under a key that says `supersedes …` or `superseded_by …`."""
    for part in reversed(node.path):
        held = set(words(part)) if isinstance(part, str) else set()
        if held & _SUPERSEDES:
            return "by" if "by" in held else "of"
    return None


def _is_partial(node: Node) -> bool:
    """`supersedes_lossless_adjudication_only`, or an object with a scope beside the name."""
    key = next(part for part in reversed(node.path) if isinstance(part, str) and set(words(part)) & _SUPERSEDES)
    rest = [word for word in words(key) if word not in _NEUTRAL and not word.isdigit()]
    scoped = isinstance(node.parent, dict) and any(
        {"scope", "only", "clause", "part", "section", "partial", "范围", "条款"} & set(words(k)) for k in node.parent
    )
    return bool(rest) or (scoped and node.path[-1] != key)


def _resolve(known: Iterable[Gate], text: str) -> Gate | None:
    """The record that `text` names: by path, file name, stem or id."""
    name = text.strip().lower().rpartition("/")[2]
    return next((gate for gate in known if name and (name in gate.names or name == gate.path.lower())), None)


def cycles(links: Iterable[Superseding]) -> tuple[tuple[str, ...], ...]:
    """Records that supersede each other in a circle, each circle once, as sorted paths."""
    after: dict[str, set[str]] = {}
    for link in links:
        after.setdefault(link.older, set()).add(link.newer)
    found = {
        tuple(sorted(p for p in after if p in _reach(after, start) and start in _reach(after, p))) for start in after if start in _reach(after, start)
    }
    return tuple(sorted(found))


def _reach(after: dict[str, set[str]], start: str) -> set[str]:
    seen, waiting = set[str](), [start]
    while waiting:
        for path in after.get(waiting.pop(), ()):
            if path not in seen:
                seen.add(path)
                waiting.append(path)
    return seen


def in_force(records: Iterable[Gate]) -> tuple[Gate, ...]:
    """The records that still govern: no draft, and not superseded as a whole by a record that is no draft. A circle supersedes nobody."""
    known = tuple(records)
    drafts = {gate.path for gate in known if gate.draft}
    links = supersedings(known)
    circular = {path for cycle in cycles(links) for path in cycle}
    gone = {link.older for link in links if not link.partial and link.newer not in drafts and not {link.older, link.newer} <= circular}
    return tuple(gate for gate in known if gate.path not in gone | drafts)


# ---------------------------------------------------------------- thresholds


_NAME_CONTEXT = re.compile(
    r"(?<![a-z0-9])(?:\d{1,6}(?:s|sec|min|m|h|ms|gpus?|npus?|cards?|devices?|nodes?|steps|frames|gb|gib|tokens|x)|(?:tp|dp|pp|sp|batch|bs|c|n)-?\d{1,6}"
    r"|prefill|decode|encode|train(?:ing)?|infer(?:ence)?|read|write|cold|warm|compile|link|load|startup|cpu|gpu|npu|single|multi)(?![a-z0-9])"
)


def _context_of_name(stem: str) -> frozenset[tuple[str, str]]:
    """What a record's file name says that it holds for: `acceptance-15s` is another matter than `acceptance-5s`."""
    return frozenset(("name", found) for found in _NAME_CONTEXT.findall(stem))


def _limits(places: Iterable[Node], named: frozenset[tuple[str, str]]) -> Iterator[Limit]:
    held = tuple(places)
    above = {node.path: node.value for node in held if isinstance(node.value, dict)}
    for node in held:
        for direction, value, measure in _thresholds(node):
            metric, context = _subject(node, above)
            yield Limit(metric, context | named, measure, direction, value, f"{node.key}: {_shown(node.value)}", node.path)


def _shown(value: Any) -> str:
    return value.text if isinstance(value, Number) else str(value)[:120]


def _thresholds(node: Node) -> Iterator[tuple[Direction, Fraction, tuple[str, ...]]]:
    key = words(node.key)
    if isinstance(node.value, Number) and node.value.exact is not None:
        direction = direction_of(key, node.parent)
        if direction:
            yield direction, node.value.exact, tuple(word for word in key if word not in _MIN_WORDS | _MAX_WORDS | _VALUE_WORDS | {"at"})
    elif isinstance(node.value, str) and (set(key) & _RULE_KEYS) and len(node.value) <= 1000:
        yield from rules_in_words(node.value)


def direction_of(key: tuple[str, ...], parent: Any) -> Direction | None:
    """Which side of a threshold under `key` (its words) is allowed, by the key or by an operator beside it in `parent`; None for no threshold."""
    held = set(key)
    if held & _MIN_WORDS and not held & _MAX_WORDS:
        return "min"
    if held & _MAX_WORDS and not held & _MIN_WORDS:
        return "max"
    if held & _GAIN_WORDS:
        return "min"
    operators = [str(v) for k, v in parent.items() if set(words(k)) & _OPERATOR_KEYS and isinstance(v, str)] if isinstance(parent, dict) else []
    if held & _VALUE_WORDS and operators:
        text = operators[0].strip().lower()
        if re.match(r">|≥|ge\b|gt\b|gte\b|at[ _]least|higher|min|above|不低于|至少|大于", text):
            return "min"
        if re.match(r"<|≤|le\b|lt\b|lte\b|at[ _]most|lower|max|below|不超过|至多|小于", text):
            return "max"
    return None


def rules_in_words(text: str) -> Iterator[tuple[Direction, Fraction, tuple[str, ...]]]:
    """(direction, value, unit) of the limits that a sentence states: `at most 0.9`, `不超过 250 ms`, `20 % less`."""
    taken: set[int] = set()
    for pattern, direction in ((_LESS_BY, "min"), (_AT_MOST, "max"), (_AT_LEAST, "min")):
        for match in pattern.finditer(text):
            if match.start("number") in taken:
                continue
            taken.add(match.start("number"))
            unit = (match["unit"] or "").lower().replace("％", "%").replace("percent", "%").replace("pct", "%")
            by = ("by",) if pattern is _LESS_BY else ()
            yield direction, Fraction(match["number"].replace(",", "")), (*by, unit)  # type: ignore[misc]


def _subject(node: Node, above: dict[Path, dict[str, Any]]) -> tuple[tuple[str, ...], frozenset[tuple[str, str]]]:
    """The metric's words and the workload that hold for a place: from its own object and those around it, the nearest first."""
    metric: tuple[str, ...] = ()
    context: dict[str, str] = {}
    for depth in range(len(node.path) - 1, -1, -1):
        held = above.get(node.path[:depth])
        for key, value in (held or {}).items():
            parts = set(words(key))
            if not metric and parts & _METRIC_KEYS and isinstance(value, str):
                metric = words(value) or (value.strip().lower(),)
            elif parts & _CONTEXT_KEYS and key not in context and (*node.path[:depth], key) != node.path:
                context[key.lower()] = " ".join(_flat(value).lower().split())
        name = node.path[depth - 1] if depth else None
        if not metric and isinstance(name, str) and held is not None and not set(words(name)) & (_GATE_KEYS | _NEUTRAL):
            metric = words(name)
        if not metric and held and isinstance(held.get("id"), str) and depth:
            metric = words(held["id"])
    return metric, frozenset(context.items())


def _flat(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, list):
        return ",".join(_flat(item) for item in value[:50])
    if isinstance(value, dict):
        return ",".join(f"{key}={_flat(item) if not isinstance(item, (dict, list)) else len(item)}" for key, item in list(value.items())[:50])
    return str(value)[:200]
