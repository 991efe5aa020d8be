"""Which figures an identity contradicts."""

from __future__ import annotations

import pytest

from rules.consistency.rates_inconsistent import RULE
from tests.worlds import bundle, findings, snapshot


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"outputTokens": 51200, "elapsedSeconds": 40.0, "tokensPerSecond": 1380}, 1),
        ({"tokens": 1000, "elapsed_ms": 7300, "tokens_per_s": 137}, 0),
        ({"frames": 1200, "wall_s": 50.0, "fps": 28.0}, 1),
        ({"requests": 600, "duration_s": 60, "requests_per_s": 12.0}, 1),
        ({"requests": 600, "duration_s": 60, "qps": 10.0}, 0),
        ({"bytes": 8000000000, "elapsed_s": 4.0, "gb_per_s": 2.5}, 1),
        ({"prompt_tokens": 100, "output_tokens": 200, "elapsed_s": 2.0, "tokens_per_s": 150.0}, 0),
        ({"output_tokens": 512, "total_s": 10.0, "ttft_s": 1.0, "decode_tokens_per_s": 56.9}, 0),
        ({"output_tokens": 512, "elapsed_s": 40.0, "concurrency": 4, "tokens_per_s": 51.2}, 0),
        ({"tokens": 512, "elapsed_s": 40.0, "mean_tokens_per_s": 52.0}, 0),
        ({"baseline_ms": 62.5, "optimized_ms": 50.0, "speedup": 1.35}, 1),
        ({"baseline_ms": 62.5, "optimized_ms": 50.0, "speed_up": 1.25}, 0),
        ({"基线_ms": 62.5, "候选_ms": 50.0, "加速比": 1.35}, 1),
        ({"control": {"elapsed_s": 62.5}, "candidate": {"elapsed_s": 50.0}, "speedup": 1.35}, 1),
        ({"control_tokens_per_s": 100.0, "candidate_tokens_per_s": 125.0, "speedup": 1.25}, 0),
        ({"mean_speedup": 1.3, "control_s": 62.5, "candidate_s": 50.0}, 0),
        ({"elapsed_s": 12.0, "audio_s": 10.0, "rtf": 1.4}, 1),
        ({"elapsed_s": 12.0, "audio_duration_s": 10.0, "rtf": 1.2}, 0),
        ({"source_fps": 25, "decoded_frames_per_s": 40, "rtf": 0.5}, 1),
        ({"source_fps": 25, "decoded_frames_per_s": 40, "rtf": 0.625}, 0),
        ({"source_fps": 25, "decoded_frames_per_s": 40, "rtf": 1.6}, 0),
        ({"cameraFps": 30, "processedFps": 48.0, "realTimeFactor": 0.9}, 1),
        ({"片源_fps": 24, "解码_fps": 60, "实时率": 0.5}, 1),
        ({"片源_fps": 24, "解码_fps": 60, "实时率": 0.4}, 0),
        ({"source_fps": 25, "decoded_frames_per_s": 100, "streams": 4, "rtf": 1.0}, 0),
        ({"target_fps": 60, "rtf": 0.5}, 0),
        ({"native_fps": 24, "output_fps": 12.0, "mean_rtf": 1.7}, 0),
        ({"hits": 873, "misses": 127, "hit_rate": 0.893}, 1),
        ({"hits": 873, "lookups": 1000, "hit_rate_pct": 87.3}, 0),
        ({"rows": [{"frames_per_s": 17.31, "rtf": 1.237}, {"frames_per_s": 22.4, "rtf": 0.957}]}, 0),
        ({"rows": [{"fps": 17.31, "rtf": 1.237}, {"fps": 22.4, "rtf": 0.957}, {"fps": 30.1, "rtf": 0.947}]}, 1),
    ],
)
def test_documents(document: object, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"results/r.json": document})))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The step fell 62.5 -> 50.0 s (1.35×).", 1),
        ("The step fell 62.5 -> 50.0 s (1.25×).", 0),
        ("| arm | tokens | elapsed (s) | tokens/s |\n|---|---|---|---|\n| a | 51200 | 40.0 | 1380 |", 1),
        ("| arm | tokens | elapsed (s) | tokens/s |\n|---|---|---|---|\n| a | 51200 | 40.0 | 1280 |", 0),
    ],
)
def test_text(text: str, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"README.md": f"# camp\n\n{text}\n"})))) == count
