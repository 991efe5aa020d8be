"""A text says that nothing is frozen, or that no search has begun, and the bundle shows the opposite

What it checks: sentences in the texts and documents under `plan/` and `validator/` that deny a frozen validator or gate, or the start of the
search, against the validators and gates that a manifest lists at head, and against the candidates' results at head.

Why: the freeze record is what a reader opens to learn what was fixed when. One that denies its own gates cannot show that they came first.

Fix: leave the old text as it is where it is hash-pinned, label it as the snapshot that it is, and add a newer record beside it that says what is
frozen since when; where it is not pinned, correct the sentence.

Example: `validator/README.md` says "No candidate validator is frozen yet", and `validator-v2/compare.py` is listed in a manifest.

Not flagged: a sentence that is true; rules about the order ("no search may begin before …"); a file labelled as the preflight snapshot where a
newer record exists; dated statements in the past tense.

Strength: high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Bundle, Finding, Item, Location, Missing, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.documents import Node, document, is_document, nodes
from rules.reading.gates import gates, validators
from rules.reading.keys import words
from rules.reading.manifests import listed_by, target
from rules.reading.receipts import receipts
from rules.reading.statements import Statement, mentions, statements, string_statements
from rules.reading.words import FROZEN

_W = r"(?:[\w'’/-]{1,30}\s)"
_VALIDATOR = r"(?:validators?|judges?|checkers?|verifiers?|scorers?|graders?|validation (?:scripts?|code))"
_GATE = (
    r"(?:gates?|acceptance (?:records?|criteria|criterion|rules?|gates?|files?|checklists?|limits?|thresholds?|conditions?)|acceptance|(?:gate )?checklists?|"
    r"thresholds?|criteria|criterion|pass(?:ing)? (?:rules?|conditions?))"
)
_FIXED = r"(?:frozen|froze|pinned|locked|fixed|finali[sz]ed|final|sealed|settled|hashed|committed to|in force|in place|written|defined|chosen|decided|agreed|ready|set)"
_BE = r"(?:(?:is|are|was|were|has|have|had|been|being|be|yet|currently|so far|still|now|already|as of now|ever|formally|today|at present)\s)"
_NOT = r"(?:not|never|hardly|(?:is|are|was|were|has|have|had|did|does|do)n[’']t)"
_ZH_VALIDATOR = r"(?:校验器|验证器|校验脚本|验证脚本|校验程序|验证程序|评判器|判定脚本|检查脚本)"
_ZH_GATE = r"(?:门槛|闸门|门控|门禁|验收(?:标准|条件|门槛|规则|记录|指标)?|判据|阈值|准则)"
_ZH_FIXED = r"(?:冻结|固定|锁定|定稿|固化|钉住|封存|确定|敲定|写好|编写|制定)"
_ZH_NOT = r"(?:尚未|还未|仍未|并未|未曾|从未|还没有|还没|没有|尚没有|未)"
_SEARCH = (
    r"(?:(?:candidate |parameter |design |optimi[sz]ation |variant )?(?:search(?:es)?|exploration|sweeps?|screening|tuning)|"
    r"(?:candidates?|variants?|treatments?)(?:\s(?:runs?|experiments?|measurements?|results?|trials?|screens?|arms?|tests?|requests?|benchmarks?))?)"
)
_BEGUN = (
    r"(?:begun|began|begin|start(?:ed)?|run|ran|launched|executed|measured|tried|tested|evaluated|attempted|performed|made|exists?|taken|conducted|collected|recorded|"
    r"under ?way|taken place|benchmarked|screened|available|existing)"
)
_ZH_SEARCH = r"(?:搜索|寻优|调优|筛选|候选|实验组|变体|优化试验|优化实验)"
_ZH_BEGUN = r"(?:开始|启动|开展|进行|运行|执行|测量|测试|测得|展开|跑|产生|尝试)"


def _denials(noun: str, verb: str, zh_noun: str, zh_verb: str) -> re.Pattern[str]:
    """The ways to deny that `noun` is `verb`; every part is bounded."""
    return re.compile(
        rf"(?<![\w-])(?:(?:no|none of the|neither)\s{_W}{{0,4}}?{noun}\s(?:or {_W}{{1,3}})?{_W}{{0,2}}?{_BE}{{0,4}}{verb}"
        rf"|{noun}\s{_W}{{0,5}}?{_BE}{{0,3}}{_NOT}\s{_BE}{{0,3}}(?:to\s)?{verb}"
        rf"|{_NOT}\s{_BE}{{0,2}}{verb}\s(?:any|a|the|our|its|all)?\s?{_W}{{0,2}}?{noun}"
        rf"|{noun}\s{_W}{{0,4}}?(?:yet|still|remains?)\sto\s(?:be\s)?{verb}"
        rf"|{noun}(?:\s{_W}{{0,2}}?|\s?)(?:(?:status|state)\s)?[:|：]\s?(?:{_NOT}\s(?:yet\s)?{verb}|none(?:\syet)?\b|no\b|pending\b|nothing\b)"
        rf"|nothing\s(?:here\s)?{_BE}{{1,4}}{verb}(?:\s(?:yet|so far)|\Z|[.,;])"
        rf"|(?:there (?:is|are) )?no\s{_W}{{0,2}}?{noun}\s(?:yet|so far|exists?|available)(?![\w-])"
        rf"|{noun}\s{_W}{{0,4}}?un(?:frozen|pinned|locked|started|run|measured|tested)(?![\w-]))"
        rf"|{zh_noun}[^，。；]{{0,10}}?{_ZH_NOT}[^，。；]{{0,4}}?{zh_verb}|{_ZH_NOT}[^，。；]{{0,6}}?{zh_verb}[^，。；]{{0,8}}?{zh_noun}"
        rf"|(?:尚无|暂无|没有|并无|还没有|无)(?:任何|已经|已|被){{0,2}}[^，。；]{{0,3}}{zh_verb}的?[^，。；]{{0,6}}{zh_noun}"
        rf"|(?:尚无|暂无|没有任何|还没有任何|尚未有|没有)[^，。；]{{0,4}}{zh_noun}|{zh_noun}[^，。；]{{0,6}}(?:有待|待|尚待){zh_verb}",
        re.IGNORECASE,
    )


_ONLY_BASELINE = re.compile(
    r"(?<![A-Za-z])only\s(?:the\s)?(?:baselines?|controls?|reference(?: arm)?)\s(?:run\s|arm\s)?(?:is|has|have|was|were)\s(?:been\s)?(?:run|measured|executed|recorded|tested)"
    r"|(?:仅|只)(?:测量?|运行|执行|跑)了?(?:基线|对照)|只有(?:基线|对照)",
    re.IGNORECASE,
)
_FROZEN_GATE = r"frozen\s(?:[\w-]{1,20}\s){0,2}"
_DENIED: dict[str, re.Pattern[str]] = {
    "validator": _denials(rf"(?:{_FROZEN_GATE})?{_VALIDATOR}", _FIXED, _ZH_VALIDATOR, _ZH_FIXED),
    "gate": _denials(rf"(?:{_FROZEN_GATE})?{_GATE}", _FIXED, _ZH_GATE, _ZH_FIXED),
    "search": _denials(_SEARCH, _BEGUN, _ZH_SEARCH, _ZH_BEGUN),
}
_UNDECIDED = re.compile(
    rf"(?<![\w-])(?P<noun>{_VALIDATOR}|{_GATE})\s{_W}{{0,2}}?(?:(?:is|are)\s(?:still\s)?(?:undecided|unfrozen|unpinned|unlocked|unset|provisional|in flux)|(?:remains?|stays?|(?:is|are)\sstill)\s(?:undecided|unfrozen|unpinned|unlocked|unset|open|provisional|in flux|tentative))(?![\w-])",
    re.IGNORECASE,
)
# Of another campaign or a later round: not what is frozen here.
_OF_ANOTHER = re.compile(
    r"(?<![A-Za-z])(?:another|other|next|second|third|later|future|follow-?up|sibling|previous|successor)\s(?:campaign|round|phase|study|series|bundle|search|validator|checker|gate)|(?:另一|下一|后续|其他|第二)(?:个|轮|期|项)?(?:活动|战役|实验|阶段|搜索)",
    re.IGNORECASE,
)
_NO_FROZEN = re.compile(
    rf"(?<![\w-])no\s(?:[\w-]{{1,20}}\s){{0,2}}?{_FIXED}\s(?:[\w-]{{1,20}}\s){{0,2}}?(?P<noun>{_VALIDATOR}|{_GATE})(?![\w-])", re.IGNORECASE
)
_OTHER_PREDICATE = re.compile(
    r"(?<![A-Za-z])(?:changed|edited|modified|altered|violated|relaxed|failed|missed|touched|moved|lowered|raised|affected|without|regress\w{0,6}|differ\w{0,4})(?![A-Za-z])"
    r"|修改|更改|变更|放宽|违反|调整|改动",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"(?<![A-Za-z])(?:at (?:that|the) time|at first|initially|originally|back then|by then|as of \d|on \d{1,4}|in the beginning)(?![A-Za-z])|当时|起初|最初|彼时|截至|\d{4}-\d{2}-\d{2}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d|(?<![A-Za-z])(?:two|four|eight|sixteen|second|third)(?![A-Za-z])|[二四八]卡", re.IGNORECASE)
_LABEL = re.compile(
    r"(?<![A-Za-z])(?:snapshot|archived?|historical|history|superseded|kept as (?:it (?:was|is)|is|written)|left as (?:it was|is)|no longer current|state (?:of|as of|before))(?![A-Za-z])"
    r"|快照|存档|归档|历史(?:记录|版本)|已被.{0,20}取代|保持原样|原样保留",
    re.IGNORECASE,
)
_PATHLIKE = re.compile(r"(?<![\w./-])(?:[\w.-]{1,60}/){0,5}[\w-][\w.-]{0,80}\.(?:md|json|ya?ml|txt)(?![\w-])")
_YET_TO = re.compile(r"(?:yet|still|remains?)\sto|待", re.IGNORECASE)
# A label that demands (`Gates: …`) may also say how things stand.
_STATE_LABEL = re.compile(r"\W{0,4}[\w /-]{1,40}[:：] ?(?:not (?:yet )?[a-z]|none|no\b|pending|尚未|还没|未|没有|无|暂无)", re.IGNORECASE)
_HEAD_STATEMENTS = 6


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    pinned = _pinned(snapshot, bundle)
    if not any(pinned.values()):
        return
    for path in dict.fromkeys((*bundle.part("plan"), *bundle.part("validator"))):
        denied = list(_denied(snapshot, bundle, path, pinned))
        if denied and not _is_old_snapshot(snapshot, bundle, path):
            yield _finding(snapshot, bundle, path, denied, pinned)


def _pinned(snapshot: Snapshot, bundle: Bundle) -> dict[str, list[str]]:
    """What each kind of denial runs against: listed validators, listed gates, results of candidates."""
    listed = listed_by(snapshot, bundle)
    judges = [path for path in validators(snapshot, bundle) if path in listed]
    records = [gate.path for gate in gates(snapshot, bundle) if gate.path in listed and not gate.draft]
    return {"validator": judges, "gate": records, "search": [r.path for r in receipts(snapshot, bundle) if r.is_candidate_result]}


@dataclass(frozen=True, slots=True)
class Denied:
    """One sentence or value that denies what is there. `kinds`: validator, gate, search."""

    kinds: tuple[str, ...]
    text: str
    location: Location


def _denied(snapshot: Snapshot, bundle: Bundle, path: str, pinned: dict[str, list[str]]) -> Iterator[Denied]:
    if path.lower().endswith((".md", ".markdown")):
        for one in statements(snapshot, path):
            kinds = tuple(kind for kind in _kinds(one) if pinned[kind])
            if kinds:
                yield Denied(kinds, one.text, one.location())
    elif path.lower().endswith((".txt", ".rst")):
        for one in string_statements(_plain_text(snapshot, path), path):
            kinds = tuple(kind for kind in _kinds(one) if pinned[kind])
            if kinds:
                yield Denied(kinds, one.text, one.location())
    elif is_document(path) and path not in {gate.path for gate in gates(snapshot, bundle)}:
        for node in nodes(snapshot, path)[1:]:
            text = _as_text(node)
            kinds = tuple(dict.fromkeys(kind for one in string_statements(text, path) for kind in _kinds(one) if pinned[kind])) if text else ()
            if kinds:
                yield Denied(kinds, text, Location(path, pointer=node.pointer))


def _plain_text(snapshot: Snapshot, path: str) -> str:
    entry = snapshot.head.files[path]
    if not entry.is_file or not 0 <= entry.size <= snapshot.config.limits.markdown:
        return ""
    try:
        return snapshot.head.read(path).decode("utf-8", "replace")
    except Missing:
        return ""


def _as_text(node: Node) -> str:
    """A value with its key, as a sentence would say it: `candidate_search: not started`, `gates_frozen: false`."""
    key = " ".join(words(node.key))
    if isinstance(node.value, str) and node.value:
        return node.value[:2000] if len(node.value.split()) > 3 or re.search(r"[一-鿿]{4}", node.value) else f"{key}: {node.value}"
    if node.value is False:
        parts = list(words(node.key))
        verb = next((w for w in parts if re.fullmatch(f"{_FIXED}|{_BEGUN}", w)), "")
        rest = " ".join(w for w in parts if w not in {verb, "is", "has", "any", "count", "number", "num"})
        if verb:
            return f"{rest} not {verb}"
    return ""


def _kinds(one: Statement) -> tuple[str, ...]:
    """What a sentence denies, by the clauses that the author asserts of the present. A row's cells are read as label and value."""
    if one.kind == "row" and one.standing == "asserted":
        return tuple(dict.fromkeys(kind for said in string_statements(one.text.replace(" | ", ": ")) for kind in _kinds(said)))
    labelled = _STATE_LABEL.match(one.text) is not None
    found: dict[str, None] = {}
    for clause in one.clauses:
        asserted = clause.standing == "asserted" or (clause.standing == "required" and labelled)
        if (
            clause.hedge
            or _OF_ANOTHER.search(clause.text)
            or not (asserted or clause.standing == "planned")
            or _OTHER_PREDICATE.search(clause.text)
            or _PAST.search(clause.text)
        ):
            continue
        for kind in _denied_in(clause.text, asserted):
            found[kind] = None
    return tuple(found)


