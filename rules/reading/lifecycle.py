"""How processes ended, as raw records tell it: exit codes, signals, kills, processes left, in every form that a record gives them.

Settings, expectations, limits and negative tests are no observations; a field that is false, empty or 0 is the observation that nothing happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.core.model import Snapshot, Tree
from rules.reading.documents import Node, Number, Path, document, is_numbers
from rules.reading.end_keys import CLEAN, ELSEWHERE, ENDS, EXIT, LEFT, PROCESSES, REASONS, WHOLE, Kind, held_words, kind_of_key, stem, subject_family
from rules.reading.keys import family, words
from rules.reading.outline import Column, Outline, Shape, keys_of
from rules.reading.prefilter import mentions

MENTIONS = (
    "exit", "signal", "forc", "leak", "alive", "left", "sigkill", "sigterm", "kill", "return", "retcode", "rc\"", "rc:", "oom", "out_of_memory", "timeout", "timed", "crash", "orphan",
    "zombie", "leftover", "remaining", "surviv", "linger", "residual", "stray", "graceful", "clean", "hung", "segfault", "errorlevel", "退出", "返回",
    "信号", "残留", "遗留", "强制", "强杀", "超时", "崩溃", "僵尸",
)  # fmt: skip
"""Without any of these a document holds no observation."""

# ---------------------------------------------------------------- observations


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that a record says about how something ended.

    place    of the value in its document
    bad      whether it tells of an event: an exit code that is not 0, a signal, a kill, a process that remains
    shown    key and value, as printed
    code     the value alone
    subject  the family of what ended, None where the record does not say
    nouns    every noun of the place, singular: for subjects that belong to no family
    index    which of several (`rank: 3`, `worker_3`), None where it has none
    """

    place: Path
    kind: Kind
    bad: bool
    shown: str
    code: str
    subject: str | None
    nouns: frozenset[str]
    index: str | None = None


def lifecycle_of(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Observation, ...]:
    """The observations of the document at `path`, in order, kept by object id; none where it cannot be read."""
    entry = (tree or snapshot.head).files.get(path)
    if entry is None or not entry.is_file:
        return ()

    def make() -> tuple[Observation, ...]:
        found = document(snapshot, path, tree)
        return tuple(observations(found.outline)) if found is not None and mentions(found.text, *MENTIONS) else ()

    return snapshot.cache.by_blob("lifecycle:" + path, entry.oid, 4096, make)


def observations(held: Outline) -> Iterator[Observation]:
    """What the places of a document tell about how things ended, in order."""
    above: dict[Path, Kind] = {}
    for node in held.pick(_telling):
        key = node.path[-1] if node.path else 0
        upper = above.get(node.path[:-1]) if above and node.path else None
        if upper is None and not (isinstance(key, str) and isinstance(node.value, _may_tell(key))):
            continue
        kind = _context(node, upper)
        if kind is not None:
            above[node.path] = kind
        if kind is not None and not _is_elsewhere(node):
            yield from _read(node, kind)
        elif kind is None and (said := _reason(node)) and not _is_elsewhere(node):
            yield _observed(node, said, bad=True)


def _telling(column: Column) -> Iterable[int]:
    """The rows of a column that may tell how something ended: by its key or one above it; of reasons only those whose words do."""
    if _is_told(column.shape):
        return range(len(column.values))
    kinds = _may_tell(column.shape[-1]) if column.shape and column.shape[-1] is not None else ()
    if column.holds(tuple(kind for kind in kinds if kind is not str)):
        return range(len(column.values))
    if str not in kinds or str not in column.types:
        return ()
    return [row for row, value in enumerate(column.values) if isinstance(value, str) and _said_reason(value)]


@lru_cache(maxsize=8192)
def _is_told(shape: Shape) -> bool:
    """True under a key that can tell something of any type, and for the codes of a subject."""
    of_subject = len(shape) > 1 and dict in _may_tell(shape[-2] or "") and (shape[-1] is None or _is_index(shape[-1]))
    return of_subject or any(object in _may_tell(key) for key in keys_of(shape))


