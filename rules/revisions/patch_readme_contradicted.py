"""A text says that the engine is unchanged, or its source pinned, and the bundle shows the opposite

What it checks: sentences of `patch/README.md` and of the plan that deny a change of the engine, against the diffs under `patch/`; and sentences
that say the source is pinned in the run spec, against the revisions that the results were made with.

Why: a reader decides from these two sentences whether a figure belongs to the stock engine or to a changed one.

Fix: correct the sentence: name the diff and what it changes, and the revision of each arm.

Example: `patch/README.md` says "No engine change is made", and `patch/tp4-placement.diff` changes `engine/placement.py` beside it.

Not flagged: quoted or corrected earlier text; a diff that touches only harness, tests or texts; statements about the baseline arm alone.

Strength: high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.documents import Node, Number, is_document, nodes
from rules.reading.keys import family as names
from rules.reading.keys import words
from rules.reading.manifests import listed_by
from rules.reading.patches import Diff, Used, diffs, used_revisions
from rules.reading.statements import Clause, Statement, statements
from rules.reading.words import family

_ENGINE = names(
    "engine engines source sources code runtime kernel kernels compiler library server upstream product project framework implementation core model "
    "codebase program binary software database allocator scheduler encoder decoder codec interpreter optimizer planner driver"
)
# Parts of an engine: one that is not changed says nothing of the others.
_PARTS = names("allocator scheduler encoder decoder codec interpreter optimizer planner driver model kernel kernels library")
_CHANGED_PART = re.compile(
    r"\b(?:is|are|was|were|has been|have been)\s(?:changed|modified|patched|altered|rewritten|replaced|extended)\b|\b(?:carries|changes|modifies|patches|rewrites)\b|(?:修改|改动|改写)了",
    re.IGNORECASE,
)
_X = r"(?P<{0}>(?:[\w-]{{1,30}}\s){{0,3}}?[\w-]{{1,30}})"
_CHANGES = r"(?:changes?|modifications?|edits?|patch(?:es)?|diffs?|alterations?|code changes?|source changes?)"
_CHANGED = r"(?:changed|modified|patched|altered|touched|edited|forked)"
_MADE = r"(?:made|needed|required|applied|included|contained|present|carried|introduced|proposed|here|used|part|necessary|involved|in)"
_ZH_ENGINE = r"(?:引擎|源码|源代码|代码|内核|运行时|编译器|框架|上游|程序|实现)"
_ZH_CHANGE = r"(?:修改|改动|更改|变更|改变|补丁|打补丁)"
_DENIAL = re.compile(
    rf"(?<![\w-])(?:(?:makes?|needs?|requires?|contains?|holds?|carries|with|has|there (?:is|are))\s)?(?:no|without(?:\sany)?|zero)\s(?:(?P<a>(?:[\w-]{{1,30}}\s){{0,3}}?))?{_CHANGES}"
    rf"(?P<tail>\s(?:to|of|in|on|against)\s(?:the\s|its\s|any\s)?(?P<b>[\w-]{{1,30}}))?(?:\s(?:is|are|was|were|has been|have been|will be)\s(?:yet\s)?(?P<done>[\w-]{{1,20}}))?"
    rf"|(?:the\s|its\s|our\s)?(?P<c>[\w-]{{1,30}}(?:\s[\w-]{{1,30}})?)\s(?:itself\s)?(?:is|are|was|were|remains?|stays?|has been|have been|runs?)\s(?:(?:left|kept|entirely|completely|fully)\s)?(?:not\s(?:been\s)?{_CHANGED}|unchanged|unmodified|unpatched|untouched|stock)"
    rf"|(?:uses?|runs?|on|of|with)\s(?:the\s|an?\s)?(?:unmodified|unchanged|unpatched|stock|vanilla)\s(?P<d>[\w-]{{1,30}})"
    rf"|(?:does|do|did)\s(?:not|n[’']t)\s(?:change|modify|patch|alter|touch)\s(?:the\s|any\s|its\s)?(?P<e>[\w-]{{1,30}})"
    rf"|nothing\s(?:in\sthe\s(?P<f>[\w-]{{1,30}})\s)?(?:is|was|has been)\s{_CHANGED}"
    rf"|(?P<zh>{_ZH_ENGINE})[^，。；]{{0,6}}?(?:未(?:经|做|作|被)?|没有|无|不(?:做|作)?)(?:任何)?{_ZH_CHANGE}|(?:未|没有|不|无|并未)(?:对)?(?:任何)?{_ZH_CHANGE}?(?:了)?(?P<zh2>{_ZH_ENGINE})(?:做|作|进行)?(?:任何)?{_ZH_CHANGE}?"
    rf"|(?:未|没有|不|并未)对(?P<zh3>[^，。；]{{1,12}}?)(?:做|作|进行)(?:出|了|过)?(?:任何)?{_ZH_CHANGE}",
    re.IGNORECASE,
)
_NOT_MADE = re.compile(r"merged|upstreamed|released|accepted|reviewed|landed|measured|verified|qualified|approved|submitted|published", re.IGNORECASE)
_EXCEPT = re.compile(
    r"(?<![A-Za-z])(?:except(?:ing)?|other than|besides|beyond|apart from|aside from|outside)(?![A-Za-z])|除|之外|以外", re.IGNORECASE
)
_LESS = re.compile(
    r"(?<![A-Za-z])(?:only|further|additional|other|more|else|until|before|baseline|control arm|the control|reference arm)(?![A-Za-z])"
    r"|仅|只有|其他|其它|进一步|基线|对照",
    re.IGNORECASE,
)
_SOURCE = family(
    r"(?:original |engine |upstream |the )?(?:source|sources|source code|revisions?|commits?|engine|code)",
    zh=("源码", "源代码", "版本", "提交", "引擎", "代码"),
)
_PINNED = family(r"pinned|fixed|locked|recorded|frozen|named|given|listed|specified", zh=("固定", "锁定", "钉住", "记录", "指定", "冻结", "写明"))
_RUN_SPEC = family(r"run ?specs?(?:\.(?:json|ya?ml))?|run ?specifications?", zh=("RunSpec", "运行规格", "运行规范"))
_BASELINE = family(r"baselines?|controls?|reference arms?", zh=("基线", "对照", "基准"))
_HARNESS = family(
    r"harness|benchmarks?|bench|timing|instrumentation|logging|tests?|measurement|driver|script", zh=("测试", "基准", "脚本", "计时", "日志", "测量")
)
_NEEDED = re.compile(r"(?<![A-Za-z])no\s(?:[\w-]{1,30}\s){1,4}(?:is|are)\s(?:needed|required|necessary)(?![A-Za-z])", re.IGNORECASE)
_PAST = re.compile(
    r"(?<![A-Za-z])(?:at (?:that|the) time|initially|originally|back then|at first|as of)(?![A-Za-z])|当时|起初|最初|\d{4}-\d{2}-\d{2}", re.IGNORECASE
)


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    changed = [diff for diff in diffs(snapshot, bundle) if diff.is_engine and not _said_to_be_harness(snapshot, bundle, diff)]
    uncovered = [used for used in used_revisions(snapshot, bundle) if used.cover is None]
    for path in (*bundle.part("patch"), *bundle.part("plan")) if changed or uncovered else ():
        said = list(_said(snapshot, bundle, path, changed, uncovered))
        if said:
            yield _finding(snapshot, bundle, path, said, changed, uncovered)


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence or value that is contradicted: by a diff (`changed`) or by a result's revision (`pinned`)."""

    kind: str
    text: str
    location: Location


