"""Running rules: discovery and what is plugged in, needs, questions, crashes that cost nobody else, severities of the config."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from rules.core.config import Config
from rules.core.model import Bundle, Facts, Finding, Item, Location, Question, Rule, Severity, Snapshot, Verdict
from rules.engine import run
from tests import worlds
from tests.bot.making import assay


def finding(rule: str, path: str = "a.md", severity: Severity = Severity.MEDIUM) -> Finding:
    return Finding(rule=rule, severity=severity, title="t", problem="p", impact="i", next="n", locations=(Location(path, line=1),))


def says(id: str, severity: Severity = Severity.MEDIUM, **more: object) -> Rule:
    return Rule(id, "x", severity, lambda snapshot, facts: [finding(id, severity=severity)], **more)  # type: ignore[arg-type]


# ---------------------------------------------------------------- crashes


def test_a_crash_keeps_what_was_found_before_it_and_the_other_rules() -> None:
    def half(snapshot: Snapshot, facts: Facts) -> Iterator[Item]:
        yield finding("half")
        raise RuntimeError("secret")

    made = run.review(worlds.snapshot({}), Facts(), (Rule("half", "x", Severity.HIGH, half), says("whole")))
    assert {one.finding.rule for one in made.findings} == {"half", "whole"} and made.verdict is Verdict.INCOMPLETE
    (crash,) = (outcome for outcome in made.outcomes if outcome.state == "crashed")
    assert crash.rule == "half" and crash.reason is not None and crash.reason.startswith("RuntimeError at ") and "secret" not in crash.reason


def test_a_crash_in_one_bundle_is_a_crash_of_the_rule_and_of_nothing_else() -> None:
    def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
        if bundle.id == "bad":
            raise KeyError(bundle.id)
        yield finding("each", bundle.path)

    files = {**worlds.bundle({"a": "x"}, "a"), **worlds.bundle({"a": "x"}, "bad"), **worlds.bundle({"a": "x"}, "z")}
    made = run.review(worlds.snapshot(files), Facts(), (Rule("each", "x", Severity.HIGH, each=each), says("other")))
    assert [outcome.state for outcome in made.outcomes] == ["crashed", "ran"]
    assert [one.finding.locations[0].path for one in made.findings if one.finding.rule == "each"] == ["evidence/a"]


@pytest.mark.parametrize("error", [RecursionError(), MemoryError(), AssertionError("x"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")])
def test_any_exception_is_contained(error: Exception) -> None:
    def crash(snapshot: Snapshot, facts: Facts) -> list[Item]:
        raise error

    assert run.review(worlds.snapshot({}), Facts(), (Rule("r", "x", Severity.LOW, crash),)).verdict is Verdict.INCOMPLETE


def test_a_user_who_interrupts_is_obeyed() -> None:
    def interrupted(snapshot: Snapshot, facts: Facts) -> list[Item]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.review(worlds.snapshot({}), Facts(), (Rule("r", "x", Severity.LOW, interrupted),))


# ---------------------------------------------------------------- questions


def test_questions_are_asked_once_in_lower_case() -> None:
    asks = [Question("Acme/Engine", "ABCDEF1"), Question("acme/engine", "abcdef1")]
    rules = (says("a", asks=lambda s: asks), says("b", asks=lambda s: asks[:1]))
    assert run.questions(worlds.snapshot({}), rules) == (Question("acme/engine", "abcdef1"),)


def test_a_rule_that_crashes_while_asking_does_not_take_the_others_questions() -> None:
    def crash(snapshot: Snapshot) -> Iterator[Question]:
        yield Question("a/b", "1234567")
        raise ValueError

    held = worlds.snapshot({})
    assert [question.sha for question in run.questions(held, (says("a", asks=crash), says("b", asks=lambda s: [Question("a/b", "7654321")])))] == [
        "7654321"
    ]


def test_a_rule_without_what_it_needs_is_neither_asked_nor_run() -> None:
    rule = says("needy", needs=frozenset({"base"}), asks=lambda s: [Question("a/b", "1234567")])
    held = worlds.snapshot({})
    made = run.review(held, Facts(), (rule,))
    assert run.questions(held, (rule,)) == () and made.findings == () and made.outcomes[0].state == "skipped"
    assert made.outcomes[0].reason == "there is no base to compare with" and made.verdict is Verdict.PASS
    assert len(run.review(worlds.snapshot({}, base={}), Facts(), (rule,)).findings) == 1


# ---------------------------------------------------------------- which rules, how strong


def test_off_preview_and_only() -> None:
    rules = (says("a"), says("b", preview=True), says("c"))
    held = worlds.snapshot({}, config=Config.model_validate({"rules": {"a": "off"}}))
    assert [rule.id for rule in run.chosen(rules, held)] == ["c"]
    assert [rule.id for rule in run.chosen(rules, held, preview=True)] == ["b", "c"]
    assert [rule.id for rule in run.chosen(rules, held, only=["a", "b"])] == ["a", "b"]


def test_the_config_sets_a_severity_and_the_verdict_follows() -> None:
    held = worlds.snapshot({}, config=Config.model_validate({"rules": {"r": "low"}}))
    made = run.review(held, Facts(), (says("r", Severity.BLOCKING),))
    assert made.findings[0].finding.severity is Severity.LOW and made.verdict is Verdict.PASS


def test_what_each_yields_is_kept_until_a_file_the_inventory_or_the_config_changes() -> None:
    calls: list[str] = []

    def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
        calls.append(bundle.id)
        yield finding("each", bundle.path)

    rules = (Rule("each", "x", Severity.HIGH, each=each),)
    files = {"tools/evidence_inventory.json": {"bundles": []}, **worlds.bundle({"a": "1"}, "a"), **worlds.bundle({"a": "1"}, "b")}
    first = worlds.snapshot(files)

    def again(files: dict[str, object], config: Config | None = None) -> int:
        first.cache.forget_snapshot()
        calls.clear()
        held = Snapshot(worlds.tree(files), config or Config(), first.cache)
        assert len(run.review(held, Facts(), rules).findings) == 2
        return len(calls)

    assert again(files) == 2 and again(files) == 0
    assert again({**files, **worlds.bundle({"a": "2"}, "b")}) == 1
    assert again({**files, "tools/evidence_inventory.json": {"bundles": [], "note": 1}}) == 2
    assert again(files, Config.model_validate({"ignore": ["x"]})) == 2


# ---------------------------------------------------------------- discovery


def test_rules_are_in_order_of_id_documented_and_each_in_its_family_s_folder() -> None:
    rules = run.discover()
    assert [rule.id for rule in rules] == sorted(rule.id for rule in rules) and len(rules) > 30
    for rule in run.own():
        assert rule.family in run.FAMILIES and (rule.check or rule.each) and "\n\nWhat it checks: " in rule.doc, rule.id
        assert all(f"\n\n{part}: " in rule.doc for part in ("Why", "Fix", "Example", "Not flagged", "Strength")), rule.id
        assert not rule.doc.partition("\n\n")[0].endswith("."), rule.id


def _plugs(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, object]) -> None:
    class Point(EntryPoint):
        def load(self) -> object:
            held = dict(points)[self.name]
            if isinstance(held, Exception):
                raise held
            return held

    found = [Point(name, "m:RULE", run.ENTRY_POINTS) for name, _ in points]
    monkeypatch.setattr(run, "entry_points", lambda group: found if group == run.ENTRY_POINTS else [])


def test_a_plugged_rule_is_found_with_its_module_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _plugs(monkeypatch, ("mine", says("mine")))
    found = {rule.id: rule for rule in run.discover.__wrapped__()}
    assert "hash-mismatch" in found and found["mine"].doc.startswith("Running rules: discovery")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (says("hash-mismatch"), "two rules are called hash-mismatch: rename"),
        (ImportError("no module"), "the entry point mine = m:RULE cannot be imported (ImportError)."),
        ("no rule", "the entry point mine = m:RULE gives no rule with a check."),
        (Rule("mine", "x", Severity.LOW), "gives no rule with a check."),
    ],
)
def test_what_is_wrong_with_a_plugged_rule_is_one_sentence(monkeypatch: pytest.MonkeyPatch, held: object, said: str) -> None:
    _plugs(monkeypatch, ("mine", held))
    with pytest.raises(run.UnusableRules) as error:
        run.discover.__wrapped__()
    assert said in str(error.value)


def test_the_command_line_says_it_and_exits_2(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise RuntimeError\n")
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[assay.rules]\nmine = broken:RULE\n")
    root = Path(run.__file__).resolve().parents[2]
    for arguments in (("check", str(tmp_path)), ("rules",)):
        done = assay(*arguments, PYTHONPATH=f"{root}:{tmp_path}")
        assert done.returncode == 2 and done.stderr == "assay: the entry point mine = broken:RULE cannot be imported (RuntimeError).\n", done.stderr
    assert "broken" not in sys.modules