@lru_cache(maxsize=16384)
def _may_tell(key: str) -> tuple[type, ...]:
    """The types of value with which a key can tell something wherever it stands; none for most keys of most documents."""
    held = held_words(key)
    if kind_of_key(key) is not None or held & (LEFT | {"code", "codes", "forced"}):
        return (object,)
    subject: tuple[type, ...] = (list, dict) if any(subject_family(word) for word in held) else ()
    return (*subject, str) if held & REASONS else subject


def _context(node: Node, upper: Kind | None) -> Kind | None:
    """What a place holds: by its own key, else what the place above it holds (`exit_codes: {rank0: 0}`), else by where it stands."""
    key = node.path[-1]
    own = kind_of_key(key) if isinstance(key, str) else None
    if own == "timeout" and isinstance(node.value, Number) and "timeouts" not in held_words(str(key)):
        own = None
    if own or (upper in ("exit", "signal") and (isinstance(key, int) or _continues(key, node, upper))):
        return own or upper
    if not isinstance(key, str):
        return None
    held, last = held_words(key), next((part for part in reversed(node.path[:-1]) if isinstance(part, str)), "")
    if upper not in (None, "exit", "signal") and held and held <= {"count", "total", "n", "number"}:
        return upper
    if held & LEFT and held_words(last) & PROCESSES and not held & {"max", "expected", "allowed", "time", "limit"}:
        return "remaining"
    return "exit" if _holds_codes(key, node) else "forced" if held_words(key) == {"forced"} and _over(node) & ENDS else None


def _over(node: Node) -> frozenset[str]:
    """The words of the keys above a place."""
    return frozenset(word for part in node.path[:-1] if isinstance(part, str) for word in held_words(part))


_NOT_CODE = family(
    "count counts total expected duration time at signal reason pid pids rank id index name role note notes message source recorded log path file elapsed started ended finished host n started_at "
    "kind type method by when where note comment summary"
)


def _continues(key: str, node: Node, upper: Kind | None) -> bool:
    """True for what stands under a key of `upper`: an entry of a map, `code` of an element."""
    held = held_words(key)
    if upper != "exit" or held & _NOT_CODE:
        return upper == "exit" and isinstance(node.value, dict) and not held & _NOT_CODE
    in_element = len(node.path) > 1 and isinstance(node.path[-2], int)
    return not in_element or bool(held & {"code", "codes", "status", "value"})


def _holds_codes(key: str, node: Node) -> bool:
    """In an exit record, a list or map of integers under a subject's name holds exit codes; so does `code` under `termination`."""
    held = held_words(key)
    if held & {"code", "codes"} and held <= {"code", "codes", "raw"} | {"status"}:
        last = next((part for part in reversed(node.path[:-1]) if isinstance(part, str)), "")
        return bool(held_words(last) & {"exit", "termination", "terminated", "shutdown", "teardown"}) and isinstance(
            node.value, (Number, str, type(None))
        )
    if not any(subject_family(word) for word in held) or not (_over(node) & ENDS or _beside_exits(node)):
        return False
    if isinstance(node.value, list):
        return _is_codes(node.value) and not (_is_numbering(node.value) and _beside_exits(node))
    return isinstance(node.value, dict) and bool(node.value) and all(_is_index(k) and _is_code(v) for k, v in node.value.items())


def _beside_exits(node: Node) -> bool:
    return isinstance(node.parent, dict) and any(key != node.path[-1] and kind_of_key(key) == "exit" for key in node.parent)


def _is_codes(value: list[Any]) -> bool:
    return bool(value) and all(_is_code(item) for item in value)


def _is_code(value: Any) -> bool:
    return (
        value is None or (isinstance(value, Number) and value.is_integer_literal) or (isinstance(value, str) and bool(_CODE.fullmatch(value.strip())))
    )


def _is_numbering(value: list[Any]) -> bool:
    """`[0, 1, 2, 3]` or `[1, 2, 3]`: the numbers of the ranks and not their codes."""
    return len(value) > 1 and all(isinstance(item, Number) for item in value) and [int(v) for v in value] in (
        list(range(len(value))), list(range(1, len(value) + 1)),
    )  # fmt: skip


def _is_index(key: str) -> bool:
    return re.fullmatch(r"[A-Za-z]{0,20}[-_ #]?\d{1,5}", key) is not None


