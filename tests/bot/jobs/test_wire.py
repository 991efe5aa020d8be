"""Actions outlive the process that planned them."""

from __future__ import annotations

import json

import pytest

from bot.jobs import wire
from bot.review.check import Annotation, Check
from bot.review.compose import Inline
from bot.review.plan import Action, DismissReview, EditInline, PostInline, PostReview, WriteCheck
from bot.review.positions import Spot

INLINE = Inline(Spot("docs/a.md", 9, 7), "words", 3, "mark-3")
CHECK = Check("a" * 40, "failure", "title", "summary", "text", (Annotation("docs/a.md", 1, 2, "failure", "F1", "message"),), "digest")


@pytest.mark.parametrize(
    "action",
    [
        PostReview("a" * 40, "body\nof 中文", "mark", "COMMENT", (INLINE,)),
        PostInline("a" * 40, Inline(Spot("docs/a.md"), "words", 4, "mark-4")),
        EditInline(2**40, "words"),
        DismissReview(5, "done"),
        WriteCheck(None, CHECK, True),
        WriteCheck(7, CHECK, False),
    ],
)
def test_an_action_comes_back_as_it_went(action: Action) -> None:
    assert wire.made(json.loads(json.dumps(wire.plain(action)))) == action
