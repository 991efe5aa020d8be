"""What a file of a bundle's results is: a receipt, a status, a plan, a preflight, a diagnostic; of which arm; completed or not.

The arm is read from fields first (`arm: candidate`, `{"control": …, "candidate": …}`), then from the revision that the run spec gives an arm,
then from the file's name and folder. What none of them says stays unknown: no arm is guessed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rules.core.model import Missing, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, YAML_SUFFIXES, Document, Node, Number, is_document, places, read_json, read_yaml
from rules.reading.keys import family, words
from rules.reading.layout import Bundle
from rules.reading.outline import Column, Outline, Shape, key_of, keys_of
from rules.reading.records import is_records, read_records, source
from rules.reading.references import ZH_REVISION_KEY

Arm = Literal["baseline", "candidate"]
Kind = Literal["receipt", "status", "plan", "preflight", "diagnostic", "manifest", "text"]
State = Literal["completed", "pending", "running", "interrupted", "unknown"]

Contents = Outline | bool | None
"""What a file of the results holds: the places of a document, table or stream; of a log whether it holds text; None where it cannot be read."""

ARM_DEPTH = 4
"""An object under an arm's name is looked into at this depth at most."""
LINES_BYTES = 4 * 1024 * 1024
_RAW_SUFFIXES = (".csv", ".tsv", ".log", ".txt", ".out", *LINES_SUFFIXES)

_BASELINE = family(
    "baseline baselines control controls ctrl reference ref original stock vanilla unmodified unpatched 基线 基准 对照 参考 原始 原版 未修改"
)
_BASELINE_VALUES = _BASELINE | family("base default upstream before old off unoptimized unoptimised")
_CANDIDATE = family(
    "candidate candidates cand treatment treatments treated variant variants optimized optimised patched challenger contender "
    "screen screens screening sweep 候选 优化 处理 改进 优化后 试验"
)
_CANDIDATE_VALUES = _CANDIDATE | family("experiment experimental proposed tuned modified after new on opt fast")
_CHINESE = (("baseline", ("对照", "基线", "基准", "参考", "原始", "原版")), ("candidate", ("候选", "优化", "处理组", "实验组", "试验组", "改进")))
_ARM_KEYS = family("arm arms variant cohort treatment 组 组别 分组 臂 变体")
_WEAK_ARM_KEYS = family("label role group side run name case kind configuration id run_id 标签 角色 名称")
_NEUTRAL = family("warmup all both summary a b ab abba none unknown tbd na null n mixed pair paired comparison total")

_LABELS = family("label side group role 标签 角色")
_NO_ARM = family("run session day night repeat trial warmup cold hot retry attempt rerun smoke check")
_STATE_KEYS = family("state status execution phase progress lifecycle_state 状态 进度 执行")
_PENDING = re.compile(
    r"\b(?:queued?|pending|planned|not[ _-](?:yet[ _-])?(?:run|started|executed|measured|begun)|un(?:started|measured)|waiting|scheduled|reserved|"
    r"to[ _-]do|todo|draft|prospective|prepared|proposed|blocked)\b|排队|待运行|待执行|待测|计划中|未运行|未开始|未执行|尚未|等待",
    re.IGNORECASE,
)
_RUNNING = re.compile(r"\b(?:running|in[ _-]progress|ongoing|started|executing)\b|运行中|进行中|执行中", re.IGNORECASE)
_INTERRUPTED = re.compile(r"\b(?:interrupted|aborted|cancell?ed|killed|stopped)\b|中断|中止|取消", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:completed?|done|finished|ok|success(?:ful)?|succeeded|passed|pass|failed|fail|rejected|accepted|measured|executed|ran)\b|完成|成功|失败|通过",
    re.IGNORECASE,
)
_OUTCOME_KEYS = family("verdict outcome result results adjudication exit observed exact equal passed http 结论 结果 判定 通过")
_MEASURED = family(
    "s ms us ns sec secs second seconds minute minutes latency latencies throughput median mean avg average min max samples sample status exit score "
    "rate loss accuracy psnr ssim vmaf rps qps tps rtf speedup reduction gain elapsed observed measured time times value values bytes gib mib memory "
    "ratio cost count error errors p 耗时 延迟 吞吐 中位数 均值 平均 秒 毫秒 采样 样本"
)
_NO_OUTCOME = family("timeout duration limit budget interval port seed warmups repetitions threads size batch age 超时 时限")
_SETTINGS = family(
    "config configuration settings parameters params workload limits expected planned plan spec environment inputs 配置 参数 设置 计划"
)

