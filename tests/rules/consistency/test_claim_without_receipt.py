from __future__ import annotations

import pytest

from rules.consistency.claim_without_receipt import RULE
from rules.core.model import Confirmed, Finding, Severity, Unchecked
from tests.talk import issue, pull
from tests.worlds import bundle, findings, run, snapshot

RECORDS: dict[str, object] = {
    "plan/gates.json": {"campaign": "camp-7", "latency_ms_at_most": 412.75, "gates": [{"metric": "p99", "value": 455.25}]},
    "results/run.json": {
        "elapsed_s": 168.9561,
        "ttft": {"unit": "ms", "samples": [381.2077, 382.9154, 385.631]},
        "gpuMemory": {"peakBytes": 44313051136},
        "controlMs": 91.437,
        "throughput": {"value": 2093.47, "unit": "MB/s"},
        "per_rank_s": {"rank0": 12.125, "rank1": 12.375},
        "target_ms": 77.125,
        "note": "drain took 3.0517 s",
        "hit_rate": 0.94123,
        "耗时_毫秒": 55.125,
    },
    "results/sweep.csv": "batch,arm,latency (ms),throughput\n8,control,120.125,1184.62\n8,candidate,100.25,1184.99\n8,control,121.375,1200.5\n8,candidate,99.75,1201.5\n",
    "results/trials.jsonl": '{"trial": 1, "rtf": 0.81253, "wall_min": 2.8159}\n{"trial": 2, "rtf": 0.81257}\n',
    "results/server.log": "2026-11-01 12:00:00 INFO step=3 took 14.8125 ms\nTotal: 9,876.5 tokens/s\n",
    "results/conf.yaml": "measured:\n  p50: {unit: us, value: 640.25}\n",
}


def world(body: str, files: dict[str, object] = RECORDS, said: str = "", **more: object) -> list[Finding | Confirmed | Unchecked]:
    head = {**bundle(files), **more}
    held = snapshot(head, base={"README.md": "x"}, pull=pull(body) if body else None, issue=issue(said, title="camp") if said else None)
    return run(RULE, held)


def fires(body: str, files: dict[str, object] = RECORDS, **more: object) -> bool:
    return any(isinstance(item, Finding) for item in world(body, files, **more))


@pytest.mark.parametrize(
    "body",
    [
        "The control took 168.956 s.",
        "The control took 168.96 seconds.",
        "The control took 2.8159 minutes.",
        "Control completed at168.956s.",
        "Median TTFT was 382.92 ms, the mean 383.251 ms.",
        "TTFT spread from 381.21 to 385.63 ms.",
        "Peak memory was 41.27 GiB (44.313 GB).",
        "Control latency measured 91.44 ms.",
        "Throughput reached 2,093.47 MB/s, i.e. 2.09347 GB/s.",
        "The mean over ranks was 12.250 s.",
        "The drain took 3.0517 s.",
        "Cache hit rate reached 94.12 %.",
        "实测耗时 55.125 毫秒。",
        "The control arm's mean latency was 120.75 ms, the candidate's 100.00 ms.",
        "RTF was 0.81255 on average.",
        "The step took 14.8125 ms; total throughput 9,876.5 tokens/s.",
        "p50 latency is 640.25 µs (0.64025 ms).",
        "| metric | value |\n|---|---|\n| elapsed (s) | 168.956 |\n| TTFT median (ms) | 382.92 |",
    ],
)
def test_figures_that_stand_in_a_record(body: str) -> None:
    made = world(body)
    assert not [item for item in made if isinstance(item, Finding)]
    assert [item for item in made if isinstance(item, Confirmed)]


@pytest.mark.parametrize(
    ("body", "figure"),
    [
        ("The control took 169.956 s.", "169.956"),
        ("The control took 168.9562 s.", "168.9562"),
        ("Median TTFT was 382.95 ms.", "382.95"),
        ("Peak memory measured 168.956 GiB.", "168.956"),
        ("Throughput went from 2,093.47 to 2,210.31 MB/s.", "2,210.31"),
        ("TTFT was 381.21-386.44 ms.", "386.44"),
        ("Warm-up and run took 168.956/171.204 s.", "171.204"),
        ("Mean latency is 412.75 ms, as measured.", "412.75"),
        ("The measured p99 latency is 455.25 ms.", "455.25"),
        ("Measured 77.125 ms per frame.", "77.125"),
        ("队列对照完成，耗时 168.456 秒。", "168.456"),
        ("实测吞吐达到 2,093.74 MB/s。", "2,093.74"),
        ("GPU utilisation averaged 87.31 %.", "87.31"),
        ("The run consumed 1,284.5 kJ.", "1,284.5"),
        ("Power drew 311.75 W on average.", "311.75"),
        ("| arm | latency (ms) |\n|---|---:|\n| control | 91.44 |\n| candidate | 88.231 |", "88.231"),
        ("The control took 171.25 s; the candidate's 168.956 s is unverified author commentary.", "171.25"),
        ("We missed the 400 ms budget: latency measured 419.34 ms.", "419.34"),
    ],
)
def test_figures_without_a_record(body: str, figure: str) -> None:
    made = [item for item in world(body) if isinstance(item, Finding)]
    assert len(made) == 1
    assert figure in made[0].problem
    assert made[0].severity is Severity.HIGH


