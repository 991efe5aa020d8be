"""Which percentiles rest on too few observations."""

from __future__ import annotations

import pytest

from rules.consistency.percentile_undersampled import RULE
from tests.worlds import bundle, findings, snapshot


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"n": 12, "p95_ms": 48.2}, 1),
        ({"n": 20, "p95_ms": 48.2}, 0),
        ({"n": 5, "p90_ms": 1, "p95_ms": 2.0, "p50_ms": 1}, 1),
        ({"requests": 60, "latency": {"p99_ms": 48.2}}, 1),
        ({"config": {"requests": 40}, "latency_ms": {"p50": 1.0, "p99": 2.0}}, 1),
        ({"requests": 50, "rows": [{"concurrency": 1, "p99_ms": 3.0}, {"concurrency": 2, "p99_ms": 3.0}]}, 1),
        ({"rows": [{"arm": "a", "n": 50, "p99_ms": 3.0}, {"arm": "b", "n": 500, "p99_ms": 3.0}]}, 1),
        ({"sampleCount": 12, "latencyP95Ms": 48.2}, 1),
        ({"runs": 5, "requests_per_run": 10, "p99_ms": 3.1}, 1),
        ({"runs": 5, "requests_per_run": 20, "p99_ms": 3.1}, 0),
        ({"count": 9, "percentiles": {"50": 3.1, "90": 4.2}}, 1),
        ({"samples": "12", "p95": "48.2 ms"}, 1),
        ({"样本数": 12, "P95_毫秒": 48.2}, 1),
        ({"n": 500, "p99_9_ms": 3.1}, 1),
        ({"n": 1000, "p99.9_ms": 3.1}, 0),
        ({"requests": [{"id": i, "ttft_ms": 1.0 + i / 10} for i in range(12)], "p95_ttft_ms": 2.05}, 1),
        ({"n": 20, "target": {"p99_ms": 50}}, 0),
        ({"n": 20, "p99_limit_ms": 50}, 0),
        ({"num_gpus": 8, "workers": 4, "p99_ms": 50.1}, 0),
        ({"runs": 3, "duration_s": 60, "p99_ms": 50.1}, 0),
        ({"n": 12, "p99_ms": 50.1, "note": "p99 is the maximum of twelve"}, 0),
        ({"n": 12, "p95_ms": 3.1, "descriptive_only": True}, 0),
        ({"total_requests": 5000, "samples_ms": [1.0, 2.0, 3.0], "p99_ms": 3.0}, 0),
    ],
)
def test_documents(document: object, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"results/r.json": document})))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The p99 over 40 requests is 83 ms.", 1),
        ("n=12, p95 48.2 ms", 1),
        ("40 次请求的 P99 为 83 ms。", 1),
        ("第 95 百分位延迟为 12.1 ms，共 15 次请求。", 1),
        ("P99（100 个样本）为 83 ms", 0),
        ("The 99th percentile of 50 lookups is 1.2 s.", 1),
        ("The p90 latency across nine queries was 3.10 s.", 1),
        ("The p90 latency across ten queries was 3.10 s.", 0),
        ("Five runs of 60 requests gave a p99 of 48.2 ms.", 0),
        ("Five runs of 10 requests gave a p99 of 48.2 ms.", 1),
        ("We report no p99 for 40 requests; the maximum was 83 ms.", 0),
        ("The p99 target of 50 ms over 60 requests is not judged.", 0),
        ("At 60 requests per second the p99 was 48.2 ms.", 0),
        ("With 8 workers, over 5,000 requests, p99 was 48.2 ms.", 0),
        ("> Over 60 requests the p99 was 48.2 ms.", 0),
        ("Over 60 requests, p50 was 12 ms and p99 was 48.2 ms.\nBoth are descriptive.", 0),
        ("| arm | n | p95 (ms) |\n|---|---|---|\n| control | 12 | 48.2 |\n| candidate | 200 | 40.1 |", 1),
        ("| metric | control |\n|---|---|\n| requests | 60 |\n| p99 | 48.2 ms |", 1),
    ],
)
def test_text(text: str, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"README.md": f"# camp\n\n{text}\n"})))) == count


def test_a_sentence_that_repeats_a_record_stands_in_its_finding() -> None:
    (found,) = findings(
        RULE, snapshot(bundle({"README.md": "# c\n\nOver 12 requests p95 was 48.2 ms.\n", "results/r.json": {"n": 12, "p95_ms": 48.2}}))
    )
    assert {at.path for at in found.locations} == {"evidence/camp/README.md", "evidence/camp/results/r.json"}


def test_rows_of_a_table_have_lines() -> None:
    (found,) = findings(RULE, snapshot(bundle({"results/r.csv": "arm,n,p99_ms\na,50,3.1\nb,100,2.9\n"})))
    assert found.locations[0].line == 2
