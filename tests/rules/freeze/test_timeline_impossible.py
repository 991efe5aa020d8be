import pytest

from rules.freeze.timeline_impossible import RULE
from tests.worlds import Step, bundle, findings, snapshot, story

S, E = "2026-10-12T08:00:00Z", "2026-10-12T08:10:00Z"


def count(value: object) -> int:
    return len(findings(RULE, snapshot(bundle({"results/a.json": value}))))


@pytest.mark.parametrize(
    "value",
    [
        {"started_at": E, "finished_at": S},
        {"startTime": E, "endTime": S},
        {"begin": 1793500100, "end": 1793500000},
        {"request_started_at": E, "request_completed_at": S},
        {"开始时间": E, "结束时间": S},
        {"start": {"at": E}, "end": {"at": S}},
        {"runs": [{"start": S, "end": E}, {"start": E, "end": S}]},
        {"started_at": "2026-10-12T10:05:00+02:00", "ended_at": "2026-10-12T08:00:00Z"},
        {"start_s": 12.5, "end_s": 3.25},
        {"started_at": S, "finished_at": E, "elapsed_s": 540.2},
        {"started_at": S, "finished_at": E, "wall_ms": 540200},
        {"started_at": S, "finished_at": E, "elapsed": "9 min 0 s"},
        {"started_at": S, "finished_at": E, "duration_s": 700.5},
        {"started_at": S, "finished_at": E, "耗时_s": 540},
        {"events": [{"at": S, "event": "a"}, {"at": E, "event": "b"}, {"at": S, "event": "c"}]},
        {"timeline": [{"t_s": 0.0}, {"t_s": 4.5}, {"t_s": 3.0}]},
        {"phases": [{"phase": "load", "timestamp": S}, {"phase": "run", "timestamp": E}, {"phase": "stop", "timestamp": S}]},
        {"started_at": "2026-10-12T08:00:00Z", "revision": {"sha": "abcdef1", "committed_at": "2026-10-13T08:00:00Z"}},
    ],
)
def test_impossible(value: dict[str, object]) -> None:
    extra = value
    steps = (Step({"x": "y"}), Step(bundle({"results/a.json": extra})))
    assert len(findings(RULE, story(*steps))) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"started_at": S, "finished_at": E, "elapsed_s": 600.4},
        {"started_at": S, "finished_at": E, "elapsed_s": 594.5},
        {"started_at": S, "finished_at": E, "decode_elapsed_s": 40.2},
        {"started_at": S, "finished_at": E, "duration": "15s", "fps": 24},
        {"started_at": S, "finished_at": E, "duration_s": 15, "clip": "a.mp4"},
        {"started_at": S, "finished_at": E, "elapsed": "10 min"},
        {"started_at": "2026-10-25 02:50:00", "finished_at": "2026-10-25 02:20:00"},
        {"started_at": S, "finished_at": None},
        {"started_at": E, "finished_at": "0001-01-01T00:00:00Z"},
        {"start": 100, "end": 20},
        {"events": [{"at": E, "event": "c"}, {"at": S, "event": "b"}]},
        {"events": [{"at": S, "rank": 0}, {"at": E, "rank": 0}, {"at": S, "rank": 1}, {"at": E, "rank": 1}]},
        {"runs": [{"run": 2, "started_at": E}, {"run": 1, "started_at": S}, {"run": 3, "started_at": E}]},
        {"phases": [{"phase": "load", "time_s": 12.0}, {"phase": "run", "time_s": 40.0}, {"phase": "stop", "time_s": 3.0}]},
        {"planned_start": E, "finished_at": S},
        {"expires_at": "2027-10-12T08:00:00Z"},
    ],
)
def test_possible(value: object) -> None:
    steps = (Step({"x": "y"}), Step(bundle({"results/a.json": value})))
    assert not findings(RULE, story(*steps))


def test_a_log_of_lines() -> None:
    lines = f'{{"ts": "{S}", "event": "a"}}\n\n{{"ts": "{E}", "event": "b"}}\n{{"ts": "{S}", "event": "c"}}\n'
    found = findings(RULE, snapshot(bundle({"results/events.jsonl": lines})))
    assert [at.line for at in found[0].locations] == [4, 3]


def test_results_against_commits() -> None:
    late = bundle({"results/a.json": {"finished_at": "2026-11-01T12:30:00Z"}})
    assert len(findings(RULE, story(Step(late, minute=5)))) == 1
    assert not findings(RULE, story(Step(late, minute=21)))
    own = f"{1:040x}"
    early = bundle({"results/a.json": {"started_at": "2026-11-01T11:00:00Z", "revision": own}})
    assert len(findings(RULE, story(Step({"x": "y"}), Step(early)))) == 1
    assert not findings(RULE, story(Step({"x": "y"}), Step(bundle({"results/a.json": {"started_at": "2026-11-01T12:01:00Z", "revision": own}}))))