_KIND_WORDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("manifest", family("integrity manifest manifests sha checksum checksums sums digests hashes 清单 校验和")),
    ("status", family("status 状态")),
    ("plan", family("plan planned prospective proposal proposed todo runspec 计划 方案 提案")),
    ("preflight", family("preflight smoke dryrun 预检 预飞")),
    ("diagnostic", family("diagnostic diagnostics trace traced traces profile profiled profiling debug 诊断 跟踪 剖析")),
)


@dataclass(frozen=True, slots=True)
class Names:
    """What a bundle calls its arms: names (lower case) and revisions of baseline and candidates, beside the usual words."""

    baseline: frozenset[str] = frozenset()
    candidate: frozenset[str] = frozenset()

    def arm(self, text: str) -> Arm | None:
        """The arm that a name or revision stands for; None where it stands for none, or for both."""
        key = text.strip().lower()
        for arm, known in (("candidate", self.candidate), ("baseline", self.baseline)):
            other = self.baseline if arm == "candidate" else self.candidate
            if key in known and key not in other:
                return arm  # type: ignore[return-value]
        return None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One file of the results. `arms` holds the arms it has an outcome of; empty where nothing says which. `named` is the value of its arm field."""

    path: str
    kind: Kind
    arms: frozenset[Arm]
    state: State
    measured: bool
    named: tuple[str, ...] = ()

    @property
    def completed(self) -> bool:
        """True for an outcome: measured or judged, and neither waiting nor running."""
        return self.kind in ("receipt", "diagnostic") and self.state == "completed"

    @property
    def is_candidate_result(self) -> bool:
        """True for a completed outcome of a candidate: no plan, no status, no preflight, no diagnostic, no baseline."""
        return self.kind == "receipt" and self.state in ("completed", "interrupted") and "candidate" in self.arms


def receipts(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Receipt, ...]:
    """Every file of the bundle's results at `tree` (default head), as what it is, in order of path."""
    tree = tree or snapshot.head
    return snapshot.memo(("receipts", id(tree), bundle.path), lambda: tuple(_of_tree(snapshot, bundle, tree)))


