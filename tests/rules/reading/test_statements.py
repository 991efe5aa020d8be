"""Sentences, their clauses, what is denied in them and who says it."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.reading.markdown import read_markdown
from rules.reading.statements import Statement, asserted, mentions, of_markdown, sentences, string_statements
from rules.reading.words import CLEAN_END, FROZEN, family


def read(text: str) -> tuple[Statement, ...]:
    return of_markdown(read_markdown(text, "README.md"))


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One ends. Two begins.", ["One ends.", "Two begins."]),
        ("It took 0.80 s. Batching helps.", ["It took 0.80 s.", "Batching helps."]),
        ("See e.g. results/a.json vs. v1.2 in 3.5 ms.", ["See e.g. results/a.json vs. v1.2 in 3.5 ms."]),
        ("It waits... then ends. Next", ["It waits... then ends.", "Next"]),
        ("所有进程正常退出。退出码为 0！真的？", ["所有进程正常退出。", "退出码为 0！", "真的？"]),
        ("a line\nthat goes on. End", ["a line that goes on.", "End"]),
        ("中文换\n行相连。", ["中文换行相连。"]),
        ("Campaign ID: x\nEvidence path: y", ["Campaign ID: x", "Evidence path: y"]),
        ("- one\n- two", ["one", "two"]),
        ("mean\n1.237 -> 0.947 s", ["mean 1.237 -> 0.947 s"]),
        ('He said "done." Then left.', ['He said "done."', "Then left."]),
        ("Use No. 5 of the set. Yes", ["Use No. 5 of the set.", "Yes"]),
        ("plan/gates.json is frozen. plan/x.md is not.", ["plan/gates.json is frozen.", "plan/x.md is not."]),
        ("see logs, traces, etc. The rest is here", ["see logs, traces, etc.", "The rest is here"]),
        ("...", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert [one.text for one in sentences(text)] == parts


def test_lines_of_sentences_are_their_own() -> None:
    text = "# T\n\nFirst is short. Second goes\nover two\nlines. Third\n"
    assert [(s.text, s.line, s.end_line) for s in read(text)] == [
        ("T", 1, 1),
        ("First is short.", 3, 3),
        ("Second goes over two lines.", 3, 5),
        ("Third", 5, 5),
    ]


def test_code_spans_belong_to_their_sentence() -> None:
    found = read("See `a.json`. The *logs* are in `b/`.\n")
    assert [[span.text for span in one.code_spans] for one in found] == [["a.json"], ["b/"]]


def test_sections_kinds_and_boxes() -> None:
    found = read("# A\n\n## B\n\n- [ ] commit the logs\n\n| x | done |\n|---|---|\n| y | 0 |\n")
    assert [(s.kind, s.section, s.standing) for s in found] == [
        ("heading", (), "asserted"),
        ("heading", ("A",), "asserted"),
        ("item", ("A", "B"), "planned"),
        ("row", ("A", "B"), "asserted"),
        ("row", ("A", "B"), "asserted"),
    ]


def test_code_and_comments_hold_no_statements() -> None:
    assert read("```\nAll workers exited zero.\n```\n<!-- All workers exited zero. -->\n") == ()
    assert [s.standing for s in read("> All workers exited zero.\n")] == ["quoted"]


# ---------------------------------------------------------------- standing

STANDINGS = {
    "asserted": [
        "All workers exited zero.",
        "The engine is not changed.",
        "No candidate validator is frozen yet and no candidate search has begun.",
        "Original source is pinned in the RunSpec.",
        "Status: INCONCLUSIVE, four-device preflight prepared; no new execution result or speedup.",
        "We report that all four workers exited zero.",
        "The run reports 5.2 s.",
        "These samples do not establish paired gains.",
        "Change is marked reviewable, not claimed.",
        "Resident capacity is not the bytes read, so nothing is said about what is possible.",
        "The flag exact_audio was false.",
        "The needed logs are retained.",
        "The run used the old path and finished.",
        "The node was rebooted once.",
        "NaN appeared once during warm-up and never again.",
        "Measured in May 2026 on four cards.",
        "The scheduler application responded.",
        "尚未开始候选搜索。",
        "所有进程均正常退出，退出码为 0。",
        "应用已经启动，对应的日志已提交。",
        "若干样本已完成。",
        "验证器已冻结。",
    ],
    "withdrawn": [
        "An earlier version of this page said that all workers exited zero.",
        'This file previously said "no engine change is made".',
        "The claim that all workers exited zero was wrong.",
        "It no longer claims physical impossibility.",
        "We removed the unsupported bandwidth-floor conclusion.",
        "The statement about clean exits has been retracted.",
        "The page wrongly stated that the lifecycle was clean.",
        "之前写“全部正常退出”，这是错误的。",
        "旧版称所有进程正常退出。",
        "此前的说法有误。",
    ],
    "reported": [
        "The reviewer says that all workers exited zero.",
        "According to the review, the lifecycle was clean.",
        "The author reports that the run finished with clean exits.",
        "The latest review reports a clean lifecycle.",
        "@someone claimed that the workers exited zero.",
        "The PR narrative reports a 168.956 s serial queue control with clean lifecycle.",
        "评审意见认为所有进程正常退出。",
        "据作者称，全部正常退出。",
    ],
    "required": [
        "A candidate qualifies only if all workers exit zero.",
        "All workers must exit zero.",
        "No candidate search may begin before the validator is frozen.",
        "If all workers exit zero, the run counts.",
        "Every worker is required to exit cleanly.",
        "Gate: all workers exit zero.",
        "The server should shut down cleanly.",
        "Do not start the search before the gates are frozen.",
        "Freeze the validator before the search.",
        "We check whether all workers exited zero.",
        "只有全部退出码为零，才算合格。",
        "所有进程必须正常退出。",
        "如果所有进程正常退出，则计入结果。",
        "They follow once the baseline is stable.",
        "不得在冻结之前开始搜索。",
    ],
    "planned": [
        "The validator will compare medians.",
        "The gates are to be frozen tomorrow.",
        "The candidate is scheduled for Monday.",
        "We plan to run the search next week.",
        "Raw logs: to be filled in.",
        "Owner: TBD",
        "将在下周开始搜索。",
        "候选版本待定。",
        "计划在周一运行候选。",
    ],
    "question": ["Is the validator frozen?", "所有进程都正常退出了吗？"],
}


@pytest.mark.parametrize(("standing", "text"), [(standing, text) for standing, held in STANDINGS.items() for text in held])
def test_standing(standing: str, text: str) -> None:
    assert [one.standing for one in read(text)] == [standing]


def test_a_sentence_called_wrong_by_the_next_is_withdrawn() -> None:
    found = read("All workers exited zero. That was wrong: four workers were killed.")
    assert [one.standing for one in found] == ["withdrawn", "asserted"]
    assert [one.standing for one in string_statements("所有进程正常退出。这句话是错误的。")] == ["withdrawn", "asserted"]


def test_struck_text_says_nothing() -> None:
    assert [one.text for one in read("~~All workers exited zero.~~ Four were killed.")] == ["Four were killed."]


def test_a_colon_after_a_withdrawal_begins_the_correction() -> None:
    (one,) = read('This file previously said "no engine change is made", which was wrong: `x.diff` changes the placement.')
    assert [clause.standing for clause in one.clauses] == ["withdrawn", "withdrawn", "withdrawn", "asserted"]


def test_quotations_are_clauses_of_their_own() -> None:
    (one,) = read('The wording "all workers exited zero" stands beside the record.')
    assert [(c.text, c.standing) for c in one.clauses][1] == ("all workers exited zero", "quoted")
    (scare,) = read('It was a "clean" exit.')
    assert [c.standing for c in scare.clauses] == ["asserted"]


def test_requirements_under_a_heading_of_gates() -> None:
    found = read("## Gates\n\nAll workers exit zero. The gates are not frozen yet.\n")
    assert [one.standing for one in found[1:]] == ["required", "asserted"]


def test_mixed_sentences_keep_the_standing_of_each_clause() -> None:
    (one,) = read("The reviewer says the lifecycle was clean; the record disagrees.")
    assert [c.standing for c in one.clauses] == ["reported", "asserted"]
    assert [c.text for _, c in asserted([one])] == ["the record disagrees."]


# ---------------------------------------------------------------- polarity and hedges

POLARITY = [
    ("All workers exited zero without forced signals, but the container failed.", CLEAN_END, False),
    ("Not all workers exited zero.", CLEAN_END, True),
    ("None of the workers exited zero.", CLEAN_END, True),
    ("The workers did not exit cleanly.", family("exit cleanly"), True),
    ("The run did not crash and exited cleanly.", CLEAN_END, False),
    ("No run failed to exit zero.", family("exit zero"), False),
    ("The server never shut down cleanly.", CLEAN_END, True),
    ("The log is missing, but all workers exited zero.", CLEAN_END, False),
    ("The container did not survive; all workers exited zero.", CLEAN_END, False),
    ("The cache was not warmed, the workers exited zero.", CLEAN_END, False),
    ("With no forced signals, all four workers exited 0.", family("exited 0"), False),
    ("The record does not say that all workers exited zero.", CLEAN_END, True),
    ("No candidate validator is frozen yet.", FROZEN, True),
    ("The gates are not frozen yet.", FROZEN, True),
    ("The gates were not frozen because the search has begun.", family("begun"), False),
    ("The validator, not the gate, is frozen.", family("validator"), False),
    ("It is no longer frozen.", FROZEN, True),
    ("The gates are frozen, no candidate has run.", FROZEN, False),
    ("No validator, gate or harness is frozen.", FROZEN, True),
    ("Not only the gates are frozen.", FROZEN, False),
    ("The result is no later than the frozen gate.", FROZEN, False),
    ("并未正常退出。", CLEAN_END, True),
    ("没有正常退出，但验证器已冻结。", FROZEN, False),
    ("没有正常退出，但验证器已冻结。", CLEAN_END, True),
    ("验证器尚未冻结。", FROZEN, True),
    ("无强制信号且全部正常退出。", family(zh=("正常退出",)), False),
    ("无损配置下正常退出。", CLEAN_END, False),
    ("不仅冻结了验证器，还冻结了门禁。", FROZEN, False),
    ("未来版本冻结。", FROZEN, False),
]


@pytest.mark.parametrize(("text", "words", "denied"), POLARITY)
def test_polarity(text: str, words: re.Pattern[str], denied: bool) -> None:
    found = [mention for one in string_statements(text) for mention in mentions(one, words)]
    assert found
    assert found[0].negated is denied


@pytest.mark.parametrize(
    ("text", "hedge"),
    [
        ("The figure is author-reported.", "author-reported"),
        ("It remains unverified commentary.", "unverified"),
        ("The exit may be clean.", "may"),
        ("The run appears to be clean.", "appears"),
        ("Reportedly it ended.", "reportedly"),
        ("This has not been independently reproduced.", "not been independently reproduced"),
        ("Measured in May 2026.", None),
        ("It may not begin.", None),
        ("All workers exited zero.", None),
        ("可能正常退出。", "可能"),
        ("时延不可能低于 5 ms。", None),
        ("数据未经独立核实。", "未经独立核实"),
        ("据作者称已完成。", "据作者"),
    ],
)
def test_hedge(text: str, hedge: str | None) -> None:
    assert string_statements(text)[0].clauses[0].hedge == hedge


def test_a_claim_is_said_not_denied_and_not_hedged() -> None:
    (one,) = string_statements("All workers exited zero; the server reportedly shut down cleanly; the container did not exit normally.")
    assert [mention.is_claimed for mention in mentions(one, CLEAN_END)] == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "All workers and server exited zero without forced signals",
        "completed with clean lifecycle",
        "clean exits",
        "Both workers exited with code zero",
        "exited0",
        "exit codes were all zero",
        "the server shut down cleanly",
        "no worker needed a kill: orderly shutdown",
        "所有进程正常退出",
        "退出码均为0",
        "没有强制信号",
    ],
)
def test_words_for_a_clean_end(text: str) -> None:
    assert CLEAN_END.search(text)


@pytest.mark.parametrize("text", ["exit code 1", "exited 137", "clean room", "the window log was 27", "exit zero-copy path 3"][:4])
def test_other_ends(text: str) -> None:
    assert not CLEAN_END.search(text)


# ---------------------------------------------------------------- hostile input

ALPHABET = "aZ 1.,;:!?\n-—\"“”'()|`*_>#不没有未，。；但据若 notbuifsd"


@given(st.text(alphabet=ALPHABET, max_size=300))
def test_lines_and_offsets_lie_inside(text: str) -> None:
    lines = text.count("\n") + 1
    for one in string_statements(text):
        assert 1 <= one.line <= one.end_line <= lines
        for clause in one.clauses:
            assert one.text[clause.start : clause.start + len(clause.text)] == clause.text
    for one in read(text):
        assert 1 <= one.line <= one.end_line <= lines


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    string_statements(text)
    read(text)


UNITS = [
    "no ", "not ", "a, ", "is a, ", "is, it ", "and no ", "“", '"a ', "“a b c” ", "claims ", "earlier version ", "据aa", "没有", "，", "a: ", "not is: ", ";", ". ",
    "e.g. ", "... ", "。", "if ", "review the latest ", "\u2028", "\nA: ", "\n- ", "removed a b ", "exit ", "之前啊", "without a ", " is (", "that is wrong. ", " | ", "exited ",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_is_linear(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    string_statements(text)
    assert time.process_time() - start < 1.5
