"""How far the committed files say their own evidence goes: author-reported, unverified, external; and what a text claims beyond that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Location, Snapshot
from rules.reading.documents import Node, document, is_document, pointer
from rules.reading.inventory import inventories, registered
from rules.reading.keys import family, words
from rules.reading.layout import Bundle, documents_in_scope
from rules.reading.statements import Clause, Statement, mentions, statements
from rules.reading.words import AUTHOR_REPORTED, CLEAN_END, EXTERNAL, FORCED_END, has_word
from rules.reading.words import family as spoken_family

# ---------------------------------------------------------------- what a text claims

_BY_WHOM = r"(?:independently|locally|externally|fully|thoroughly|formally|separately|end[- ]to[- ]end|third[- ]party|completely|publicly)"
_CHECKED = r"(?:verified|validated|reproduced|confirmed|replicated|audited|certified|cross-checked|double-checked|corroborated)"
_VERIFIED = re.compile(
    rf"(?<![A-Za-z-])(?:{_BY_WHOM}[\s-]{{1,2}}(?:re-?)?(?:{_CHECKED}|reproducible|verifiable)|(?:{_CHECKED})\s+(?:{_BY_WHOM}|by (?:an? |the )?(?:independent|second|third|other|external|another)\b)"
    r"|independent (?:verification|reproduction|validation|replication|confirmation)|fully reproducible)(?![A-Za-z])"
    r"|(?:独立|本地|第三方|他人|外部|完整)(?:地)?(?:方)?(?:已)?(?:验证|复现|核实|证实|确认|审计|复核)|(?:经|由)(?:过)?(?:独立|第三方|外部).{0,6}?(?:验证|复现|核实|证实|确认|审计|复核)",
    re.IGNORECASE,
)
_BARE_VERIFIED = re.compile(
    rf"(?<![A-Za-z-])(?:is|are|was|were|been|all|now|,|and)\s+(?:now |all |already )?{_CHECKED}(?![A-Za-z-])|(?:均|都|全部|已|已经|经过)(?:得到)?(?:验证|复现|核实|证实)",
    re.IGNORECASE,
)
_MEASUREMENTS = re.compile(
    r"\b(?:measurements?|results?|numbers?|figures?|timings?|gains?|speed-?ups?|improvements?|reductions?|benchmarks?|latenc(?:y|ies)|throughput|claims?|performance|changes?|evidence|data)\b"
    r"|测量|结果|数据|数字|提升|加速|性能|延迟|吞吐|改动|证据",
    re.IGNORECASE,
)
_SOFTWARE = re.compile(
    r"\b(?:hash(?:es)?|digests?|checksums?|sha-?256|manifests?|inventor(?:y|ies)|schemas?|tests?|lint|ruff|mypy|ci|links?|format(?:ting)?|syntax|signatures?|counts?|json|yaml|paths?|licen[cs]e)\b|哈希|清单|校验和|测试",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"(?<![A-Za-z-])(?:retained|committed|included|checked[- ]in|attached|archived|bundled|preserved|kept|stored|published|available|provided|uploaded|enclosed|saved|shipped|present)(?![A-Za-z-])"
    r"|保留|提交|附上|附有|附带|随附|收录|归档|保存|入库|留存|提供|包含",
    re.IGNORECASE,
)
_ARTIFACT = re.compile(
    r"(?<![A-Za-z-])(?:(?P<raw>raw) (?:\w{1,24} ){0,2}?(?:data|outputs?|samples?|media|recordings?|results?|files?|measurements?|timings?|artifacts?|frames?|evidence|records?)"
    r"|(?:(?:raw|server|worker|device|full|complete|benchmark|run|console|profiler|original) ){0,3}(?P<noun>logs?|traces?|transcripts?|dumps?|profiles?|harness|stdout|captures?|recordings?))(?![A-Za-z-])"
    r"|(?P<zh>(?:原始)?(?:日志|轨迹|追踪)|原始(?:数据|输出|样本|记录|文件|产物|结果))",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:outside|elsewhere|externally|external|on (?:the|my|our) (?:[\w'’]{1,20} ){0,2}(?:host|machine|server|disk|workstation|cluster|node)|(?:kept|stored|retained|saved|available) locally|locally (?:kept|stored|retained|saved)|offline|privately|on request|unavailable|not in (?:this|the))\b|外部|仓库外|本机|主机上",
    re.IGNORECASE,
)
_NEAR = 60
_STEMS = {
    "log": "log",
    "trac": "trace",
    "transcript": "transcript",
    "dump": "dump",
    "profil": "profile",
    "harness": "harness",
    "stdout": "stdout",
    "captur": "capture",
    "recording": "recording",
}
_ZH_STEMS = {"日志": "log", "轨迹": "trace", "追踪": "trace"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What one statement claims: `verified`, or `retained` with the kind of artifact (`log`, `trace`, …, `raw`)."""

    statement: Statement
    what: str
    shown: str
    artifact: str = ""


