from __future__ import annotations

import pytest

from rules.status.wording_stale import RULE
from tests.talk import issue, pull
from tests.worlds import bundle, findings, snapshot

INVENTORY = {"bundles": [{"id": "camp", "path": "evidence/camp", "external": [{"name": "raw logs", "reason": "unavailable"}]}]}
WEAK: dict[str, object] = {"results/summary.json": {"provenance": "author-reported", "verdict": "INCONCLUSIVE"}}
UNVERIFIED = "The author reports 133.25 frames/s; this figure is unverified and has no committed receipt."


def fires(body: str, files: dict[str, object] = WEAK, said: str | None = None) -> bool:
    head = {"tools/evidence_inventory.json": INVENTORY, **bundle(files)}
    return bool(findings(RULE, snapshot(head, base={"README.md": "x"}, pull=pull(body), issue=issue(said) if said else None)))


@pytest.mark.parametrize(
    "body",
    [
        "All results were independently reproduced.",
        "所有数据均已独立复现。",
        "Kept change locally verified with retained raw logs.",
        "The measured speedup is verified.",
        "Server logs are included in this PR.",
        "原始日志已随附。",
        "Verdict: PASS",
    ],
)
def test_claims_beyond_the_files(body: str) -> None:
    assert fires(body)


@pytest.mark.parametrize(
    "body",
    [
        "The results have not been independently reproduced.",
        "Results are author-reported; independent verification is pending.",
        "Raw logs are kept on the author's machine.",
        "Hashes are verified; inventory validated.",
        'An earlier text said "independently verified"; that was wrong.',
        "> All results were independently reproduced.",
        "原始日志未提交。",
        "We will attach the raw logs later.",
        "Verdict: INCONCLUSIVE",
    ],
)
def test_honest_texts(body: str) -> None:
    assert not fires(body)


def test_committed_artifacts_and_strong_files_bear_the_claim() -> None:
    assert not fires("The raw logs are committed under `evidence/camp/results/raw/`.", {**WEAK, "results/raw/a.log": "x"})
    assert not fires("Independently verified results.", {"results/summary.json": {"verification": "reproduced by a second lab"}})
    assert not fires("Verdict: PASS", {"results/summary.json": {"verdict": "PASS"}})


@pytest.mark.parametrize("record", [{"independently_verified": False}, {"note": "No second party has checked these numbers."}])
def test_flags_and_notes_speak_against_a_check(record: dict[str, object]) -> None:
    assert fires("The gain was confirmed by an independent team.", {"results/s.json": record})


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("Throughput rises to 133.25 frames/s.", True),
        ("Throughput rises to 133.25 frames/s (unverified, no receipt committed).", False),
        ("Throughput rises to 133.25 frames/s. No receipt is committed for it.", False),
        ("All figures below are unverified author commentary.\n\nThroughput rises to 133.25 frames/s.", False),
        ("Throughput rises to 140.25 frames/s.", False),
    ],
)
def test_a_qualifier_of_the_issue_travels_with_the_figure(body: str, missing: bool) -> None:
    assert fires(body, said=UNVERIFIED) is missing


FORCED = "# camp\n\nDraining. The lifecycle was not clean: the server had to be stopped by force.\n"


@pytest.mark.parametrize(
    ("body", "readme", "claims_more"),
    [
        ("The run shows a clean lifecycle.", FORCED, True),
        ("All workers exited cleanly.", "# camp\n\nTwo workers were killed with SIGKILL.\n", True),
        ("整个过程正常退出。", "# camp\n\n服务最后被强制终止。\n", True),
        ("Teardown was orderly, no forced signals.", "# camp\n\nThe container was OOM-killed.\n", True),
        ("The server exited cleanly.", "# camp\n\nTwo workers were killed with SIGKILL.\n", False),
        ("The lifecycle was not clean.", FORCED, False),
        ("A clean lifecycle is required before acceptance.", FORCED, False),
        ("All workers exited cleanly.", "# camp\n\nAn earlier attempt crashed; this one did not.\n", False),
        ("All workers exited cleanly.", "# camp\n\nNo worker was killed.\n", False),
        ("整个过程正常退出。", "# camp\n\n没有进程被强制终止。\n", False),
    ],
)
def test_a_clean_end_against_the_bundles_own_words(body: str, readme: str, claims_more: bool) -> None:
    assert fires(body, {"README.md": readme}) is claims_more


@pytest.mark.parametrize(
    ("body", "said", "missing"),
    [
        ("Tiling keeps the seams invisible.", "Tiling keeps the seams invisible (author-reported, not independently reproduced).", True),
        ("Batched retries ease the load on the gateway.", "Batched retries ease the load on the gateway; this is preliminary.", True),
        ("合批让打印队列更平稳。", "合批让打印队列更平稳（作者自述，未经独立复现）。", True),
        ("The placer converges in fewer passes.", "From a single run: the placer converges in fewer passes.", True),
        (
            "Tiling keeps the seams invisible (author-reported).",
            "Tiling keeps the seams invisible (author-reported, not independently reproduced).",
            False,
        ),
        ("The campaign compares tiling modes.", "Tiling keeps the seams invisible (author-reported).", False),
        ("合批让打印队列更平稳（未经独立复现）。", "合批让打印队列更平稳（作者自述，未经独立复现）。", False),
    ],
)
def test_a_qualifier_of_the_issue_travels_with_the_sentence(body: str, said: str, missing: bool) -> None:
    assert fires(body, {"results/s.json": {"rows": 4}}, said) is missing


def test_the_same_matter_without_a_figure() -> None:
    said = "According to the pull, the warm cache candidate finished without errors. That remains unconfirmed: no receipt is committed."
    assert fires("The warm cache candidate finished without errors.", said=said)
    assert not fires("The cold cache baseline is planned for Monday.", said=said)


def test_the_sentence_is_the_root_that_the_figures_rule_shares() -> None:
    held = snapshot({"README.md": "x"}, base={"README.md": "y"}, pull=pull("Throughput  rises to 133.25 frames/s."), issue=issue(UNVERIFIED))
    (found,) = findings(RULE, held)
    assert found.roots == ("claim:pull:body#throughput rises to 133.25 frames/s.",)