def _said(snapshot: Snapshot, bundle: Bundle, path: str, changed: list[Diff], uncovered: list[Used]) -> Iterator[Said]:
    if path.lower().endswith((".md", ".markdown")):
        known = {word for diff in changed for name in diff.touched for word in words(name)}
        in_patch = path in bundle.part("patch")
        for one in statements(snapshot, path):
            if changed and denies_change(one, known, in_patch):
                yield Said("changed", one.text, one.location())
            elif uncovered and says_pinned(one, uncovered):
                yield Said("pinned", one.text, one.location())
    elif changed and is_document(path):
        for node in nodes(snapshot, path)[1:]:
            if _flag_denies(node):
                yield Said("changed", f"{node.key}: {_shown(node.value)}", Location(path, pointer=node.pointer))


def _is_said(clause: Clause) -> bool:
    """The author says it, of the present and without a hedge."""
    return clause.standing == "asserted" and not clause.hedge and not _PAST.search(clause.text)


def denies_change(one: Statement, known: set[str], in_patch: bool) -> bool:
    """True where a sentence says that the engine, or a part that a diff touches, is not changed. `known`: the words of the touched paths."""
    if _EXCEPT.search(one.text):
        return False
    for clause in one.clauses:
        match = _DENIAL.search(clause.text) if _is_said(clause) or _NEEDED.search(clause.text) else None
        if match is None or _LESS.search(clause.text) or (match["done"] and _NOT_MADE.match(match["done"])):
            continue
        if match["zh"] or match["zh2"] or (match["zh3"] and re.search(_ZH_ENGINE, match["zh3"])):
            return True
        named = [match[g] for g in ("a", "b", "c", "d", "e", "f") if match[g] and match[g].strip()]
        said = {word for name in named for word in words(name)} | (set(words(match[0])) & {"code", "source"})
        if said & _ENGINE <= _PARTS and not said & known and any(_tells_change(other) for other in one.clauses if other is not clause):
            continue
        if (
            said & (_ENGINE | known)
            or any(_of_one_stem(word, name) for word in said for name in known)
            or (not named and in_patch and not match["zh3"])
        ):
            return True
    return False