def claims(statement: Statement) -> Iterator[Claim]:
    """The claims of verification and of retained artifacts that the author asserts in `statement`, undenied and without a hedge."""
    for clause in statement.clauses:
        if clause.standing != "asserted" or has_word(clause.text, AUTHOR_REPORTED):
            continue
        verified = _verified(clause)
        if verified:
            yield Claim(statement, "verified", verified)
        kept = _retained(clause)
        if kept:
            yield Claim(statement, "retained", kept[0], kept[1])


_SUBJECTS = (
    ("server", re.compile(r"\b(?:servers?|daemons?|services?|backends?|brokers?)\b|服务", re.IGNORECASE)),
    ("worker", re.compile(r"\b(?:workers?|ranks?|replicas?|agents?|executors?|nodes?)\b|工作进程|进程组|节点", re.IGNORECASE)),
    ("container", re.compile(r"\b(?:containers?|pods?|images?)\b|容器", re.IGNORECASE)),
    ("client", re.compile(r"\b(?:clients?|drivers?|harness|load generators?)\b|客户端", re.IGNORECASE)),
)
# "the lifecycle was not clean": the denial stands inside the phrase.
_NOT_INSIDE = re.compile(r"\b(?:not|never|hardly|neither|nor)\b|n['’]t\b|不|未(?!收到|发送|出现|使用)", re.IGNORECASE)
_OTHER_RUN = re.compile(
    r"\b(?:earlier|previous|previously|first attempt|another|other|old|older|separate|unrelated|before|prior|formerly|used to|aborted attempt)\b|此前|之前|早先|另一|其他|旧",
    re.IGNORECASE,
)


_SOFTWARE_END = re.compile(
    r"\b(?:ci|lint\w*|linters?|pipelines?|workflows?|tests?|test suites?|builds?|working tree|checkouts?|pytest|ruff|mypy|compil\w{2,6})\b|流水线|测试|构建|编译",
    re.IGNORECASE,
)


def subjects(text: str) -> frozenset[str]:
    """The parts of a run that a text names: server, worker, container, client."""
    return frozenset(name for name, pattern in _SUBJECTS if pattern.search(text))


def clean_end(statement: Statement) -> str | None:
    """The words by which the author asserts, undenied and without a hedge, that the run ended cleanly."""
    if _SOFTWARE_END.search(statement.text):
        return None
    return next((one.match[0] for one in mentions(statement, CLEAN_END) if one.is_claimed and not _NOT_INSIDE.search(one.match[0])), None)


def forced_ends(snapshot: Snapshot, bundle: Bundle, named: frozenset[str]) -> tuple[Said, ...]:
    """Where the bundle's own texts say of its run, or of the parts `named`, that it was made to end or did not end cleanly."""
    held = snapshot.memo(("forced ends", bundle.path), lambda: tuple(_forced(snapshot, bundle)))
    return tuple(said for parts, said in held if not parts or not named or parts & named)


def _forced(snapshot: Snapshot, bundle: Bundle) -> Iterator[tuple[frozenset[str], Said]]:
    for path in (path for path in bundle.files if path.lower().endswith((".md", ".markdown"))):
        for statement in statements(snapshot, path):
            if statement.standing in ("asserted", "reported") and not _OTHER_RUN.search(statement.text) and _tells_force(statement):
                yield subjects(statement.text), Said(f"“{statement.text}”", statement.location("record"))


def _tells_force(statement: Statement) -> bool:
    forced = any(not one.negated and one.standing in ("asserted", "reported") for one in mentions(statement, FORCED_END))
    unclean = (
        one.negated or _NOT_INSIDE.search(one.match[0]) is not None
        for one in mentions(statement, CLEAN_END)
        if one.standing in ("asserted", "reported")
    )
    return forced or any(unclean)


