"""Every form of a report: complete, in order, and harmless whatever the repository holds."""

import html
import json
import re

import jsonschema
import pytest

from bot.review.as_html import as_html
from bot.review.as_json import as_json
from bot.review.as_markdown import as_markdown
from bot.review.as_sarif import as_sarif
from bot.review.as_text import as_text
from bot.review.render import form
from rules.core.config import Config
from rules.core.model import Location, Verdict
from tests.bot.making import SCHEMA, snapshot
from tests.bot.review.reports import finding, report, reported, world

HOSTILE = "@alice fixes #1 <script>alert(1)</script> https://evil.example ![x](y) `\x1b[31m` \u202e GH-2 **b** ]( javascript:x) &lt;"


def test_json_is_what_the_schema_says() -> None:
    held = json.loads(as_json(report()))
    jsonschema.Draft202012Validator(SCHEMA).validate(held)
    assert [one["id"] for one in held["findings"]] == ["F1", "F1", "F2", "F3", None]
    assert held["findings"][0]["locations"][0] == {"path": "e/r.json", "line": 3, "end_line": 3, "pointer": "/summary", "role": "claim"}
    assert held["findings"][1]["locations"][1]["at"] == "b" * 40
    assert held["findings"][0]["evidence"] == [{"label": "workers", "value": "-15"}]
    assert held["merge"]["base_touches"] == [] and held["campaigns"][0]["status"] == "INCONCLUSIVE"


def test_json_of_nothing() -> None:
    held = json.loads(as_json(report(reported("F1", finding()), head=None, base=None, merge_base=None, merge=None, campaigns=(), confirmed=())))
    jsonschema.Draft202012Validator(SCHEMA).validate(held)


def test_json_can_always_be_written() -> None:
    broken = report(reported("F1", finding(title="lone \udce9 surrogate", problem="at /home/alice/x")))
    assert "alice" not in as_json(broken) and as_json(broken).encode("utf-8")


def test_text_as_a_reader_sees_it() -> None:
    shown = as_text(report(), world())
    assert shown.startswith(
        "F1 high[fake-rule]: The record contradicts itself\n"
        "  --> e/r.json:3\n"
        '     2 |   "workers": [-15, -15],\n'
        '   > 3 |   "summary": "all workers exited zero"\n'
        "     4 | }\n"
        "  ::: against the record at e/r.json:2\n"
        '   > 2 |   "workers": [-15, -15],\n'
        "  = problem: `workers` is -15, the summary says zero.\n"
        "  = impact: A forced end looks clean.\n"
        "\n"
        "  also[other-rule]: The README repeats it\n"
        "  --> e/README.md:9\n"
        "  ::: required by docs/rules.md:2 at bbbbbbbbbbbb\n"
        "   > 2 | Records agree.\n"
    )
    assert shown.count("= next: Correct the summary") == 2  # F1 once for its two findings, F3 once
    assert "The requester records it. (a person with authority must decide)" in shown
    assert "suggested[label-suggested]: kind/evidence — the title names a campaign" in shown
    assert "what held: 1 figure, 1 digest\n  figure 173.937 s: e/r.json:3 = e/r.json:3" in shown
    assert "merge: clean; same change of 8 files; 8 of 8 blobs equal the head's; the base's later changes touch none of these paths" in shown
    assert "Campaign status as recorded: one INCONCLUSIVE (e/r.json:3; not a defect)" in shown
    assert "Review verdict: changes needed (2 high, 1 low)" in shown
    assert shown.endswith("Waiting on the author and somebody with authority to decide.\n")


def test_text_in_colour_says_the_same() -> None:
    plain = re.sub(r"\x1b\[[\d;]*m", "", as_text(report(), world(), colour=True))
    assert plain == as_text(report(), world(), colour=False)


def test_text_of_long_lines_and_many_places() -> None:
    line = "{" + ", ".join(f'"k{n}": {n}' for n in range(5000)) + ', "wanted": "here"}'
    places = tuple(Location("big.json", pointer="/wanted", line=1, end_line=1) for _ in range(30))
    shown = as_text(report(reported("F1", finding(locations=places))), snapshot({"big.json": line}))
    assert max(map(len, shown.splitlines())) <= 200 and '"wanted": "here"' in shown and "… and 21 more places" in shown


def test_text_of_a_long_range() -> None:
    place = Location("long.txt", line=2, end_line=50)
    shown = as_text(report(reported("F1", finding(locations=(place,)))), snapshot({"long.txt": "\n".join(f"line {n}" for n in range(1, 60))}))
    assert "line 2" in shown and "line 50" in shown and "line 25" not in shown