def _of_tree(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[Receipt]:
    for path in results_files(bundle, tree):
        found = receipt(snapshot, bundle, path, tree.files[path].oid, lambda path=path: _contents(snapshot, path, tree))  # type: ignore[misc]
        if found is not None:
            yield found


def receipt(snapshot: Snapshot, bundle: Bundle, path: str, oid: str, held: Callable[[], Contents]) -> Receipt | None:
    """What the blob `oid`, which holds `held()`, is at `path`; kept by object id and by what the bundle calls its arms."""
    names = arm_names(snapshot, bundle)

    def make() -> Receipt | None:
        inside = held()
        return read_receipt(bundle.relative(path), path, inside, names) if inside is not None else None

    return snapshot.cache.by_blob(f"receipt:{path}:{_key(names)}", oid, 512, make)


@lru_cache(maxsize=1024)
def _key(names: Names) -> str:
    said = json.dumps([sorted(names.baseline), sorted(names.candidate)])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def results_files(bundle: Bundle, tree: Tree) -> Iterator[str]:
    """The plain files of `tree` under the bundle's results that may hold an outcome."""
    lead = f"{bundle.path}/{bundle.root.results}/"
    known = bundle.files if all(path in tree.files for path in bundle.files) else sorted(p for p in tree.files if p.startswith(lead))
    for path in known:
        if path.startswith(lead) and tree.files[path].is_file and may_hold_outcome(path):
            yield path


def may_hold_outcome(path: str) -> bool:
    """True for a name that is read as a receipt: JSON, YAML, JSONL, CSV, logs."""
    return is_document(path) or path.lower().endswith(_RAW_SUFFIXES)


def _contents(snapshot: Snapshot, path: str, tree: Tree) -> Contents:
    if is_document(path) or is_records(path):
        found = source(snapshot, path, tree)
        return found.outline if found else None
    entry = tree.files[path]
    if not 0 <= entry.size <= LINES_BYTES:
        return None
    try:
        return snapshot.cache.by_blob("holds text", entry.oid, 64, lambda: bool(tree.read(path).strip()))
    except Missing:
        return None


def contents(path: str, data: bytes) -> Contents:
    """What the bytes of a file of the results hold."""
    if is_document(path):
        found: Document | None = read_yaml(data, path) if path.endswith(YAML_SUFFIXES) else read_json(data, path)
    elif is_records(path):
        found = read_records(data[:LINES_BYTES], path)
    else:
        return bool(data.strip())
    return found.outline if found and found.readable else None


# ---------------------------------------------------------------- one file


def read_receipt(relative: str, path: str, held: Outline | bool, names: Names = Names()) -> Receipt:
    """What a file is, from its path inside the bundle and what it holds."""
    stem = relative.rpartition("/")[2].rpartition(".")[0] or relative
    if isinstance(held, bool):
        return Receipt(path, _kind(stem, _NOTHING), _arms_of_path(relative, names), "completed" if held else "unknown", held)
    named, arms = _arms_of_fields(held, names)
    arms = arms or _arms_of_revisions(held, names) or _arms_of_path(relative, names)
    measured = any(map(_measures, held.columns))
    state = _state(held, measured)
    kind = _kind(stem, held)
    if kind == "plan" and measured and state != "pending":
        kind = "receipt"  # the plan of a query is measured, the plan of a run is not
    elif kind == "receipt" and state == "pending" and not measured:
        kind = "plan"
    return Receipt(path, kind, arms, state, measured, named)


_NOTHING = Outline(())


def _kind(stem: str, held: Outline) -> Kind:
    """By the file's name; then by what a field of the document's top calls it."""
    said = [stem] + [node.value for node in held.nodes(lambda shape: len(shape) == 1 and shape[0] in ("kind", "type", "record", "label"), str)]
    for text in said:
        told = frozenset(words(text))
        found = next((kind for kind, known in _KIND_WORDS if known & told), None)
        if found:
            return found
    flags = held.nodes(lambda shape: len(shape) == 1 and shape[0] is not None and bool(_TRACED & set(words(shape[0]))), bool)
    return "diagnostic" if any(node.value for node in flags) else "receipt"


_TRACED = family("traced diagnostic profiled")


def _measures(column: Column) -> bool:
    """True where a number, or a list of numbers, stands under a key that names an outcome, outside settings."""
    return _may_measure(column.shape) and (
        column.holds(Number)
        or (list in column.types and any(isinstance(held, list) and held and isinstance(held[0], Number) for held in column.values))
    )


@lru_cache(maxsize=8192)
def _may_measure(shape: Shape) -> bool:
    held = set(words(key_of(shape)))
    return bool(held & _MEASURED) and not held & _NO_OUTCOME and not any(_SETTINGS & set(words(part)) for part in shape[:-1] if part is not None)


def _state(held: Outline, measured: bool) -> State:
    """What the document's own state fields say; else completed where it holds an outcome."""
    fields = held.distinct(lambda shape: len(shape) <= 2 and bool(_STATE_KEYS & set(words(key_of(shape)))), str)
    texts = [node.value for node in fields if len(node.value) < 500]
    for pattern, state in ((_PENDING, "pending"), (_RUNNING, "running"), (_INTERRUPTED, "interrupted"), (_DONE, "completed")):
        if any(pattern.search(text) for text in texts):
            return "completed" if measured and state == "running" and _has_end(held) else state  # type: ignore[return-value]
    judged = held.where(lambda shape: bool(shape) and bool(_OUTCOME_KEYS & set(words(key_of(shape)))), (str, bool, Number))
    return "completed" if measured or any(isinstance(v, (str, bool, Number)) and v != "" for column in judged for v in column.values) else "unknown"


def _has_end(held: Outline) -> bool:
    return bool(held.where(lambda shape: bool(_ENDED & set(words(key_of(shape)))), str))


_ENDED = family("finished ended completed")


# ---------------------------------------------------------------- arms


def arm_of_text(text: str, names: Names, *, value: bool = True) -> frozenset[Arm]:
    """The arms that a name speaks of. `value`: the text is the value of an arm's field, where also weaker words (`new`, `default`) tell."""
    exact = names.arm(text)
    return frozenset({exact}) if exact else _arms_said(text[:2000], value)


@lru_cache(maxsize=16384)
def _arms_said(text: str, value: bool) -> frozenset[Arm]:
    held = set(words(text))
    found: set[Arm] = set()
    if held & (_BASELINE_VALUES if value else _BASELINE):
        found.add("baseline")
    if held & (_CANDIDATE_VALUES if value else _CANDIDATE):
        found.add("candidate")
    for arm, known in _CHINESE:
        if any(word in text for word in known):
            found.add(arm)  # type: ignore[arg-type]
    return frozenset(found)


def _arms_of_fields(held: Outline, names: Names) -> tuple[tuple[str, ...], frozenset[Arm]]:
    """(values of the arm fields, each once; the arms that fields speak of)."""
    named = tuple(dict.fromkeys(node.value for node in held.distinct(_names_arm, str)))
    strong = {arm for text in named for arm in arm_of_text(text, names)}
    weak = {arm for node in held.distinct(_labels_run, str) for arm in arm_of_text(node.value, names, value=False)}
    for column in held.where(lambda shape: len(_arms_of_key(shape)) == 1):
        strong |= _arm_as_key(column, held)
    return named, frozenset(strong or weak)


@lru_cache(maxsize=8192)
def _names_arm(shape: Shape) -> bool:
    """True for the place of an arm's field."""
    held = words(shape[-1] or "") if shape else ()
    return bool(held) and (held[-1] in _ARM_KEYS or (held[0] in _ARM_KEYS and held[-1] in {"name", "id", "label"}))


@lru_cache(maxsize=8192)
def _labels_run(shape: Shape) -> bool:
    """A label at the document's top, or in an element of a list: there it names the run itself."""
    return not _names_arm(shape) and bool(shape) and bool(set(words(shape[-1] or "")) & _WEAK_ARM_KEYS) and (len(shape) == 1 or shape[-2] is None)


@lru_cache(maxsize=8192)
def _arms_of_key(shape: Shape) -> frozenset[Arm]:
    key = shape[-1] if shape else None
    return _arms_said(key, False) if key is not None and not set(words(key)) & (_SETTINGS | _SOURCE_WORDS) else frozenset()


def _arm_as_key(column: Column, held: Outline) -> frozenset[Arm]:
    """`{"candidate": {… measured …}}`, `candidate_s: 365.884`, `candidate: two-level`."""
    shape, found = column.shape, _arms_of_key(column.shape)
    alone = len(words(shape[-1] or "")) == 1
    is_name = _names_arm(shape) or _labels_run(shape)
    if alone and found == {"candidate"} and not is_name and any(_is_choice(node.value) for node in held.distinct(shape.__eq__, str)):
        return found
    if _measures(column) or (alone and any(isinstance(value, (Number, list)) and bool(value) for value in column.values)):
        return found
    inside = len(shape) <= ARM_DEPTH and any(_measures(one) for one in held.columns if one.shape[: len(shape)] == shape)
    return found if inside and dict in column.types else frozenset()


def _is_choice(text: str) -> bool:
    return not re.search(r"\b(?:un(?:selected|decided|known)|none|tbd|n/?a|pending|not)\b|待定|未选|无", text, re.IGNORECASE) and 0 < len(text) < 200


def _arms_of_revisions(held: Outline, names: Names) -> frozenset[Arm]:
    found = {names.arm(sha) for _, sha in source_revisions(held)}
    return frozenset(arm for arm in found if arm) if None not in found else frozenset()


def _arms_of_path(relative: str, names: Names) -> frozenset[Arm]:
    """By the file's name; where that says nothing by its folders, the nearest first."""
    for part in reversed(relative.split("/")[1:]):
        stem = part.rpartition(".")[0] or part
        found = arm_of_text(stem, names, value=False)
        if found:
            return found
    return frozenset()


def arm_names(snapshot: Snapshot, bundle: Bundle) -> Names:
    """What the plan's documents and the receipts' own arm fields at head call the arms."""
    return snapshot.memo(("arm names", bundle.path), lambda: _arm_names(snapshot, bundle))


def _arm_names(snapshot: Snapshot, bundle: Bundle) -> Names:
    baseline, candidate = set[str](), set[str]()
    for path in bundle.part("plan"):
        for node in places(snapshot, path).nodes(bool, str):
            target = _named_by_plan(node)
            if target:
                (baseline if target[0] == "baseline" else candidate).update(target[1])
    known = Names(frozenset(baseline), frozenset(candidate))
    return Names(known.baseline, known.candidate | _other_arms(snapshot, bundle, known))


def _named_by_plan(node: Node) -> tuple[Arm, set[str]] | None:
    """A name or a revision that the plan gives to an arm: under `baseline`/`candidates`, or beside a name or role that says which."""
    if not isinstance(node.value, str) or not node.path or not 0 < len(node.value.strip()) <= 80:
        return None
    held = set(words(node.key))
    is_name = bool(held & family("name id label arm variant revision commit sha rev 名称")) or isinstance(node.path[-1], int)
    above = " ".join(part for part in node.path if isinstance(part, str))
    said = arm_of_text(above, Names(), value=False)
    if not said and isinstance(node.parent, dict):
        roles = [v for k, v in node.parent.items() if isinstance(v, str) and set(words(k)) & family("name role arm kind label variant 角色 名称")]
        said = frozenset(arm for role in roles for arm in arm_of_text(role, Names()))
    if len(said) != 1 or not (is_name or arm_of_text(str(node.path[-1]), Names(), value=False)):
        return None
    return next(iter(said)), {node.value.strip().lower()}


def _other_arms(snapshot: Snapshot, bundle: Bundle, known: Names) -> frozenset[str]:
    """Arms that the receipts name and that are not the baseline, where one of the receipts is the baseline's."""
    named = [n for path in results_files(bundle, snapshot.head) if is_document(path) for n in _named(snapshot, path)]
    told = [(text, arm_of_text(text, known)) for text in dict.fromkeys(named) if not set(words(text)) & _NO_ARM]
    if not any(arms == {"baseline"} for _, arms in told):
        return frozenset()
    return frozenset(t.strip().lower() for t, arms in told if not arms and not set(words(t)) <= _NEUTRAL and _is_choice(t))


def _named(snapshot: Snapshot, path: str) -> tuple[str, ...]:
    """The values of a document's arm fields; where it has none, its top's label. Kept by object id."""

    def make() -> tuple[str, ...]:
        held = places(snapshot, path)
        labels = held.nodes(lambda shape: len(shape) == 1 and (shape[0] or "").lower() in _LABELS, str)
        return _arms_of_fields(held, Names())[0] or tuple(node.value for node in labels if _is_name(node.value))

    return snapshot.cache.by_blob("arm fields", snapshot.head.files[path].oid, 256, make)


def _is_name(text: str) -> bool:
    """Three words at most, without a number: `tiered`, `two-level table`, not `session 2`."""
    return 0 < len(words(text)) <= 3 and not any(word.isdigit() for word in words(text))


# ---------------------------------------------------------------- source revisions

_SOURCE_WORDS = family("revision revisions commit commits sha rev head 版本 提交 修订")
_FOREIGN = family(
    "dataset datasets data corpus suite harness bench benchmark model weights checkpoint tokenizer image docker container driver firmware toolkit "
    "evidence record manifest schema validator judge scorer tool tools parent prompt prompts fixture fixtures reviewed report cann cuda sdk "
    "compiler toolchain site docs tree blob 数据 数据集 模型 权重 镜像 工具"
)
_FOREIGN_ZH = re.compile(r"数据|模型|权重|镜像|工具|脚本|测试框架|校验|清单|文档")
_REVISION = re.compile(r"[0-9a-fA-F]{7,40}\Z")


def source_revisions(held: Outline) -> Iterator[tuple[Node, str]]:
    """(place, lower-case hex) of every revision a document says its outcome was made with; those of data sets, models, harnesses… are left out."""
    for node in held.nodes(_is_revision, str):
        if _REVISION.match(node.value.strip()) and not _is_other_object(node):
            yield node, node.value.strip().lower()


@lru_cache(maxsize=8192)
def _is_revision(shape: Shape) -> bool:
    said = {word for part in keys_of(shape) for word in words(part)}
    key = key_of(shape)
    named = bool(set(words(key)) & _SOURCE_WORDS) or ZH_REVISION_KEY.search(key) is not None
    return named and not said & (_FOREIGN | {"256"}) and not any(_FOREIGN_ZH.search(part) for part in keys_of(shape))


def _is_other_object(node: Node) -> bool:
    """The object beside it says that it is a data set, a harness, …: `{"kind": "dataset", "revision": …}`."""
    if not isinstance(node.parent, dict) or len(node.path) < 2:
        return False
    beside = (v for k, v in node.parent.items() if k in ("name", "kind", "type", "role", "what") and isinstance(v, str))
    return any(set(words(text)) & _FOREIGN for text in beside)