def _tells_change(clause: Clause) -> bool:
    return any(not clause.denies(match.start()) for match in _CHANGED_PART.finditer(clause.text))


def _of_one_stem(word: str, name: str) -> bool:
    """`warper` and `warp.c`, `tokenisation` and `tokenise.py`."""
    shared = min(len(word), len(name))
    return shared >= 4 and (word.startswith(name) or name.startswith(word) or (shared >= 7 and word[: shared - 2] == name[: shared - 2]))


def says_pinned(one: Statement, uncovered: list[Used]) -> bool:
    """True where a sentence says that the source is pinned in the run spec; said of the baseline alone, a baseline's result must use another."""
    for clause in filter(_is_said, one.clauses):
        pinned, spec, source = (found.search(clause.text) for found in (_PINNED, _RUN_SPEC, _SOURCE))
        says = pinned and spec and source and not clause.denies(pinned.start()) and not clause.denies(spec.start())
        if says and (not _BASELINE.search(clause.text) or any("baseline" in used.arms for used in uncovered)):
            return True
    return False


def _flag_denies(node: Node) -> bool:
    """`engine_change: false`, `source_modifications: []`, `patches: none`."""
    held = set(words(node.key))
    about = held & _ENGINE and held & names("change changes changed modified modification modifications patched patches diff diffs edits")
    empty = node.value is False or node.value == [] or (isinstance(node.value, Number) and float(node.value) == 0)
    return bool(about) and (
        empty or (isinstance(node.value, str) and node.value.strip().lower() in {"none", "no", "no change", "no changes", "无", "否", "没有"})
    )


def _shown(value: object) -> str:
    return value.text if isinstance(value, Number) else str(value).lower() if isinstance(value, bool) else str(value)[:80]


def _said_to_be_harness(snapshot: Snapshot, bundle: Bundle, diff: Diff) -> bool:
    """A text under `patch/` names the diff and says, without denying it, that it is one of the harness."""
    file = diff.path.rpartition("/")[2]
    for path in bundle.part("patch"):
        for one in statements(snapshot, path) if path.lower().endswith((".md", ".markdown")) else ():
            if file in one.text and _HARNESS.search(one.text) and re.search(r"(?<![A-Za-z])only(?![A-Za-z])|仅|只", one.text, re.IGNORECASE):
                return True
    return False


# ---------------------------------------------------------------- words


def _finding(snapshot: Snapshot, bundle: Bundle, path: str, said: list[Said], changed: list[Diff], uncovered: list[Used]) -> Finding:
    kinds = list(dict.fromkeys(one.kind for one in said))
    name = bundle.relative(path)
    manifest = listed_by(snapshot, bundle).get(path)
    parts = {
        "changed": "the engine is unchanged",
        "pinned": "the source is pinned in the run spec",
    }
    shown = []
    if "changed" in kinds:
        files = [f"`{bundle.relative(diff.path)}` changes `{excerpt(diff.touched[0], 100)}`" for diff in changed[:3]]
        shown.append(", ".join(files) + (f" and {len(changed) - 3} more diffs change it too" if len(changed) > 3 else ""))
    if "pinned" in kinds or uncovered:
        used = list(dict.fromkeys(f"`{u.sha[:8]}` (`{bundle.relative(u.path)}`)" for u in uncovered))
        shown.append(f"results use {', '.join(used[:3])}, which is neither pinned nor made from a pin by a committed diff")
    return Finding(
        rule="patch-readme-contradicted",
        severity=Severity.HIGH,
        title=f"{name} says that {' and that '.join(parts[kind] for kind in kinds)}, which is not so",
        problem=f"`{name}` says {' '.join(f'“{excerpt(one.text)}”' for one in said[:3])} But {'; '.join(shown)}."
        + (f" The text is hash-pinned by `{bundle.relative(manifest.path)}`." if manifest else ""),
        impact="A reader takes figures of a changed engine for figures of the pinned one.",
        next="Say in a newer text which diff changes what, and which revision each arm ran on; leave the pinned text as it is (commit a file)."
        if manifest
        else "Correct the sentence: name the diffs, what they change, and the revision of each arm (edit text).",
        locations=(
            *(one.location for one in said[:20]),
            *(Location(diff.path, role="file") for diff in changed[:5] if "changed" in kinds),
            *(Location(used.path, pointer=used.node.pointer, role="result") for used in uncovered[:5] if "pinned" in kinds),
        ),
        evidence=(*(("diff", diff.path) for diff in changed[:5]), *(("used", used.sha) for used in uncovered[:5])),
        roots=(f"revisions:{bundle.path}",),
    )


RULE = Rule("patch-readme-contradicted", "revisions", Severity.HIGH, each=each, norms=(("patch", "diff"), ("engine", "change", "source")))