def _is_elsewhere(node: Node) -> bool:
    """A setting, an expectation, a gate, a negative test; or what its own object expects to be so."""
    if any(held_words(part) & ELSEWHERE for part in node.path if isinstance(part, str)):
        return True
    return isinstance(node.parent, dict) and any(
        _expects(held_words(key)) and _same(value, node.value) for key, value in node.parent.items() if key != node.path[-1]
    )


def _expects(held: frozenset[str]) -> bool:
    return bool(held & {"expected", "expect", "expects"}) and (
        len(held) == 1 or bool(held & (EXIT | {"code", "codes", "status", "signal", "outcome"}))
    )


def _same(expected: Any, actual: Any) -> bool:
    """The object expects what happened and that is no zero: a negative test. `nonzero` expects any."""
    if isinstance(expected, str) and re.search(r"non-?zero|fail|error|reject|非零|失败", expected, re.IGNORECASE):
        return True
    shown = [_shown(value) for value in (expected if isinstance(expected, list) else [expected])]
    return _shown(actual) in shown and _shown(actual) not in ("0", "False")


# ---------------------------------------------------------------- values

_CODE = re.compile(r"[-−]?\d{1,5}(?::\d{1,3})?|0x[0-9a-fA-F]{1,4}|SIG[A-Z0-9]{2,8}|null|none|unknown", re.IGNORECASE)
_NAMED_SIGNAL = re.compile(r"\bSIG(?:KILL|TERM|INT|SEGV|ABRT|HUP|QUIT|BUS|FPE|ILL|PIPE|USR[12]|STOP|SYS|TRAP|XCPU|ALRM)\b", re.IGNORECASE)
_GOOD = re.compile(
    r"(?:exit(?:ed)?\b.{0,8}?)?\(?(?:all\s+)?(?:0|zero|0:0|0x0+)\)?(?:\s?\(?(?:all|success|ok)\)?)?|ok|okay|success(?:ful(?:ly)?)?|succeeded|clean(?:ly)?|normal(?:ly)?|graceful(?:ly)?|completed?|exited"
    r"|(?:全部|均为?|都是?)?(?:0|零)|正常|成功|干净",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"fail(?:ed|ure)?|errors?|killed|crash(?:ed)?|non-?zero|signal(?:l?ed)?|oom.{0,12}|time[d ]?-?out|abort(?:ed)?|abnormal|forced|segfault|core dumped|异常|失败|被杀|崩溃|非零",
    re.IGNORECASE,
)
_NOTHING = frozenset(["", "none", "no", "n/a", "na", "false", "0", "nil", "null", "-", "无", "没有", "否"])
_UNRECORDED = re.compile(
    r"null|none|unknown|n/?a|not[ _-](?:recorded|captured|available|observed|known)|un(?:recorded|available)|missing|未记录|未知|缺失", re.IGNORECASE
)
_FRACTION = re.compile(r"(\d{1,6})\s{0,2}(?:/|of|out of)\s{0,2}(\d{1,6})(?!\d)(?:\s.{0,30})?", re.IGNORECASE)
_OOM_VALUE = re.compile(r"oom[-_ ]?(?:killed|kill)?|out[-_ ]of[-_ ]memory", re.IGNORECASE)
_TIMEOUT_VALUE = re.compile(r"time[-_ ]?out|timed[-_ ]out|deadline[-_ ]?exceeded|超时", re.IGNORECASE)
_LONGEST = 48


def _read(node: Node, kind: Kind) -> Iterator[Observation]:
    """The observations of one place: of a list each element's."""
    if isinstance(node.value, dict):
        return
    if isinstance(node.value, list) and kind in ("exit", "signal"):
        for number, item in enumerate(node.value if is_numbers(node.value) else ()):
            yield from _one(Node((*node.path, number), item, node.parent), kind)
        return
    yield from _one(node, kind)


def _one(node: Node, kind: Kind) -> Iterator[Observation]:
    if kind == "exit":
        bad = _exit_is_bad(node)
    elif kind == "signal":
        bad = _signal_is_bad(node)
    else:
        bad = _happened(node.value)
        if isinstance(node.value, str) and bad is None:
            return
    if bad is not None:
        yield _observed(node, kind, bad)


