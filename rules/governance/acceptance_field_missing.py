"""A required field of the campaign's issue has no answer

What it checks: the issue against the form of the base that it belongs to (by its headings, its title's prefix or a label that only this form
sets). Every field with `required: true` needs an answer: under its own heading, under another heading or label that asks for the same, or under
one that the config's `forms.aliases` names. Without a form for campaigns, an issue that is labelled or titled as a campaign needs a campaign id,
an evidence path, a candidate revision (or the word that none is selected), gates, an owner and a stop condition.

Why: a campaign whose gates, candidate or stop condition are not declared cannot be held to anything afterwards.

Fix: the author writes the answer into the issue; where nothing is chosen yet, that is an answer too ("unselected", with its record).

Example: `### Stop condition` followed by `_No response_`.

Not flagged: optional fields; issues of another kind; a campaign id, an evidence path or gates that the campaign's own bundle answers (the bundle
that the issue names, or whose record names the issue). A form that cannot be read is not checked.

Strength: high. One finding per field, all of one issue are one story.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rules.core.model import Facts, Finding, Issue, Item, Location, Rule, Severity, Snapshot, Tree, Unchecked
from rules.reading.campaigns import bundles_of_issue
from rules.reading.fields import Answer, Field, Part, answer, concept, normal, parts
from rules.reading.forms import Form, form_of, forms
from rules.reading.layout import Bundle

_TITLED = re.compile(
    r"[\s\[(【（]{0,4}(?:\w+[ -])?(?:campaign|活动|战役)\b[\s\])】）:：-]|[\[【][^\]】\n]{0,30}(?:campaign|活动|战役|验收)[^\]】\n]{0,20}[\]】]",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"(?:^|[:/ _-])(?:campaign|acceptance|活动|战役|验收)s?(?:$|[:/ _-])", re.IGNORECASE)
_GATE_FILE = re.compile(
    r"(?:^|/)(?:acceptance|gates?)[^/]*\.(?:json|ya?ml|md|toml)\Z|(?:^|/)[^/]*(?:gates?|acceptance)\.(?:json|ya?ml|toml)\Z", re.IGNORECASE
)
BUILT_IN = (
    Field("campaign_id", "Campaign ID", "input", True),
    Field("evidence_path", "Evidence path", "input", True),
    Field("candidate_revision", "Candidate revision", "input", True),
    Field("gates", "Gates", "textarea", True),
    Field("owner", "Owner", "input", True),
    Field("stop_condition", "Stop condition", "textarea", True),
)
"""What a campaign has to declare where the repository has no form for it."""


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    assert snapshot.issue is not None
    issue, held = snapshot.issue, forms(snapshot)
    form = form_of(held, issue.title, issue.labels, issue.body)
    broken = [form] if form is not None and form.problem else [one for one in held if one.problem] if form is None else []
    for one in broken:
        yield Unchecked(f"the issue's fields against {one.path}", one.problem or "")
    if form is not None and not form.problem:
        yield from _against(snapshot, issue, form, tuple(field for field in form.fields if field.required), form.fields)
    elif form is None and not broken and _is_campaign(issue) and not any(_for_campaigns(one) for one in held):
        yield from _against(snapshot, issue, None, BUILT_IN, BUILT_IN)


def _is_campaign(issue: Issue) -> bool:
    return bool(_TITLED.match(issue.title + " ")) or any(_LABELLED.search(label) for label in issue.labels)


def _for_campaigns(form: Form) -> bool:
    """True for a form that asks for two parts of a campaign's declaration: then it, and not the built-in list, says what is needed."""
    return len({concept(field.label) for field in form.fields} - {None, "owner"}) >= 2


def _against(snapshot: Snapshot, issue: Issue, form: Form | None, wanted: tuple[Field, ...], fields: tuple[Field, ...]) -> Iterator[Finding]:
    body = issue.body.replace("\r\n", "\n").replace("\r", "\n")
    held = parts(body, [field.label for field in fields])
    linked = bundles_of_issue(snapshot, issue)
    for field in wanted:
        others = frozenset(normal(other.label) for other in fields if other is not field)
        said = answer(field, held, others, _aliases(snapshot, field))
        if said.part is None and not _answered_by_bundle(field, linked):
            yield _finding(snapshot, form, said, held)