def _verified(clause: Clause) -> str | None:
    """The words that claim a check of measurements; checks of hashes, tests and the like are none."""
    for match in _VERIFIED.finditer(clause.text):
        if not clause.denies(match.start()) and not _before(clause.text, match.start()) and not _SOFTWARE.search(clause.text):
            return match[0]
    for match in _BARE_VERIFIED.finditer(clause.text):
        if not clause.denies(match.start()) and _MEASUREMENTS.search(clause.text) and not _SOFTWARE.search(clause.text):
            return match[0]
    return None


def _before(text: str, position: int) -> bool:
    """ "to be", "needs", "can be" before the words: no claim that it was done."""
    return bool(
        re.search(
            r"\b(?:to be|can be|could be|may be|be|needs?|requires?|for|until|awaiting|pending|without|lacks?)\s+(?:an? )?\Z|待|需|可|未",
            text[max(0, position - 16) : position],
            re.IGNORECASE,
        )
    )


def _retained(clause: Clause) -> tuple[str, str] | None:
    if _ELSEWHERE.search(clause.text):
        return None
    for noun in _ARTIFACT.finditer(clause.text):
        for verb in _KEEPS.finditer(clause.text, max(0, noun.start() - _NEAR - 20), noun.end() + _NEAR + 20):
            apart = max(noun.start(), verb.start()) - min(noun.end(), verb.end())
            if apart <= _NEAR and not clause.denies(verb.start()) and not clause.denies(noun.start()):
                first, last = min(noun.start(), verb.start()), max(noun.end(), verb.end())
                return clause.text[first:last], stem(noun[0])
    return None


def stem(text: str) -> str:
    """The kind of artifact that a phrase names: `log`, `trace`, …; `raw` for raw data of no other kind."""
    lower = text.casefold()
    named = next((kind for key, kind in {**_STEMS, **_ZH_STEMS}.items() if key in lower), None)
    return named or "raw"


# ---------------------------------------------------------------- what the files say

_WEAK = spoken_family(
    r"(?:author|self|vendor|user) (?:reported|stated|provided|declared|supplied|attested)",
    r"unverified|unaudited|unconfirmed|unreproduced|unvalidated",
    r"(?:not|never|cannot be|could not be) (?:yet )?(?:been )?(?:independently|externally) \w{4,14}",
    r"not (?:yet )?(?:been )?(?:verified|reproducible|validated|audited|corroborated)",
    r"no (?:independent|second|other|third|external) (?:party|person|verification|reproduction|validation|check|reviewer|replication|run)\w*",
    r"(?:nobody|no one|no body)(?: else)? (?:has |have |but )?\w{1,24}",
    r"only (?:by )?the author",
    r"not (?:an )?independent(?:ly)?",
    zh=(
        "作者(?:自述|自报|报告|自测|自行|声称)",
        "自述|自报|自测",
        "未(?:经)?(?:独立|第三方|他人)?(?:核实|验证|证实|复现|审计|确认|复核)",
        "尚未(?:独立)?(?:核实|验证|证实|复现|确认|复核)",
        "不可(?:独立)?复现",
        "无第三方",
    ),
)
_LEVEL_KEYS = family(
    "provenance verification verified reproduced reproducible reproducibility validated confirmed audited evidence level attestation assurance independent independently trust source status note notes 来源 验证 说明 级别"
)
_FLAG_KEYS = family("verified reproduced reproducible validated confirmed audited replicated verification independently")
_HERE_KEYS = re.compile(r"(?:^|_)(?:in_(?:repository|repo|tree|checkout|bundle)|checked_in|committed|retained|available|included|present)\Z")
_PLAIN_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Said:
    """What a committed file says of its own evidence, and where."""

    shown: str
    place: Location


def weak_evidence(snapshot: Snapshot, bundle: Bundle) -> tuple[Said, ...]:
    """Where the bundle, its inventory entry or a document of the change says: author-reported, unverified, not independently checked."""
    return snapshot.memo(("weak evidence", bundle.path), lambda: tuple(_weak(snapshot, bundle)))


