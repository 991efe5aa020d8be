from __future__ import annotations

import pytest

from rules.core.model import Severity
from rules.status.status_stale import RULE
from tests.talk import issue
from tests.worlds import bundle, findings, snapshot

CANDIDATE = {"run": "r1", "arm": "candidate", "http_status": 200, "elapsed_seconds": 173.937}
BASELINE = {"run": "b1", "arm": "baseline", "http_status": 200, "elapsed_seconds": 814.064}
BOTH: dict[str, object] = {"results/r1.json": CANDIDATE, "results/b1.json": BASELINE}


def of(status: object, name: str = "results/status.json", receipts: dict[str, object] = BOTH) -> list[Severity]:
    held = snapshot(bundle({name: status, **receipts, "plan/runspec.json": {"campaign": "camp", "devices": 4}}))
    return [found.severity for found in findings(RULE, held)]


@pytest.mark.parametrize(
    "status",
    [
        {"execution": "queued"},
        {"executionState": "not started", "sampleCount": 0},
        {"progress": {"measurement": {"state": "queued"}}},
        {"状态": "排队中"},
        {"executed": False},
        {"results": []},
        {"four_device_samples": 0},
        {"candidate_samples": 0},
        {"label": "preflight snapshot", "execution": "queued"},
        {"arms": [{"name": "r1", "state": "queued"}]},
    ],
)
def test_fields_that_say_nothing_ran(status: object) -> None:
    assert of(status) == [Severity.HIGH]


@pytest.mark.parametrize(
    "status",
    [
        {"execution": "completed", "samples": 2},
        {"execution": "completed", "qualified_samples": 0, "failed_runs": 0},
        {"execution": "completed", "eight_device_samples": 0},
        {"execution": "completed", "contracts": [{"devices": 8, "samples": 0}]},
        {"execution": "completed", "related": [{"campaign": "other-12", "samples": 0, "state": "queued"}]},
        {"arms": [{"name": "fma", "state": "queued"}]},
        {"verdict": "pending", "status": "pending"},
        {"execution": "completed", "next": {"reservation": "queued"}},
    ],
)
def test_fields_about_something_else(status: object) -> None:
    assert of(status) == []


@pytest.mark.parametrize(
    ("text", "stale"),
    [
        ("The campaign is still queued; no measurements have been taken.", True),
        ("候选搜索尚未开始。", True),
        ("The baseline is measured. No candidate search has begun.", True),
        ("Both arms are measured. No further runs are planned. No speedup is claimed.", False),
        ("At that time no run existed. Since then both arms ran.", False),
        ("No qualified result exists.", False),
    ],
)
def test_prose_is_medium(text: str, stale: bool) -> None:
    assert of(f"# Status\n\n{text}\n", "results/STATUS.md") == [Severity.MEDIUM] * stale


def test_without_receipts_of_that_arm_it_is_true() -> None:
    assert of({"execution": "queued"}, receipts={}) == []
    assert of({"candidate_samples": 0}, receipts={"results/b1.json": BASELINE}) == []
    assert of({"execution": "queued"}, receipts={"results/next-plan.json": {"state": "waiting for a reservation"}}) == []


@pytest.mark.parametrize(
    ("body", "stale"),
    [
        (
            "## Progress\n\nThe baseline finished with 3 samples. The candidate failed with HTTP 500.\n\n## Plan\n\nText.\n\n**Status:** INCONCLUSIVE. No runs yet.",
            True,
        ),
        ("当前状态：基线已完成三次运行，HTTP 200。\n\n状态：INCONCLUSIVE，尚无执行结果。", True),
        ("The baseline run completed on four devices in 814.064 s.\n\nStatus: nothing has been executed yet.", True),
        ("Current state: the baseline completed with HTTP 200.\n\nStatus: INCONCLUSIVE; no qualified result, no speedup.", False),
        ("First preflight: two warmups and one measured request.\n\nStatus: preflight prepared; no new execution result or speedup.", False),
        ("Current state: all five tile runs are done, the mosaic is in the bundle.\n\n### Owner\n\n@x\n\nStatus: nothing measured yet.", True),
        ("Progress so far: the control sweep is complete.\n\nVerdict: none, no runs so far.", True),
        ("进展：基线测量已全部跑完，回执在包内。\n\n状态：尚未执行。", True),
        ("Current state: the run spec is complete and the gates are frozen.\n\nStatus: no execution result yet.", False),
        ("Current state: the protocol review completed with 3 comments.\n\nStatus: nothing has been run yet.", False),
        ("当前状态：运行计划已完成 3 轮评审。\n\n状态：尚未执行。", False),
        ("Current state: no request completed; nothing ran on four devices.\n\nStatus: no execution result yet.", False),
        ("Current state: the four-device baseline completed with HTTP 200.\n\nStatus: no eight-device result yet.", False),
        ("Current state: the baseline completed with 3 samples.\n\nStatus: INCONCLUSIVE; no candidate search has begun.", False),
    ],
)
def test_the_issues_closing_line(body: str, stale: bool) -> None:
    found = findings(RULE, snapshot({"README.md": "x"}, issue=issue(body)))
    assert [one.severity for one in found] == [Severity.MEDIUM] * stale
