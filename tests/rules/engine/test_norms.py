"""Norms: the line of the repository's own documents that demands it, by config or by key words, from the base, never invented."""

from rules.core.config import Config
from rules.core.model import Facts, Finding, Location, Rule, Severity
from rules.engine.norms import Norms
from rules.engine.run import review
from tests import worlds

RULE = Rule("r", "x", Severity.HIGH, lambda s, f: [], norms=(("hash", "match"), ("digest",)))
DOCUMENT = "# Evidence\n\nFiles are small.\n\n## Hashes that match\n\nEvery HASH must match its file.\n"


def _norm(files: dict[str, object], **norms: str) -> tuple[str, int | None] | None:
    found = Norms(worlds.snapshot(files, config=Config(norms=norms))).of(RULE)
    return (found.path, found.line) if found else None


def test_by_key_words_all_of_one_alternative_on_one_line() -> None:
    assert _norm({"docs/contributing.md": DOCUMENT}) == ("docs/contributing.md", 7)
    assert _norm({"AGENTS.md": "One digest for each file.\n"}) == ("AGENTS.md", 1)
    assert _norm({"docs/contributing.md": "A hash.\n\nA match.\n"}) is None
    assert _norm({"src/notes.md": DOCUMENT, "docs/a/b/c.md": DOCUMENT}) is None


def test_by_config_a_heading_or_a_line() -> None:
    files: dict[str, object] = {"rules.md": DOCUMENT, "docs/contributing.md": DOCUMENT}
    assert _norm(files, r="rules.md#evidence") == ("rules.md", 1)
    assert _norm(files, r="rules.md#hashes-that-match") == ("rules.md", 5)
    assert _norm(files, r="rules.md:3") == ("rules.md", 3)


def test_a_config_that_names_nothing_falls_back_to_the_key_words() -> None:
    files: dict[str, object] = {"docs/contributing.md": DOCUMENT}
    for named in ("rules.md#evidence", "docs/contributing.md#gone", "docs/contributing.md:99", "docs/contributing.md:0", "nonsense", "#", ":"):
        assert _norm(files, r=named) == ("docs/contributing.md", 7), named


def test_the_base_is_the_law() -> None:
    held = worlds.snapshot({"AGENTS.md": "Nothing.\n"}, base={"AGENTS.md": "Every digest counts.\n"})
    found = Norms(held).of(RULE)
    assert found is not None and (found.line, found.at, found.role) == (1, "b" * 40, "norm")
    assert Norms(worlds.snapshot({"AGENTS.md": "Every digest counts.\n"}, base={})).of(RULE) is None


def test_a_norm_is_added_once_and_never_beside_the_rule_s_own() -> None:
    def found(*locations: Location) -> Finding:
        return Finding(rule="r", severity=Severity.HIGH, title="t", problem="p", impact="i", next="n", locations=locations)

    own = Location("docs/contributing.md", line=1, role="norm")
    items = [found(Location("a.md", line=1)), found(Location("b.md", line=1), own)]
    rule = Rule("r", "x", Severity.HIGH, lambda s, f: items, norms=RULE.norms)
    made = review(worlds.snapshot({"docs/contributing.md": DOCUMENT}), Facts(), (rule,))
    assert [[at.line for at in one.finding.locations if at.role == "norm"] for one in made.findings] == [[7], [1]]


def test_a_document_that_only_mentions_it_demands_nothing() -> None:
    mentioned = "The digest cache was rewritten.\n\n| digest | stands in the index |\n\nA digest must be full.\n"
    assert _norm({"docs/adr/0007-cache.md": mentioned}) == ("docs/adr/0007-cache.md", 5)
    assert _norm({"README.md": "Every rehash and match is fast.\n"}) is None
