import pytest

from rules.core.model import Issue, User
from rules.freeze.gate_superseded import RULE
from tests.worlds import Step, bundle, findings, story

OLD = {"id": "acceptance-v1", "metric": "p99_ms", "workload": "batch 8", "min_reduction_pct": 10}
NEW = {"id": "acceptance-v2", "supersedes": "acceptance-v1.json", "metric": "p99_ms", "workload": "batch 8", "min_reduction_pct": 15}


def issue(body: str) -> Issue:
    return Issue(5, "[Campaign] camp", f"Campaign id: `camp`.\n\n{body}\n", User("mara", False), "open", (), (), ())


def titles(body: str, *steps: dict[str, object]) -> list[str]:
    return [f.title for f in findings(RULE, story(*(Step(bundle(files)) for files in steps), issue=issue(body)))]


FILES: dict[str, object] = {"plan/acceptance-v1.json": OLD, "plan/acceptance-v2.json": NEW}


@pytest.mark.parametrize(
    "body",
    [
        "Gate: `plan/acceptance-v1.json`.",
        "We accept by acceptance v1.",
        "Target: at least 10 % lower p99.",
        "目标：p99 至少降低 10%。",
    ],
)
def test_the_issue_states_the_older_one(body: str) -> None:
    assert len(titles(body, FILES)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "Gate: `plan/acceptance-v2.json`.",
        "Gate: `plan/acceptance-v1.json`, superseded by `plan/acceptance-v2.json`.",
        "Raised from 10 % to 15 %.",
        "The campaign lowers p99.",
        "Ten runs, 10 threads, 100 % load.",
    ],
)
def test_the_issue_names_the_newest_or_none(body: str) -> None:
    assert not titles(body, FILES)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({**OLD, "superseded_by": "acceptance-v2"}, {**NEW, "supersedes": None}),
        (OLD, {**NEW, "supersedes": [{"path": "plan/acceptance-v1.json", "scope": "latency only"}]}),
        (OLD, {**NEW, "supersedes": None, "replaces": "acceptance-v1"}),
        (OLD, {**NEW, "supersedes": None, "supersedesRecord": "plan/acceptance-v1.json"}),
    ],
)
def test_ways_to_say_it(older: dict[str, object], newer: dict[str, object]) -> None:
    assert len(titles("Gate: `plan/acceptance-v1.json`.", {"plan/acceptance-v1.json": older, "plan/acceptance-v2.json": newer})) == 1


@pytest.mark.parametrize(
    ("older", "newer", "fires"),
    [
        ({"metric": "t_s", "rule": "below 190"}, {"metric": "t_s", "rule": "below 180"}, True),
        ({"metric": "t_s", "rule": "below 180"}, {"metric": "t_s", "rule": "below 190"}, False),
        ({"metric": "t_s", "max": 190}, {"metric": "t_s", "max": 180}, True),
        ({"metric": "t_s", "op": "<=", "threshold": 190}, {"metric": "t_s", "op": "<=", "threshold": 180}, True),
        ({"gates": [{"id": "t", "max_s": 190}]}, {"gates": [{"id": "t", "max_s": 180}]}, True),
        ({"指标": "t_s", "规则": "不超过 190 s"}, {"指标": "t_s", "规则": "不超过 180 s"}, True),
        ({"metric": "t_s", "duration": "5s", "max": 190}, {"metric": "t_s", "duration": "15s", "max": 180}, False),
        ({"metric": "t_s", "arm": "a", "max": 190}, {"metric": "t_s", "arm": "b", "max": 180}, False),
        ({"metric": "t_s", "max": 190}, {"metric": "bytes", "max": 180}, False),
    ],
)
def test_stricter_twins(older: dict[str, object], newer: dict[str, object], fires: bool) -> None:
    found = titles("Gate: `plan/gates-first.json`.", {"plan/gates-first.json": older}, {"plan/gates-second.json": newer})
    assert bool(found) == fires


def test_names_tell_durations_apart() -> None:
    five, fifteen = {"metric": "t_s", "min_reduction_pct": 20}, {"metric": "t_s", "min_reduction_pct": 30}
    assert not titles("Gate: `plan/acceptance-5s.json`.", {"plan/acceptance-5s.json": five}, {"plan/acceptance-15s.json": fifteen})


def test_quoted_and_struck_text_states_nothing() -> None:
    assert not titles("> Gate: `plan/acceptance-v1.json`.\n\n~~acceptance-v1.json~~", FILES)


def test_recorded_times_outrank_commits() -> None:
    lax = {"metric": "t_s", "max": 190, "recorded_at": "2026-10-02T00:00:00Z"}
    strict = {"metric": "t_s", "max": 180, "recorded_at": "2026-10-01T00:00:00Z"}
    assert not titles("Gate: `plan/gates-lax.json`.", {"plan/gates-lax.json": lax}, {"plan/gates-strict.json": strict})


def test_circles_need_no_issue() -> None:
    a, b = {"supersedes": "gates-b.json", "metric": "t"}, {"supersedes": "gates-a.json", "metric": "t"}
    found = findings(RULE, story(Step(bundle({"plan/gates-a.json": a, "plan/gates-b.json": b}))))
    assert [f.decision for f in found] == ["human"]


def test_a_draft_supersedes_nothing() -> None:
    assert not titles("Gate: `plan/acceptance-v1.json`.", {**FILES, "plan/acceptance-v2.json": {**NEW, "status": "draft"}})
