"""The closing lines of CI logs."""

import time

import pytest

from bot.review.logs import closing_lines

STAMP = "2026-11-04T10:20:30.1234567Z "


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        (
            "x\n===== 3544 passed, 13 skipped, 284 subtests passed in 241.10s =====\n",
            "===== 3544 passed, 13 skipped, 284 subtests passed in 241.10s =====",
        ),
        (f"{STAMP}\x1b[32m20 passed, 1 skipped in 3.1s\x1b[0m\n{STAMP}Post job cleanup.\n{STAMP}git version 2.39", "20 passed, 1 skipped in 3.1s"),
        ("All checks passed!\n", "All checks passed!"),
        ("Found 3 errors.\nno fixes\n", "Found 3 errors."),
        ("22 bundles, 430 hashes, 0 errors\nbye", "22 bundles, 430 hashes, 0 errors"),
        ("evidence validation: ok\n", "evidence validation: ok"),
        ("nothing that is known\nthe end\n\n", "the end"),
    ],
)
def test_the_line_that_says_how_it_went(log: str, wanted: str) -> None:
    assert closing_lines(log) == (wanted,)


def test_several_tools_in_order_and_none_twice() -> None:
    log = "All checks passed!\nFAILED tests/a.py::test_b - assert 1\n1 failed, 2 passed in 1.0s\n1 failed, 2 passed in 1.0s\n"
    assert closing_lines(log) == ("All checks passed!", "FAILED tests/a.py::test_b - assert 1", "1 failed, 2 passed in 1.0s")


def test_an_empty_log_has_none() -> None:
    assert closing_lines("") == closing_lines("\n\n") == ()


def test_hostile_logs_take_no_time() -> None:
    start = time.perf_counter()
    for log in ("=" * 10**6, "1 " * 10**6, "FAILED " * 10**6, "validat" * 10**6, "\x1b[" * 10**6, "a\n" * 10**6):
        assert len(closing_lines(log)) <= 4
    assert time.perf_counter() - start < 2