def _aliases(snapshot: Snapshot, field: Field) -> tuple[str, ...]:
    known = {normal(key.replace("_", " ")): value for key, value in snapshot.config.forms.aliases.items()}
    return (*known.get(normal(field.label), ()), *known.get(normal(field.id.replace("_", " ")), ()))


def _answered_by_bundle(field: Field, linked: tuple[tuple[Bundle, Tree], ...]) -> bool:
    match concept(field.label) or concept(field.id.replace("_", " ").replace("-", " ")):
        case "campaign_id" | "evidence_path":
            return bool(linked)
        case "gates":
            return any(_has_gates(bundle) for bundle, _ in linked)
        case _:
            return False


def _has_gates(bundle: Bundle) -> bool:
    """A gate record under the plan, or code that judges; a README alone judges nothing."""
    code = [path for path in bundle.part("validator") if not path.lower().endswith((".md", ".txt", ".rst"))]
    return bool(code) or any(_GATE_FILE.search(path) for path in bundle.part("plan"))


def _finding(snapshot: Snapshot, form: Form | None, said: Answer, held: tuple[Part, ...]) -> Finding:
    label = said.field.label
    empty = said.empty[0] if said.empty else None
    norm = Location(form.path, line=said.field.line, role="norm", at=snapshot.base.commit if snapshot.base else None) if form else None
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"The issue does not answer “{label}”",
        problem=_problem(form, label, empty),
        impact=_IMPACTS.get(concept(label) or "", "The campaign cannot be reviewed for what this field declares."),
        next=f"Write the answer under “{label}” in the issue (edit text). {_HINTS.get(concept(label) or '', '')}".strip(),
        locations=(
            Location("issue:body", line=empty.line if empty else None, end_line=empty.last if empty else None, text=label),
            *((norm,) if norm else ()),
        ),
        evidence=(("field", label), ("answer", "a placeholder or nothing" if empty else "none")),
        roots=(f"form:{form.path if form else 'issue'}", "form:issue"),
        searched=None if empty else f"{len(held)} headings and labelled lines of the issue's body",
    )


def _problem(form: Form | None, label: str, empty: Part | None) -> str:
    by = f"`{form.path}` requires it" if form else "a campaign needs it before its search, and the repository has no form that says otherwise"
    if empty is None:
        return f"No heading or labelled line of the issue answers “{label}”; {by}."
    said = "is empty" if not empty.text.strip() else "holds a placeholder, no answer"
    return f"“{empty.label}” stands in the issue and {said}; {by}."


_IMPACTS = {
    "campaign_id": "Nobody can tell which evidence belongs to this campaign, or whether its id is taken.",
    "evidence_path": "Nobody can tell which files are this campaign's evidence.",
    "candidate": "Nothing says which revision the gates are to judge.",
    "baseline": "Nothing says which revision the comparison starts from.",
    "gates": "No candidate can be held to a rule that was fixed before the search.",
    "owner": "Nobody is accountable for the campaign.",
    "acceptance_owner": "Nobody is named who may accept the result.",
    "stop": "Nothing says when the campaign ends.",
}
_HINTS = {
    "candidate": "Where none is chosen yet, say “unselected” and name the record.",
    "gates": "Name the gate record and the validator's files with their digests; do not write gates to fit results that exist.",
    "owner": "The owner is a login, not a role.",
    "stop": "A limit of one reservation is no stop condition.",
}

RULE = Rule(
    "acceptance-field-missing",
    "governance",
    Severity.HIGH,
    check,
    needs=frozenset(["issue"]),
    norms=(("owner", "stop condition"), ("campaign", "stop condition"), ("campaign id", "evidence path")),
)
