"""Comparisons between arms that are not comparable."""

from __future__ import annotations

from typing import Any

import pytest

from rules.consistency.arms_incomparable import RULE
from rules.core.model import Finding
from tests.worlds import bundle, findings, snapshot


def found(record: Any = None, **more: Any) -> list[Finding]:
    files = {**({"results/compare.json": record} if record else {}), **{path.replace("__", "/").replace("_md", ".md"): v for path, v in more.items()}}
    return findings(RULE, snapshot(bundle(files)))


def arms(left: dict[str, Any], right: dict[str, Any], variable: Any = "cache_mb") -> dict[str, Any]:
    return {"declared_variable": variable, "control": {"config": left}, "candidate": {"config": right}}


def test_a_second_variable_is_named() -> None:
    (one,) = found(arms({"cache_mb": 64, "threads": 8}, {"cache_mb": 256, "threads": 16}))
    assert "config.threads" in one.problem and "cache_mb`" in one.problem
    assert one.locations[0].pointer == "/candidate/config/threads"


@pytest.mark.parametrize(
    "record",
    [
        arms(
            {"cache_mb": 64, "threads": 8, "port": 1, "output_dir": "a", "run_id": "x"},
            {"cache_mb": 256, "threads": 8, "port": 2, "output_dir": "b", "run_id": "y"},
        ),
        arms({"cache_mb": 64, "threads": "8"}, {"cache_mb": 256, "threads": 8}),
        arms({"cacheMb": 64}, {"cacheMb": 256}),
        arms({"cache_mb": 64, "threads": 8}, {"cache_mb": 256, "threads": 16}, ["cache_mb", "threads"]),
        {"control": {"threads": 4, "mean_ms": 3}, "candidate": {"threads": 8, "mean_ms": 2}, "reduction_pct": 33},
    ],
)
def test_what_is_no_second_variable(record: dict[str, Any]) -> None:
    assert found(record) == []


def test_two_files_and_a_plan_that_declares_the_variable() -> None:
    control = {"arm": "control", "task_queue": 1, "batch": 8, "elapsed_s": 41.2}
    files = {"plan/runspec.json": {"declared_variable": "task_queue"}, "results/control.json": control}
    assert found(**files, **{"results/candidate.json": {**control, "arm": "candidate", "task_queue": 2, "elapsed_s": 36.9}}) == []
    assert len(found(**files, **{"results/candidate.json": {**control, "arm": "candidate", "task_queue": 2, "batch": 16}})) == 1


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        ({"planned_order": ["A", "B", "B", "A"], "completed_order": ["A", "B"], "gain_pct": 12.3}, 1),
        ({"planned_sequence": "AB/BA", "executed_sequence": "AB", "conclusion": "The candidate is 9.2 % faster."}, 1),
        ({"order": "ABBA", "runs": [{"arm": "A"}, {"arm": "B"}, {"arm": "B"}, {"arm": "A", "status": "aborted"}], "speedup": 1.09}, 1),
        ({"计划顺序": ["A", "B", "B", "A"], "完成顺序": ["A", "B"], "提升_pct": 12.3}, 1),
        ({"planned_order": "ABBA", "completed_order": "AB", "note": "no gain is inferred; 9.2 % is noise"}, 0),
        ({"planned_order": "ABBA", "completed_order": "AB", "target_gain_pct": 30}, 0),
        ({"planned_order": "ABBA", "completed_order": "ABBA", "gain_pct": 12.3}, 0),
    ],
)
def test_a_gain_from_an_order_that_was_not_finished(record: dict[str, Any], wrong: int) -> None:
    assert len(found(record)) == wrong


def test_a_traced_run_as_a_metric() -> None:
    assert len(found({"control": {"profiled": False, "s": 45.5}, "candidate": {"profiled": True, "s": 38.2}, "speedup": 1.19})) == 1
    assert len(found(README_md="The traced candidate run took 38.2 s against 45.5 s, a 16 % gain.\n", record={"a": 1})) == 1
    assert found({"metric": {"traced": False, "s": 43.9}, "diagnostic": {"traced": True, "s": 38.2}}) == []


def test_the_figure_of_a_traced_receipt_under_a_gain() -> None:
    gain = {"control_s": 45.53, "candidate_s": 38.27, "reduction_pct": 15.9}
    traced = {"results/candidate.json": {"arm": "candidate", "traced": True, "elapsed_s": 38.27}}
    (one,) = found(gain, **traced)
    assert one.locations[0].pointer == "/candidate_s"
    assert found(gain, **traced, **{"results/clean.json": {"arm": "candidate", "traced": False, "elapsed_s": 38.27}}) == []


def test_another_campaign_or_device_count_as_the_denominator() -> None:
    here = "# c\n\nThis campaign uses 4 GPUs.\n\n"
    assert (
        len(found(README_md=here + "Against the 8-GPU run of campaign #41 (12.4 s) the 4-GPU run takes 10.1 s, 18.5 % faster.\n", record={"a": 1}))
        == 1
    )
    assert found(README_md=here + "The control took 12.4 s on 4 GPUs and the candidate 10.1 s, 18.5 % faster.\n", record={"a": 1}) == []
    assert len(found({"control": {"devices": 8, "s": 384.16}, "candidate": {"devices": 4, "s": 266.6}, "gain_pct": 30.6})) == 1
