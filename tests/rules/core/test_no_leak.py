"""Whatever holds a private folder, no text of a report in any form shows the name."""

import json

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.review.as_json import as_json
from bot.review.as_text import as_text
from bot.review.render import form
from rules.core.config import Config
from rules.core.model import Comment, Facts, Issue, Pull, Report, Snapshot, User
from rules.engine.run import own, review
from tests import worlds

NAME = "zqxjane"
HOMES = [f"/home/{NAME}/", f"/Users/{NAME}/", f"C:\\Users\\{NAME}\\", f"file:///home/{NAME}/", f"/mnt/c/Users/{NAME}/"]
RULES = tuple(own())
AUTHOR = User("author", False)


def pull(body: str, title: str) -> Pull:
    return Pull(7, title, body, AUTHOR, False, "open", "a" * 40, "b" * 40, "acme/evidence", "acme/evidence", ())


def issue(body: str, title: str, comment: str) -> Issue:
    said = Comment(1, AUTHOR, "NONE", comment, "2026-11-01T09:00:00Z")
    return Issue(5, title, body, AUTHOR, "open", ("campaign",), (said,), ())


def world(home: str, text: str) -> Snapshot:
    """A bundle in which every place that can hold a path holds one, and most rules have something to say."""
    digest = "0" * 64
    documents = {
        "tools/evidence_inventory.json": {
            "bundles": [
                {"id": "camp", "path": "evidence/camp", "status": f"{home}status.json", "external": [{"name": f"{home}raw", "reason": home}]},
                {"id": f"{home}x", "path": f"{home}x"},
            ],
            "bundle_count": 9,
        },
        "docs/contributing.md": f"# Rules\n\nThe hash must match the SHA-256 manifest, see {home}x; revisions are pinned in full.\n",
        "evidence/camp/README.md": f"# {text}\n\nStatus: INCONCLUSIVE at `{home}x`.\n\nThe raw logs are retained at {home}logs. All workers exited zero ({home}).\n",
        "evidence/camp/plan/protocol.md": f"No candidate validator is frozen yet; branch `{home}b`.\n",
        "evidence/camp/plan/runspec.json": {"revision": f"{home}main", "image": f"{home}img:latest", "baseline_sha": "<baseline-sha>"},
        "evidence/camp/plan/freeze-integrity.json": {"files": {f"{home}a.json": digest, "plan/protocol.md": digest, f"{home}../x.md": digest}},
        "evidence/camp/results/status.json": f'{{"status": "queued {home}", "verdict": "PASS {home}", "{home}k": NaN, "{home}k": 1, "samples": 0}}',
        "evidence/camp/results/run.json": {
            "verified": True,
            f"{home}key": {f"{home}inner": f"{home}value", "raw_log": f"{home}results/raw/x.log"},
            "summary": f"all workers exited zero, {text} {home}log",
            "workers": [{"exit": -15, "note": f"{home}note"}],
            "started_at": "2026-11-01T09:00:00Z",
            "ended_at": "2026-11-01T08:00:00Z",
            "source_revision": "0123456789abcdef0123456789abcdef01234567",
            "repository": f"{home}repo",
            "mean_ms": 9,
            "samples_ms": [1.001, 2.002, 3.003],
        },
        "evidence/camp/results/broken.yaml": f"a: [{home}\n",
        "evidence/camp/results/table.csv": f"path,ms\n{home}x,1.2345\n",
        "evidence/camp/results/raw/server.log": f"ERROR {home}x\n",
        f"evidence/camp/results/C:\\Users\\{NAME}\\log.json": "{",
    }
    said = f"The raw logs are retained in {home}logs, the clean lifecycle is verified. {text} It took 173.937 s at `{home}x` on `{'c' * 40}`."
    config = Config.model_validate(
        {"assertions": [{"files": "evidence/**", "pointer": "/verdict", "op": "==", "value": 1, "message": f"{home}says"}]}
    )
    return worlds.snapshot(documents, base={}, pull=pull(said, f"{text} {home}"), issue=issue(said, f"[Campaign] {home}", said), config=config)


def everything(report: Report, snapshot: Snapshot) -> str:
    """All that any form prints, with JSON's escapes read."""
    forms = "".join(form(name)(report, snapshot) for name in ("sarif", "markdown", "html"))
    values = json.dumps(json.loads(as_json(report, snapshot)), ensure_ascii=False)
    return forms + values + as_text(report, snapshot, colour=True, width=80) + repr(report)


@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(home=st.sampled_from(HOMES), text=st.text(alphabet="abc 中文.,;:`*[]()<>#\"'\n", max_size=30))
def test_no_form_of_a_report_shows_a_private_name(home: str, text: str) -> None:
    held = world(home, text)
    report = review(held, Facts(), RULES)
    crashed = [outcome for outcome in report.outcomes if outcome.state == "crashed"]
    shown = everything(report, held).casefold()
    at = shown.find(NAME)
    assert crashed == [] and len(report.findings) > 12
    assert at < 0, shown[max(0, at - 200) : at + 60]


def test_the_world_of_the_property_holds_the_name_everywhere() -> None:
    held = world(HOMES[0], "x")
    texts = [data.decode() for data in held.head.blobs.values()]  # type: ignore[attr-defined]
    assert sum(NAME in text for text in texts) >= 10 and held.pull and NAME in held.pull.body
