"""Ends of processes in every form that a raw record gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rules.reading.documents import read_json
from rules.reading.lifecycle import Observation, observations


def told(value: Any) -> list[Observation]:
    return list(observations(read_json(json.dumps(value).encode()).outline))


def bad(value: Any) -> list[str]:
    return [one.shown for one in told(value) if one.bad]


@pytest.mark.parametrize(
    ("record", "events"),
    [
        ({"exits": {"workers": [0, None, 0], "server": 0, "container": "137"}}, ["workers: null", "container: 137"]),
        ({"lifecycle": {"workers": [0, 0, -15]}}, ["workers: -15"]),
        ({"worker_exits": "71/72"}, ["worker_exits: 71/72"]),
        ({"worker_exits": "0,0,0,-15"}, ["worker_exits: 0,0,0,-15"]),
        ({"tasks": [{"ExitCode": "0:0"}, {"ExitCode": "0:15"}]}, ["ExitCode: 0:15"]),
        ({"State": {"Status": "exited", "OOMKilled": True, "ExitCode": 137}}, ["OOMKilled: true", "ExitCode: 137"]),
        ({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}, ["exitCode: 137", "reason: OOMKilled"]),
        ({"exit_codes": {"0": 70, "143": 2}}, ["143: 2"]),
        ({"exit_codes": {"0": 0, "1": 143}}, ["1: 143"]),
        ({"workers": {"total": 72, "exit_zero": 70, "exit_nonzero": 2}}, ["exit_zero: 70", "exit_nonzero: 2"]),
        ({"forcedTerminations": {"count": 3}}, ["count: 3"]),
        ({"processes": {"leaked": 2}, "orphans": 0}, ["leaked: 2"]),
        ({"退出码": {"worker": [0, -9]}, "强制信号": 2}, ["worker: -9", "强制信号: 2"]),
        ({"State": "OUT_OF_MEMORY", "timed_out": True}, ["State: OUT_OF_MEMORY", "timed_out: true"]),
    ],
)
def test_events_in_their_forms(record: Any, events: list[str]) -> None:
    assert bad(record) == events


@pytest.mark.parametrize(
    "record",
    [
        {"timeout_s": 30, "max_forced_signals": 0, "oom_score_adj": -5, "StopSignal": "SIGTERM", "exit_time_s": 3.5, "early_exit_layer": 12},
        {"signal": 12.5, "signal_power": 3, "teacher_forcing": 1},
        {"negative": [{"expected_exit_code": 3, "exit_code": 3}]},
        {"expected_exit_codes": [0, 1], "gates": {"worker_exit": 1}},
        {"forced_signals": 0, "signal": None, "oom_killed": False, "timed_out": False, "remaining_pids": [], "exit_code": 0},
        {"lifecycle": {"ranks": [0, 1, 2, 3], "exit_codes": [0, 0, 0, 0]}},
        {"workers": [0, 1, 2, 3]},
    ],
)
def test_settings_expectations_and_nothing_are_no_events(record: Any) -> None:
    assert bad(record) == []


def test_subjects_and_their_numbers() -> None:
    found = told({"server_exit": 0, "workers": [{"rank": 3, "exit_code": -15}], "process_exit": {"mux": -6}})
    assert [(one.subject, one.index) for one in found] == [("server", None), ("worker", "3"), ("process", None)]
    assert "mux" in found[2].nouns