def _denied_in(text: str, asserted: bool) -> Iterator[str]:
    """What a clause denies; in a planned one only that something is `yet to be` done."""
    for kind, pattern in _DENIED.items():
        match = pattern.search(text)
        if match and (asserted or _YET_TO.search(match[0])) and not _is_qualified(kind, text[match.end() :]):
            yield kind
    if asserted and _ONLY_BASELINE.search(text):
        yield "search"
    frozen = _NO_FROZEN.search(text) or _UNDECIDED.search(text) if asserted else None
    if frozen:
        yield "validator" if re.fullmatch(_VALIDATOR, frozen["noun"], re.IGNORECASE) else "gate"


def _is_qualified(kind: str, rest: str) -> bool:
    """`no candidate was run on eight devices` denies less than the search."""
    return kind == "search" and _NUMBERED.search(rest) is not None


# ---------------------------------------------------------------- snapshots


def _is_old_snapshot(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    """The file calls itself a snapshot, and a newer record exists: one that it names, or another text that says what is frozen."""
    label = _label(snapshot, path)
    return bool(_LABEL.search(label)) and (
        _names_another(snapshot, bundle, path) or any(_affirms(snapshot, bundle, other) for other in bundle.files if other != path)
    )


def _label(snapshot: Snapshot, path: str) -> str:
    """The file's name, its headings and first sentences, or the strings at a document's top."""
    name = " ".join(words(path.rpartition("/")[2]))
    if is_document(path):
        return "\n".join([name, *(n.value for n in nodes(snapshot, path) if len(n.path) == 1 and isinstance(n.value, str))])
    held = statements(snapshot, path)
    return "\n".join([name, *(one.text for one in held[:_HEAD_STATEMENTS] if not _kinds(one))])


def _names_another(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    doc = document(snapshot, path) if is_document(path) else None
    text = doc.text if doc else "\n".join(s for one in statements(snapshot, path) for s in (one.text, *(span.text for span in one.code_spans)))
    return any(
        found and found != path for name in _PATHLIKE.findall(text[:100_000]) for found in [target(snapshot, snapshot.head, bundle, path, name)]
    )


def _affirms(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    """A text of the plan or the validator that says, without denying it, that a validator or gate is frozen."""
    if not path.lower().endswith((".md", ".markdown")) or bundle.part_of(path) not in ("plan", "validator"):
        return False
    return any(m.is_claimed and not _kinds(one) for one in statements(snapshot, path) for m in mentions(one, FROZEN))


# ---------------------------------------------------------------- words

_SAID = {"validator": "that no validator is frozen", "gate": "that no gate is frozen", "search": "that no candidate has been run"}
_SHOWN = {
    "validator": "a manifest lists the validator",
    "gate": "a manifest lists the gate record",
    "search": "the bundle holds the candidate result",
}


def _finding(snapshot: Snapshot, bundle: Bundle, path: str, denied: list[Denied], pinned: dict[str, list[str]]) -> Finding:
    kinds = list(dict.fromkeys(kind for one in denied for kind in one.kinds))
    manifest = listed_by(snapshot, bundle).get(path)
    shown = "; ".join(f"{_SHOWN[kind]} {_names(bundle, pinned[kind])}" for kind in kinds)
    text = " ".join(f"“{excerpt(one.text)}”" for one in denied[:3])
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{bundle.relative(path)} says {' and '.join(_SAID[kind] for kind in kinds)}",
        problem=f"`{bundle.relative(path)}` says {text} At head {shown}."
        + (f" The text is hash-pinned by `{bundle.relative(manifest.path)}`, so it will go on saying so." if manifest else ""),
        impact="The record of the freeze denies what it should prove, so it cannot show that the gates came before the search.",
        next=(
            f"Leave the pinned text unchanged; add a record beside it that says what is frozen since which commit, list that in a manifest of its own "
            f"beside `{bundle.relative(manifest.path)}`, and let it call the old text the preflight snapshot (commit a file)."
            if manifest
            else "Correct the sentence, or label the text as the snapshot of its date and add a record of what is frozen since when (edit text)."
        ),
        locations=(
            *(one.location for one in denied[:20]),
            *(Location(manifest.path, role="manifest") for _ in range(1) if manifest),
            *(Location(p, role="result" if kind == "search" else "gate") for kind in kinds for p in pinned[kind][:3]),
        ),
        evidence=tuple((kind, file) for kind in kinds for file in pinned[kind][:3]),
        roots=(f"freeze:{bundle.path}",),
    )


def _names(bundle: Bundle, paths: list[str]) -> str:
    shown = ", ".join(f"`{bundle.relative(path)}`" for path in paths[:3])
    return shown + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


RULE = Rule(
    "freeze-record-contradicted",
    "freeze",
    Severity.HIGH,
    each=each,
    norms=(("freeze", "before", "search"), ("frozen", "record"), ("manifest", "immutable"), ("冻结", "记录")),
)
