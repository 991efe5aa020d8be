"""What the forms of a report share: stories, places and verdicts in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.review import phrases
from rules.core.model import Confirmed, Finding, Location, Report, Reported, Severity, Verdict

VERDICTS: Mapping[Verdict, str] = {verdict: english for verdict, (english, _) in phrases.VERDICTS.items()}
STRONG = (Severity.BLOCKING, Severity.HIGH)
NONE_RECORDED = "none recorded"
_ROLES: Mapping[str, str] = {
    "record": "against the record at",
    "norm": "required by",
    "result": "against the result at",
    "gate": "for the gate at",
    "manifest": "listed at",
    "inventory": "against the inventory at",
    "operand": "from",
    "entry": "and",
    "file": "and",
    "claim": "and",
    "related": "see also",
}
_ROLES_ZH: Mapping[str, str] = {
    "record": "对照记录",
    "norm": "依据",
    "result": "对照结果",
    "gate": "对应门槛",
    "manifest": "清单见",
    "inventory": "对照清册",
    "operand": "取自",
    "related": "另见",
}
_PLURALS: Mapping[str, str] = {"figure": "figures", "digest": "digests", "revision": "revisions", "record": "records"}


@dataclass(frozen=True)
class Story:
    """One matter: findings with the same F-number, the strongest first."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def severity(self) -> Severity:
        return min((finding.severity for finding in self.findings), key=lambda severity: severity.rank)

    @property
    def strong(self) -> bool:
        """True where the verdict depends on it."""
        return self.severity in STRONG

    @property
    def decision(self) -> str:
        """`author` where the author can do something about it, else `human`."""
        strongest = [finding for finding in self.findings if finding.severity is self.severity]
        return "author" if any(finding.decision == "author" for finding in strongest) else "human"

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(finding.rule for finding in self.findings))

    @property
    def nexts(self) -> tuple[str, ...]:
        """What to do, each said once."""
        return tuple(dict.fromkeys(finding.next for finding in self.findings if finding.next))


def stories(report: Report) -> tuple[Story, ...]:
    """The report's stories in order."""
    return tuple(Story(id, tuple(sorted((one.finding for one in group), key=lambda f: f.severity.rank))) for id, group in report.stories())


def suggestions(report: Report) -> tuple[Reported, ...]:
    """Findings without an F-number."""
    return tuple(one for one in report.findings if one.id is None)


def place(at: Location) -> str:
    """`path:12-14`, or `path#/pointer` where no line is known."""
    if at.line is None:
        return f"{at.path}#{at.pointer}" if at.pointer else at.path
    lines = str(at.line) if at.end_line in (None, at.line) else f"{at.line}-{at.end_line}"
    return f"{at.path}:{lines}"


def role(at: Location, language: str = "en") -> str:
    """The words that lead from the finding's first place to this one."""
    return _ROLES_ZH.get(at.role, "以及") if language == "zh" else _ROLES.get(at.role, "and")


def waiting(report: Report) -> str:
    """Who must act, in words; empty where nobody must."""
    names = {"author": "the author", "requester": "somebody with authority to decide"}
    return " and ".join(names.get(who, who) for who in report.waiting_on)


def tally(confirmed: Sequence[Confirmed]) -> str:
    """`3 figures, 12 digests`; empty for none."""
    counts = Counter(one.what for one in confirmed)
    return ", ".join(f"{count:,} {kind if count == 1 else _PLURALS[kind]}" for kind, count in counts.items())


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def scope(report: Report) -> str:
    """What the review answers for."""
    coverage = report.coverage
    if report.base is None:
        return f"the whole tree: {counted(coverage.files, 'file')}, {counted(coverage.bundles, 'bundle')}"
    return f"{counted(coverage.changed_files, 'changed file')}, {counted(coverage.bundles, 'bundle')} touched"


def read_line(report: Report) -> str:
    """The extent of the reading in one sentence."""
    c = report.coverage
    hashes = "1 hash" if c.hashes_checked == 1 else f"{c.hashes_checked:,} hashes"
    words = f"{counted(c.files, 'file')}, {c.bytes:,} bytes; {counted(c.bundles, 'bundle')}; {hashes} checked"
    return words + (f"; {c.changed_read:,} of {counted(c.changed_files, 'changed file')} read" if report.base else "")


def merge_line(report: Report) -> str:
    """What the merge into the base tip gives."""
    merge = report.merge
    if merge is None:
        return "not checked" if report.base else "there is no base to merge into"
    touched = f"the base's later changes touch {len(merge.base_touches) or 'none'} of these paths"
    if not merge.clean:
        return f"it conflicts; {touched}"
    same = f"same change of {counted(merge.changed_files, 'file')}" if merge.same_change_as_head else "not the same change as head"
    return f"clean; {same}; {merge.blobs_equal_head} of {merge.changed_files} blobs equal the head's; {touched}"
