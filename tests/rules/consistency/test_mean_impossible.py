"""Which means no whole sum gives."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rules.consistency.mean_impossible import RULE, is_possible
from tests.worlds import bundle, findings, snapshot


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"sessions": 12, "mean_retries_per_session": 3.47}, 1),
        ({"sessions": 12, "retries_per_session": 3.47}, 1),
        ({"n": 12, "mean_retries": 3.47}, 1),
        ({"n": 12, "mean_retries": 3.42}, 0),
        ({"episodes": 9, "meanCollisionsPerEpisode": 2.51}, 1),
        ({"样本数": 9, "平均重试次数": 2.51}, 1),
        ({"crashes": {"n": 7, "mean": 1.35}}, 1),
        ({"sessions": 9, "mean": {"evictions": 2.51, "latency_ms": 3.44}}, 1),
        ({"rows": [{"arm": "a", "n": 7, "mean_drops": 1.35}, {"arm": "b", "n": 7, "mean_drops": 1.43}]}, 1),
        ({"n": "7", "mean_restarts": "1.35"}, 1),
        ({"note": "5-point Likert", "n": 14, "mean": 4.26}, 1),
        ({"scale": "integer scores 1-5", "listeners": 7, "scores_per_listener": 2, "mean_opinion_score": 4.26}, 1),
        ({"scale": "integer scores 1 to 5", "raters": 14, "mean_score": 4.26}, 0),
        ({"n": 9, "mean_error": 2.51}, 0),
        ({"n": 9, "mean_miss_rate": 2.51}, 0),
        ({"n": 9, "mean_stall_ms": 2.51}, 0),
        ({"n": 8, "mean_errors": 0.12}, 0),
        ({"n": 8, "mean_errors": 0.13}, 0),
        ({"runs": 3, "episodes": 4, "mean_falls": 2.58}, 0),
        ({"seeds": 3, "mean_falls": 2.51}, 0),
        ({"threads": 8, "mean_conflicts": 1.35}, 0),
        ({"n": 7, "mean_tokens_per_s": 412.31}, 0),
    ],
)
def test_documents(document: object, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"results/r.json": document})))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("n=12, mean 3.47 errors", 1),
        ("Over 12 sessions the client averaged 3.47 retries.", 1),
        ("Over 12 sessions the client averaged 3.42 retries.", 0),
        ("The mean number of restarts over 7 runs was 1.35.", 1),
        ("Across 7 clips, 1.35 dropped frames per clip on average.", 1),
        ("Over 7 runs on 8 devices, 1.35 crashes per run on average.", 1),
        ("在9个回合中平均每回合2.51次碰撞。", 1),
        ("9 个回合的平均碰撞次数为 2.51。", 1),
        ("14 listeners gave integer scores; mean score 4.26.", 0),
        ("14 listeners gave one integer score each; the mean score is 4.26.", 1),
        ("Mean latency over 7 runs was 1.35 s.", 0),
        ("the mean error over 7 runs was 1.35", 0),
        ("3 runs of 7 clips averaged 1.33 drops per clip.", 0),
        ("| arm | n | mean retries |\n|---|---|---|\n| a | 12 | 3.47 |\n| b | 12 | 3.42 |", 1),
    ],
)
def test_text(text: str, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"README.md": f"# camp\n\n{text}\n"})))) == count


def test_ties_count_in_both_directions() -> None:
    assert is_possible(Fraction("0.12"), Fraction(1, 100), 8)
    assert is_possible(Fraction("0.13"), Fraction(1, 100), 8)
    assert not is_possible(Fraction("2.51"), Fraction(1, 100), 9)
