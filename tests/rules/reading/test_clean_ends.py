"""Claims of a clean end, and what is none."""

from __future__ import annotations

import pytest

from rules.reading.clean_ends import admits, clean_ends
from rules.reading.statements import string_statements


def claims(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.claimed, tuple(subject.noun for subject in one.subjects)) for one in clean_ends(string_statements(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("All workers and server exited zero without forced signals", [("zero", ("worker", "server")), ("unforced", ())]),
        ("全部 worker 与 server 均以 0 退出，未发送强制信号。", [("zero", ("worker", "server")), ("unforced", ())]),
        ("All four tasks ended normally, exit code zero.", [("clean", ("task",)), ("zero", ("task",))]),
        ("Clean shutdown, no process left behind.", [("clean", ("process",)), ("none-left", ("process",))]),
        ("No rank returned a non-zero exit code.", [("zero", ("rank",))]),
        ("The exit code of every encoder was zero.", [("zero", ("encoder",))]),
        ("Nothing had to be killed.", [("unforced", ())]),
        ("The pod terminated gracefully; zero OOM kills.", [("clean", ("pod",)), ("no-oom", ())]),
        ("四个 rank 全部正常退出，未超时", [("clean", ("rank",)), ("no-timeout", ())]),
        ("72/72 workers exited0", [("zero", ("worker",))]),
    ],
)
def test_claims_in_other_words(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert claims(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "The workers did not exit cleanly.",
        "No worker exited zero.",
        "71/72 workers exited zero.",
        "three of four workers exited 0",
        "All workers exited 0 except rank 3.",
        "A run qualifies only if all workers exit zero.",
        "Workers should exit zero.",
        "Reportedly all workers exited zero.",
        "An earlier version said that all workers exited zero. That was wrong.",
        "The log says “all workers exited zero”.",
        "worker exits 0/0/0/-15",
        "`tools/validate.py` exited 0.",
        "exit zero is not approval",
        "worker 未正常退出。",
    ],
)
def test_what_claims_nothing(text: str) -> None:
    assert claims(text) == []


def test_what_a_text_admits_itself() -> None:
    assert admits(string_statements("All ranks stopped cleanly with exit code 143 after a SIGTERM")) >= {"143", "signal"}
    assert admits(string_statements("All workers exited zero without forced signals")) == frozenset()
