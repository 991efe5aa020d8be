"""The arms of a comparison: control and candidate beside each other, the settings they differ in, and the variable that is declared to vary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from rules.reading.documents import Node, Number, Path, is_numbers, walk
from rules.reading.end_keys import held_words, stem
from rules.reading.keys import family, words
from rules.reading.outline import Column, Outline
from rules.reading.receipts import Names, arm_of_text

_MOST = 2000
"""Places of one arm that are compared at most."""
_PAIRS = (("a", "b"), ("arm_a", "arm_b"), ("old", "new"), ("off", "on"), ("before", "after"))
_ARM_FIELDS = ("arm", "variant", "role", "label", "name", "group", "side", "组", "臂")


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: the file and place of its object, the name it goes by, and the object."""

    path: str
    place: Path
    name: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting in which two arms differ: its path inside the arm, and both values as printed ("" where an arm lacks it)."""

    key: Path
    left: str
    right: str

    @property
    def name(self) -> str:
        return ".".join(str(part) for part in self.key)


# ---------------------------------------------------------------- which objects are arms


def pairs(path: str, held: Outline, names: Names) -> Iterator[tuple[Arm, Arm]]:
    """(control, candidate) of every object or list of a document that holds both; every candidate with its control."""
    for node in held.pick(lambda column: _rows_of_arms(column, held, names)):
        yield from _of_object(path, node, names) if isinstance(node.value, dict) else _of_list(path, node, names)


def _rows_of_arms(column: Column, held: Outline, names: Names) -> list[int]:
    """The rows that hold an object of arms, or a short list of objects of which some name an arm."""
    inside = held.inside.get(column, ())
    rows: list[int] = []
    if dict in column.types and sum(dict in one.types for one in inside) > 1:
        keys = {key.casefold() for one in inside for key in one.shape[-1:] if key is not None and dict in one.types}
        if any(_arm(key, names) for key in keys) or any({left, right} <= keys for left, right in _PAIRS):
            rows += [row for row, value in enumerate(column.values) if isinstance(value, dict)]
    elements = next((one for one in inside if one.shape[-1] is None), None) if list in column.types else None
    fields = [one for one in held.inside.get(elements, ()) if one.shape[-1] in _ARM_FIELDS and str in one.types] if elements else []
    if any(_arm(value, names, value=True) for one in fields for value in {value for value in one.values if isinstance(value, str)}):
        rows += [row for row, value in enumerate(column.values) if isinstance(value, list) and 1 < len(value) <= 256]
    return rows


def _of_object(path: str, node: Node, names: Names) -> Iterator[tuple[Arm, Arm]]:
    told = {key: _arm(key, names) for key, value in node.value.items() if isinstance(value, dict)}
    if len(told) < 2:
        return
    low = {key.casefold(): key for key in told}
    for left, right in _PAIRS:
        if left in low and right in low and not told[low[left]]:
            told |= {low[left]: "baseline", low[right]: "candidate"}
    controls = [key for key, arm in told.items() if arm == "baseline"]
    if len(controls) == 1:
        control = Arm(path, (*node.path, controls[0]), controls[0], node.value[controls[0]])
        for key in (key for key, arm in told.items() if arm == "candidate"):
            yield control, Arm(path, (*node.path, key), key, node.value[key])


def _of_list(path: str, node: Node, names: Names) -> Iterator[tuple[Arm, Arm]]:
    found: dict[str, list[Arm]] = {"baseline": [], "candidate": []}
    for i, item in enumerate(node.value):
        name = next(
            (item[key] for key in _ARM_FIELDS if isinstance(item, dict) and isinstance(item.get(key), str) and _arm(item[key], names, value=True)),
            None,
        )
        if name is not None:
            found[_arm(name, names, value=True) or "candidate"].append(Arm(path, (*node.path, i), name, item))
    for candidate in found["candidate"][:8] if found["baseline"] else ():
        yield found["baseline"][0], candidate


def _arm(name: str, names: Names, value: bool = False) -> str | None:
    if value and name.strip().casefold() in ("a", "b"):
        return {"a": "baseline", "b": "candidate"}[name.strip().casefold()]
    told = arm_of_text(name, names, value=value)
    return next(iter(told)) if len(told) == 1 and not held_words(name) & _REST else None


_REST = family("revision commit sha plan planned id path file receipt receipts s ms")

# ---------------------------------------------------------------- settings

_CONTAINERS = family(
    "config configuration configurations settings setting parameters parameter params options option flags env environment args argv arguments workload hardware runtime software inputs input launch cli knobs setup "
    "system platform machine toolchain build compile compiler engine server deployment 配置 参数 设置 环境 负载"
)
_SETTINGS = family(
    "threads thread batch concurrency steps step seed seeds dataset model models precision dtype device devices gpus gpu npus npu cards chips tp sp pp dp cache page block tile size clients client resolution temperature "
    "warmup warmups compression level workers nodes driver compiler flags prompt prompts prompt_set shape shapes length context tokens quantization scheduler prefetch depth window fps frames corpus weights tokenizer "
    "image kernel version cpus cores core numa governor frequency clock turbo memory_limit isolation duration workload rate qps_target repetitions iterations optimizer lr width height bits layers heads parallel parallelism "
    "hardware backend mode streams setpoint setpoints preset nominal gain_setting dose dosage exposure voltage pressure_setting 设定 设定值 线程 批量 并发 步数 种子 数据集 模型 精度 设备 分辨率"
)
_INPUTS = family(
    "dataset data corpus prompt prompts input inputs model weights checkpoint tokenizer image images clip workload reference scene suite"
)
_NO_SETTING = family(
    "port ports pid pids hostname host uuid timestamp date started ended finished start end at recorded time times note notes comment comments reason description url arm role variant order position index trial uid "
    "sequence session socket address user author status verdict exit exits http signal signals errors error passed ok id revision commit sha sha256 digest hash checksum patch branch label attempt result results observed "
    "measured elapsed latency throughput mean median p50 p90 p95 p99 min max avg stdev std samples sample rss peak used usage utilization power energy traced profiled 端口 备注 时间 编号"
)
_PLACES = family("path paths dir directory file files folder log logs out output outputs artifact artifacts tmp receipt receipts trace cwd")
_FILLERS = family("num number of n count the size value a nr total default")


def settings(arm: Arm, varied: Iterable[str] = ()) -> dict[Path, Any]:
    """The settings of an arm, by their path inside it: everything under `config` and the like, what is known to be set, and what is declared as `varied`;
    no outcome, id, port, path or time."""
    named = list(varied)
    made: dict[Path, Any] = {}
    for node in islice(walk(arm.value), _MOST):
        if (
            node.path
            and (not isinstance(node.value, (dict, list)) or is_numbers(node.value) or _is_plain(node.value))
            and (_is_setting(node) or any(covers(name, node.path) for name in named))
        ):
            made[node.path] = node.value
    return {place: value for place, value in made.items() if not any(place[:depth] in made for depth in range(1, len(place)))}


def _is_plain(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, (str, bool, Number)) or item is None for item in value)


def _is_setting(node: Node) -> bool:
    key = next((part for part in reversed(node.path) if isinstance(part, str)), "")
    held = held_words(key)
    if not held or isinstance(node.path[-1], int):
        return False
    inside = any(held_words(part) & _CONTAINERS for part in node.path[:-1] if isinstance(part, str))
    if held & _INPUTS and not held & {"out", "output", "outputs", "time", "rate"}:
        return not held & _MEASURES
    if (
        held & _NO_SETTING
        or (held & _PLACES and (held <= _PLACES | {"json", "name", "run"} or held & {"path", "paths", "dir", "directory", "file", "log"}))
        or held <= {"name", "run", "campaign", "container"}
    ):
        return False
    if "name" in held and held & {"run", "arm", "container", "host"}:
        return False
    return inside or (bool(held & _SETTINGS) and not held & _MEASURES)


_MEASURES = family(
    "s ms us seconds elapsed latency throughput mean median p50 p95 p99 observed measured total peak per rate fps_measured score loss accuracy exact equal equality"
)


def differences(left: Arm, right: Arm, varied: Iterable[str] = ()) -> tuple[Difference, ...]:
    """The settings in which two arms differ. One that an arm lacks counts where both have the object that should hold it, and its value sets something."""
    named = list(varied)
    mine, theirs = settings(left, named), settings(right, named)
    made = [
        Difference(place, _shown(mine[place]), _shown(theirs[place])) for place in mine if place in theirs and not _equal(mine[place], theirs[place])
    ]
    for here, there, flipped in ((mine, theirs, False), (theirs, mine, True)):
        shared = {place[:-1] for place in there}
        lone = [
            place
            for place in here
            if place not in there and len(place) > 1 and place[:-1] in shared and here[place] not in (None, False, "", [], "none", "default")
        ]
        lone = [place for place in lone if not any(other[: len(place)] == place for other in there)]
        made += [Difference(place, "" if flipped else _shown(here[place]), _shown(here[place]) if flipped else "") for place in lone]
    return tuple(made)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Number) and isinstance(right, Number):
        return float(left) == float(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, (str, Number)) and isinstance(right, (str, Number)) and not isinstance(left, bool) and not isinstance(right, bool):
        return _shown(left).strip().casefold() == _shown(right).strip().casefold()
    return bool(left is right or left == right)


def _shown(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, list):
        return "[" + ", ".join(_shown(item) for item in value[:6]) + (", …]" if len(value) > 6 else "]")
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)[:80]


# ---------------------------------------------------------------- what is declared to vary

_DECLARES = re.compile(
    r"(?:declared|only|single|sole|independent|test(?:ed)?|changed|varied|varying|manipulated|experimental|treatment|sweep|swept)_(?:variables?|factors?|differences?|parameters?|changes?|knobs?)\Z"
    r"|(?:varied|varies|vary|variables?|factors?|differs?_(?:in|by|only_in)|variable_under_test|factor_under_test|changed_(?:setting|key|keys|settings)|ablat(?:es|ed)|knob|intended_differences?|what_(?:changes|varies)|changes_only)\Z"
)
_DECLARES_ZH = re.compile(r"(?:声明|唯一|自|实验|受试|独立)?变量|变更项|变化项|唯一差异|差异项")
_IN_TEXT = re.compile(
    r"(?:declared|only|single|sole|independent)\s(?:\w{2,12}\s)?(?:variable|factor|difference|change)(?:\s(?:between|of|in)\s(?:the\s)?(?:\w{2,12}\s){1,3})?\s?(?:is|:|=|：)\s?(?P<what>[^.;。；]{2,120})"
    r"|(?:唯一|声明的?|自)(?:的)?变量(?:是|为|：|:)\s?(?P<zh>[^。；]{1,60})",
    re.IGNORECASE,
)


def declared(held: Outline) -> tuple[tuple[Node, str], ...]:
    """(place, name) of every variable that a document declares to vary: `declared_variable: prefetch_depth`, `varied: [a, b]`, `唯一变量`."""
    return tuple(
        (node, name)
        for node in held.nodes(lambda shape: bool(shape) and _declares(shape[-1] or ""), (str, list, dict))
        for name in _names(node.value)
    )


@lru_cache(maxsize=16384)
def _declares(key: str) -> bool:
    return _DECLARES.match("_".join(words(key))) is not None or _DECLARES_ZH.fullmatch(key) is not None


def _names(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if 0 < len(value.strip()) <= 200 else []
    if isinstance(value, list):
        return [name for item in value[:32] for name in _names(item)]
    if isinstance(value, dict):
        named = [v for k, v in value.items() if k in ("name", "key", "variable", "setting", "parameter", "名称") and isinstance(v, str)]
        return named or [str(key) for key in value]
    return []


def declared_in_text(text: str) -> str | None:
    """The variable that a sentence declares: "the only variable is the prefetch depth"."""
    found = _IN_TEXT.search(text)
    return (found["what"] or found["zh"]).strip() if found else None


def undeclared(found: tuple[Difference, ...], names: Iterable[str]) -> tuple[Difference, ...]:
    """The differences that no declared name covers. Where none is covered, one of them may be the declared one under another name."""
    known = list(names)
    rest = tuple(one for one in found if not any(covers(name, one.key) for name in known))
    if len(rest) == len(found) and len(rest) <= len(known):
        return ()
    return rest


def covers(name: str, key: Path) -> bool:
    """True when a declared variable means the setting at `key`."""
    if not isinstance(key[-1], str):
        return False
    said = {stem(word) for word in words(name.replace("/", " ")) if word not in _FILLERS} | set(re.findall(r"[\u3400-\u9fff]+", name))
    leaf = {stem(word) for word in words(str(key[-1])) if word not in _FILLERS}
    whole = {stem(word) for part in key if isinstance(part, str) for word in words(part)}
    last = {stem(word) for word in words(re.split(r"[./]", name.strip())[-1]) if word not in _FILLERS}
    if not said:
        return False
    return (
        (bool(leaf) and leaf <= said)
        or said <= whole
        or (bool(last) and last <= leaf and len(name) < 60)
        or "".join(sorted(leaf)) == "".join(sorted(said))
        or re.sub(r"\W|_", "", name).casefold() == re.sub(r"\W|_", "", str(key[-1])).casefold()
    )
