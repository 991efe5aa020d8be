from fractions import Fraction

import pytest

from rules.core.model import Snapshot
from rules.reading.gates import cycles, gates, in_force, is_gate_name, rules_in_words, supersedings
from rules.reading.layout import bundles
from tests.worlds import bundle, snapshot


def world(files: dict[str, object]) -> Snapshot:
    return snapshot(bundle(files))


@pytest.mark.parametrize("name", ["acceptance.json", "acceptance-v2.yaml", "gates.json", "decode-gates.json", "gates/latency.json", "验收.json"])
def test_gate_names(name: str) -> None:
    assert is_gate_name(name)


@pytest.mark.parametrize("name", ["gates-integrity.json", "runspec.json", "gates.md", "gates.schema.json", "navigate.json"])
def test_no_gate_names(name: str) -> None:
    assert not is_gate_name(name)


@pytest.mark.parametrize(
    ("text", "direction", "value", "unit"),
    [
        ("median at most 0.9 of the baseline median", "max", "0.9", "of"),
        ("no more than 1,250 ms", "max", "1250", "ms"),
        (">= 90", "min", "90", ""),
        ("not below 30 fps", "min", "30", "fps"),
        ("at least 15 % lower", "min", "15", "%"),
        ("no less than 5 runs", "min", "5", "runs"),
        ("不低于 30 fps", "min", "30", "fps"),
        ("不超过 250 ms", "max", "250", "ms"),
        ("至少 30%", "min", "30", "%"),
    ],
)
def test_rules_in_words(text: str, direction: str, value: str, unit: str) -> None:
    found = list(rules_in_words(text))
    assert len(found) == 1
    assert (found[0][0], found[0][1], found[0][2][-1]) == (direction, Fraction(value), unit)


def test_in_force() -> None:
    files = {
        "plan/gates-v1.json": {"metric": "t", "max": 3},
        "plan/gates-v2.json": {"metric": "t", "max": 2, "supersedes": "gates-v1.json"},
        "plan/gates-v3.json": {"metric": "t", "max": 1, "supersedes": "gates-v2", "status": "draft"},
    }
    held = world(files)
    assert [gate.path[-7:] for gate in in_force(gates(held, bundles(held)[0]))] == ["v2.json"]


def test_partial_and_circular_supersession_leave_both_in_force() -> None:
    for supersedes in ({"supersedes_quality_only": "gates-a.json"}, {"supersedes": {"path": "gates-a.json", "scope": "quality"}}):
        held = world({"plan/gates-a.json": {"metric": "t"}, "plan/gates-b.json": {"metric": "t", **supersedes}})
        assert len(in_force(gates(held, bundles(held)[0]))) == 2
    held = world({"plan/gates-a.json": {"supersedes": "gates-b.json"}, "plan/gates-b.json": {"supersedes": "gates-a.json"}})
    records = gates(held, bundles(held)[0])
    assert len(in_force(records)) == 2
    assert len(cycles(supersedings(records))) == 1


def test_limits_know_metric_and_workload() -> None:
    held = world({"plan/gates.json": {"workload": "batch 8", "gates": [{"metric": "p99_ms", "max": 250, "duration": "5s"}]}})
    (limit,) = gates(held, bundles(held)[0])[0].limits
    assert (limit.metric, limit.direction, limit.value) == (("p", "99", "ms"), "max", 250)
    assert limit.context == {("workload", "batch 8"), ("duration", "5s")}