@pytest.mark.parametrize(
    "place", [Location("gone.txt", line=3), Location("e/r.json", line=999), Location("pull:body", line=1), Location("e/r.json", line=0)]
)
def test_places_without_a_source_are_only_named(place: Location) -> None:
    assert place.path in as_text(report(reported("F1", finding(locations=(place,)))), world())


def test_markdown_in_its_order() -> None:
    shown = as_markdown(report(), world())
    wanted = [
        "**Review verdict: changes needed** — head `aaaaaaaaaaaa`",
        "**Campaign status as recorded:** `one` **INCONCLUSIVE** (`e/r.json:3`)",
        "### Findings",
        "> **F1 — high, must-fix — The record contradicts itself** · `fake-rule` `other-rule`",
        "> **Where:** `e/r.json:3`; against the record at `e/r.json:2`",
        "> **Problem:** `workers` is -15, the summary says zero.",
        "> **Impact:**",
        "> **Next:** Correct the summary (edit text).",
        "> **F2 — high, a human must decide — Nobody decided**",
        "### Before this can merge",
        "- [ ] **F2** The requester records it. — must be recorded by somebody with authority",
        "### Not blocking",
        "> **F3 — low, not blocking — A small thing**",
        "- Suggested (`label-suggested`)",
        "### What held",
        "<details><summary>1 figure, 1 digest</summary>",
        "### Checks and limits",
        "- Not judged: judgement.",
        "<sub>Static review",
    ]
    at = [shown.find(text) for text in wanted]
    assert -1 not in at and at == sorted(at)


def test_markdown_of_nothing_says_none() -> None:
    shown = as_markdown(report(verdict=Verdict.PASS, confirmed=(), campaigns=(), waiting_on=(), findings=()), world())
    assert shown.count("\n\nNone\n\n") == 4


def test_markdown_in_other_words() -> None:
    config = Config(language="both", severity_names={"high": "P2"})
    shown = as_markdown(report(), snapshot({}, config=config))
    assert "### Before this can merge / 批准前必做" in shown and "**F1 — P2, must-fix —" in shown
    assert "### 非阻塞问题或建议" in as_markdown(report(), snapshot({}, config=Config(language="zh")))


def hostile() -> str:
    place = Location(f"{HOSTILE}.json", line=1)
    one = finding(title=HOSTILE, problem=f"`{HOSTILE}` and {HOSTILE}", impact=HOSTILE, next=HOSTILE, searched=HOSTILE, locations=(place,))
    return as_markdown(report(reported("F1", one), reported(None, one)), world())


def test_t38_markdown_cannot_ping_close_link_or_render() -> None:
    outside = re.sub(r"(`+)[^`].*?\1(?!`)", "", hostile().replace("&#8203;", "\u200b"))
    outside = (
        outside.replace("<details>", "")
        .replace("</details>", "")
        .replace("<summary>", "")
        .replace("</summary>", "")
        .replace("<sub>", "")
        .replace("</sub>", "")
    )
    assert not re.search(r"@\w|#\d|GH-\d|://|<(?!/?(?:sub))|(?<!\\)!\[|(?<!\\)\]\(", outside)


def test_html_is_one_page_without_foreign_markup() -> None:
    one = finding(title=HOSTILE, problem=HOSTILE, locations=(Location("e/r.json", line=2),))
    shown = as_html(report(reported("F1", one)), snapshot({"e/r.json": "x\n<b>\n"}))
    assert (
        "<script" not in shown
        and "<b>\n" not in shown
        and html.escape(HOSTILE) in shown
        and "http" not in re.sub(r"https://evil\.example", "", shown)
    )


def test_sarif() -> None:
    held = json.loads(as_sarif(report(), world()))
    run = held["runs"][0]
    assert held["version"] == "2.1.0" and run["tool"]["driver"]["rules"][0]["id"] == "fake-rule"
    first = run["results"][0]
    assert (first["ruleId"], first["level"], first["ruleIndex"]) == ("fake-rule", "error", 0)
    physical = first["locations"][0]["physicalLocation"]
    assert physical["region"] == {"startLine": 3, "endLine": 3} and physical["artifactLocation"]["uri"] == "e/r.json"
    assert first["partialFingerprints"] == {"assay/v1": "v1:" + "0" * 32}
    text = as_sarif(report(reported("F1", finding(locations=(Location("pull:body", line=1), Location("a b/ü.json", line=1))))), world())
    result = json.loads(text)["runs"][0]["results"][0]
    assert "physicalLocation" not in result["locations"][0]
    assert result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%BC.json"


@pytest.mark.parametrize("name", ["json", "markdown", "sarif", "html"])
def test_every_form_by_name(name: str) -> None:
    assert form(name)(report(), world())