def _weak(snapshot: Snapshot, bundle: Bundle) -> Iterator[Said]:
    for path, node in _nodes(snapshot, bundle):
        held = frozenset(words(node.key))
        if isinstance(node.value, str) and (held & _LEVEL_KEYS or len(node.path) <= 2) and has_word(node.value, _WEAK):
            yield Said(f"`{node.key}`: “{node.value}”", Location(path, pointer=node.pointer, role="record"))
        elif node.value is False and held & _FLAG_KEYS:
            yield Said(f"`{node.key}` is false", Location(path, pointer=node.pointer, role="record"))
    for statement in _prose(snapshot, bundle):
        if statement.standing in ("asserted", "reported") and has_word(statement.text, _WEAK):
            yield Said(f"“{statement.text}”", statement.location("record"))


def absent_artifacts(snapshot: Snapshot, bundle: Bundle, artifact: str) -> tuple[Said, ...]:
    """Where the inventory, the bundle or a document of the change says that this kind of artifact is external or not here."""
    return tuple(_absent(snapshot, bundle, artifact))


def _absent(snapshot: Snapshot, bundle: Bundle, artifact: str) -> Iterator[Said]:
    entry = registered(snapshot, bundle)
    for external in entry.external if entry else ():
        if _of_kind(external.name, artifact):
            path = next(i.path for i in inventories(snapshot) if entry in i.bundles)
            yield Said(
                f"external: “{external.name}”", Location(path, pointer=pointer((*entry.pointer, "external")) if entry else None, role="record")
            )
    for path, node in _nodes(snapshot, bundle):
        if (
            node.path
            and (_of_kind(" ".join(words(node.key)), artifact) or (isinstance(node.value, str) and _of_kind(node.value, artifact)))
            and _is_not_here(node)
        ):
            yield Said(f"`{node.key}` is said not to be here", Location(path, pointer=node.pointer, role="record"))
    for statement in _prose(snapshot, bundle):
        if any(_of_kind(c.text, artifact) and (has_word(c.text, EXTERNAL) or _ELSEWHERE.search(c.text)) for c in statement.clauses):
            yield Said(f"“{statement.text}”", statement.location("record"))


def _of_kind(text: str, artifact: str) -> bool:
    found = [stem(match[0]) for match in _ARTIFACT.finditer(text.replace("_", " "))]
    return artifact in found or (artifact == "log" and "raw" in found) or (artifact == "raw" and bool(found) and "raw" in text.casefold())


def _is_not_here(node: Node) -> bool:
    """Its value says external, it is false or null, or a flag beside it says that it is not in the repository."""
    if isinstance(node.value, str) and has_word(node.value, EXTERNAL):
        return True
    if node.value is False and isinstance(node.path[-1], str):
        return True
    beside = node.parent.items() if isinstance(node.parent, dict) else ()
    return any(value is False and _HERE_KEYS.search("_".join(words(key))) for key, value in beside)


def holds(bundle: Bundle, artifact: str) -> bool:
    """True when the bundle has files of this kind."""
    names = [bundle.relative(path).casefold() for path in bundle.files]
    if artifact == "raw":
        return any(re.search(r"(?:^|[/_.-])raw(?:[/_.-]|\Z)", name) for name in names)
    pattern = re.compile(rf"(?:^|[/_.-]){artifact}s?(?:[/_.-]|\Z)" + (r"|\.(?:log|out|err)(?:\.\w{1,4})?\Z" if artifact == "log" else ""))
    return any(pattern.search(name) for name in names)


def _nodes(snapshot: Snapshot, bundle: Bundle) -> Iterator[tuple[str, Node]]:
    for path in [path for path in bundle.files if is_document(path)][:_PLAIN_DOCUMENTS]:
        doc = document(snapshot, path)
        for node in doc.nodes if doc and doc.readable else ():
            if node.path and len(node.path) <= 5:
                yield path, node


def _prose(snapshot: Snapshot, bundle: Bundle) -> Iterator[Statement]:
    """The statements of the bundle's own documents and of other documents of the change."""
    inside = [path for path in bundle.files if path.lower().endswith((".md", ".markdown"))]
    outside = [path for path in documents_in_scope(snapshot) if not any(path == one for one in inside)] if snapshot.base is not None else []
    own = [path for path in outside if not path.startswith(bundle.path.rpartition("/")[0] + "/") or path in inside]
    for path in (inside + own)[:_PLAIN_DOCUMENTS]:
        yield from (one for one in statements(snapshot, path) if one.standing not in ("quoted", "withdrawn"))