@pytest.mark.parametrize(
    "body",
    [
        "Learning rate 0.0003125, weight decay 0.01250, seed 20261101, context 16384 tokens.",
        "Runs on driver 24.1.1031 with torch 2.5.1408, image tag 1.2345.",
        "The queue control's 171.25 s has no committed receipt.",
        "The queue control took 171.25 s. This figure has no committed receipt and stays unverified author commentary.",
        "The author's log of 171.25 s is unverified.",
        "队列对照耗时 171.25 秒，没有提交的回执。",
        "The separate campaign #293 measured 812.447 s on eight devices.",
        "For orientation: issue #293 reports 812.447 s.",
        "The vendor's datasheet lists 1638.4 GB/s peak bandwidth.",
        "Theoretical peak is 353.92 TFLOPS; the rated power is 310.25 W.",
        "The paper reports 55.321 ms for the same model.",
        "We would expect 133.25 ms after fusion.",
        "The target is a median of 133.25 ms.",
        "The gate allows at most 133.25 ms.",
        "Must stay below 133.25 ms.",
        "> The control took 171.25 s.",
        "~~The control took 171.25 s.~~",
        "Previously this said the control took 171.25 s, which was wrong.",
        "The reviewer says the control took 171.25 s.",
        "```\nlatency 171.25 ms\n```",
        "The control's 91.437 ms is 23.882 % below 120.125 ms.",
        "Will the control take 171.25 s?",
        "The control should take 171.25 s.",
        "The control takes about 170 s and 24 GiB.",
        "厂商标称带宽 1638.4 GB/s。",
        "论文报告 55.321 毫秒。",
        "## Targets\n\n- median latency 133.25 ms\n",
        "| gate | target (ms) | measured (ms) |\n|---|---|---|\n| latency | 133.25 | 91.437 |",
        "None of the figures below has a committed receipt.\n\n- control 171.25 s\n- candidate 161.25 s",
        "Launched with `bench --interval 12.345 --scale 1.2345`.",
    ],
)
def test_what_claims_no_measurement_of_this_campaign(body: str) -> None:
    assert not fires(body)


def test_the_same_figure_in_issue_and_pull_is_one_matter() -> None:
    made = [
        item
        for item in world("The queue control took 171.25 s.", said="Current state of camp: the control took 171.25 s.")
        if isinstance(item, Finding)
    ]
    assert len(made) == 1
    assert {location.path for location in made[0].locations} == {"pull:body", "issue:body"}


def test_a_figure_without_unit_is_low() -> None:
    made = [item for item in world("The score measured 0.87341 and the loss reached 2.34561.") if isinstance(item, Finding)]
    assert {item.severity for item in made} == {Severity.LOW}


def test_a_receipt_that_is_declared_external_is_not_checked() -> None:
    inventory = {"bundles": [{"id": "camp", "path": "evidence/camp", "external": [{"name": "results/queue.json", "reason": "withheld"}]}]}
    made = world("The queue control took 171.25 s (results/queue.json).", **{"tools/evidence_inventory.json": inventory})
    assert not [item for item in made if isinstance(item, Finding)]
    assert any(isinstance(item, Unchecked) and "external" in item.why for item in made)


def test_a_record_that_cannot_be_read_is_not_checked() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
    made = world("The queue control took 171.25 s.", {**RECORDS, "results/raw.json": pointer})
    assert not [item for item in made if isinstance(item, Finding)]
    assert any(isinstance(item, Unchecked) for item in made)


def test_a_readme_and_a_guide_are_held_against_the_bundle() -> None:
    readme = {**RECORDS, "README.md": "# camp\n\nThe control took 171.25 s.\n"}
    guide = "Results of evidence/camp: control 171.25 s measured.\n"
    made = findings(RULE, snapshot({**bundle(readme), "docs/results.md": guide}))
    assert [item.locations[0].path for item in made] == ["evidence/camp/README.md", "docs/results.md"]
    assert set(made[0].roots) & set(made[1].roots)


def test_the_text_that_claims_it_is_no_receipt() -> None:
    assert fires(
        "The control took 171.25 s.", {**RECORDS, "results/summary.md": "control 171.25 s", "results/c.json": {"claims": [{"claimed_s": 171.25}]}}
    )