def _exit_is_bad(node: Node) -> bool | None:
    """Whether an exit code tells of an end that is not 0; None where the value is no exit code."""
    held = held_words(node.key) if isinstance(node.path[-1], str) else frozenset()
    value = node.value
    if held & {"counts", "histogram", "distribution"} or _is_histogram(node):
        return None if not isinstance(value, Number) else value > 0 and str(node.path[-1]).strip() not in ("0", "0:0", "zero")
    if held & {"nonzero"} or {"non", "zero"} <= held:
        return _happened(value)
    if held & ({"zero"} | CLEAN):
        return _fewer_than_all(node)
    if value is None:
        return True
    if isinstance(value, Number):
        return bool(value) if value.is_integer_literal and abs(value) < 2**32 else None
    return _word_is_bad(value) if isinstance(value, str) and len(value) <= _LONGEST else None


def _is_histogram(node: Node) -> bool:
    """`exit_codes: {"0": 70, "143": 2}`: the keys are the codes. Keys 0, 1, 2, … are the numbers of ranks."""
    above = node.parent
    if not isinstance(above, dict) or not isinstance(node.path[-1], str) or not all(re.fullmatch(r"-?\d{1,3}", key) for key in above):
        return False
    return sorted(int(key) for key in above) != list(range(len(above))) or (len(above) == 1 and all(v for v in above.values()))


def _fewer_than_all(node: Node) -> bool | None:
    """`exit_zero: 70` beside `total: 72`, `exit_zero: "70/72"`, `exit_zero: false`."""
    value = node.value
    if isinstance(value, bool):
        return None if value else True
    if isinstance(value, str):
        found = _FRACTION.fullmatch(value.strip())
        return int(found[1]) < int(found[2]) if found else None
    totals = [
        v for k, v in (node.parent or {}).items()
        if isinstance(v, Number) and held_words(k) & {"total", "n", "count", "workers", "ranks", "expected", "started", "size", "launched", "总数"} and k != node.path[-1]
    ] if isinstance(node.parent, dict) else []  # fmt: skip
    return value < totals[0] if isinstance(value, Number) and totals else None


def _word_is_bad(text: str) -> bool | None:
    bare = text.strip().replace("−", "-")
    fraction = _FRACTION.fullmatch(bare)
    if fraction:
        return int(fraction[1]) < int(fraction[2])
    if _GOOD.fullmatch(bare):
        return False
    listed = re.fullmatch(r"\[?\s{0,3}(-?\d{1,5}(?:\s?[/, ;]\s?-?\d{1,5}){1,40})\s{0,3}\]?", bare)
    if listed:
        return any(int(code) for code in re.findall(r"-?\d{1,5}", listed[1]))
    if _CODE.fullmatch(bare) or _UNRECORDED.fullmatch(bare) or bare == "":
        return True
    if _NAMED_SIGNAL.search(bare) or _BAD.match(bare):
        return True
    coded = re.search(r"(?:exit(?:ed)?|code|status|rc|signal|退出码)\D{0,8}?(-?\d{1,5})(?!\d)", bare, re.IGNORECASE)
    return int(coded[1]) != 0 if coded else None


def _signal_is_bad(node: Node) -> bool | None:
    """A signal's name, or its number beside an exit or under a subject; elsewhere a `signal` may be anything that was measured."""
    value = node.value
    if isinstance(value, str) and _NAMED_SIGNAL.search(value):
        return True
    near = _beside_exits(node) or any(
        held_words(part) & ENDS or any(subject_family(word) for word in held_words(part)) for part in node.path if isinstance(part, str)
    )
    if not near:
        return None
    if isinstance(value, Number):
        return bool(value) if value.is_integer_literal and 0 <= value < 1000 else None
    if isinstance(value, str):
        bare = value.strip().lower()
        return False if bare in _NOTHING else bare in ("kill", "term", "int", "segv", "abrt") or (bool(re.fullmatch(r"\d{1,2}", bare)) or None)
    return False if value is None or value is False else None


def _happened(value: Any) -> bool | None:
    """True for an event, False for the statement that there was none, None where the value says neither."""
    if value is None or value is False or value in ([], "", {}):
        return False
    if isinstance(value, (bool, list)):
        return True
    if isinstance(value, Number):
        return value > 0 if value.is_integer_literal else None
    if isinstance(value, str):
        bare = value.strip().lower()
        if bare in _NOTHING:
            return False
        fraction = _FRACTION.fullmatch(bare)
        if fraction:
            return int(fraction[1]) > 0
        known = bare in ("true", "yes", "是") or re.fullmatch(r"[\d,\s]{1,200}", bare) or _NAMED_SIGNAL.search(bare)
        return True if known else None
    return None


def _reason(node: Node) -> Kind | None:
    """What a state or reason says in one word: `OOMKilled`, `OUT_OF_MEMORY`, `TIMEOUT`, `killed`."""
    return _said_reason(node.value) if isinstance(node.value, str) and node.path and held_words(node.key) & REASONS else None


@lru_cache(maxsize=8192)
def _reason_of_word(bare: str) -> Kind | None:
    if _OOM_VALUE.fullmatch(bare):
        return "oom"
    if _TIMEOUT_VALUE.fullmatch(bare):
        return "timeout"
    return "forced" if re.fullmatch(r"(?:sig)?killed|force[-_ ]?killed|被杀|强制终止", bare, re.IGNORECASE) else None


def _said_reason(text: str) -> Kind | None:
    return _reason_of_word(text.strip()) if len(text) <= _LONGEST else None


# ---------------------------------------------------------------- whose end it is

_LABELS = ("role", "kind", "type", "process", "service", "component", "proc")
_NAMES = ("name", "Name", "id", "pod", "host", "hostname")
_GENERIC = frozenset(["process"])
"""A family that a name may narrow down: a process called `server` is the server, a container called `engine` is the container."""


def _observed(node: Node, kind: Kind, bad: bool) -> Observation:
    nouns, subject = _whose(node, passing="process" if kind == "remaining" else "")
    shown = _shown(node.value)
    key = next((part for part in reversed(node.path) if isinstance(part, str)), "")
    name = next(iter(_labels(node, _NAMES)), "")
    return Observation(node.path, kind, bad, f"{name} {key}: {shown}".strip(), shown, subject, nouns, _index(node))


def _labels(node: Node, keys: tuple[str, ...]) -> list[str]:
    beside = node.parent if isinstance(node.parent, dict) else {}
    return [str(beside[key]) for key in keys if isinstance(beside.get(key), str) and len(beside[key]) <= 60]


def _whose(node: Node, passing: str) -> tuple[frozenset[str], str | None]:
    """The nouns of a place, and the family of the nearest that has one: its key, a label beside it, the keys above. `passing` is passed over."""
    beside = node.parent if isinstance(node.parent, dict) else {}
    element = len(node.path) > 1 and isinstance(node.path[-2], int)
    numbered = [key for key, value in beside.items() if element and isinstance(value, Number) and subject_family(key) and key != node.path[-1]]
    chain = [part for part in reversed(node.path) if isinstance(part, str)]
    ordered = [*chain[:1], *_labels(node, _LABELS), *numbered, *chain[1:], *_labels(node, _NAMES)]
    split = [[word for word in words(part) if not word.isdigit()] for part in ordered]
    families = [
        family
        for part in split
        for word in sorted(part, key=lambda w: subject_family(w) in WHOLE)
        if (family := subject_family(word)) not in (None, passing)
    ]
    narrow = (family for family in families if family not in _GENERIC)
    return frozenset(stem(word) for part in split for word in part), next(narrow, families[0] if families else None)


def _index(node: Node) -> str | None:
    beside = node.parent if isinstance(node.parent, dict) else {}
    stated = next((v for k, v in beside.items() if k != node.path[-1] and held_words(k) & {"rank", "id", "index", "worker", "step", "shard"}), None)
    if isinstance(stated, Number) and stated.is_integer_literal:
        return stated.text
    keyed = [re.search(r"(\d{1,5})\Z", part) if isinstance(part, str) else None for part in reversed(node.path[-2:])]
    found = next((match[1].lstrip("0") or "0" for match in keyed if match), None)
    return found or (str(node.path[-1]) if isinstance(node.path[-1], int) else None)


def _shown(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, list):
        return (
            "[" + ", ".join(_shown(item) if not isinstance(item, (dict, list)) else "…" for item in value[:8]) + (", …]" if len(value) > 8 else "]")
        )
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)[:_LONGEST]
