"""A public corpus of webhook payloads (npm `@octokit/webhooks-examples`), where it is installed.

`npm install --no-save @octokit/webhooks-examples` in the repository's root, or anywhere with `WEBHOOK_EXAMPLES` naming the package's folder.
Version 7.6.1 holds 329 payloads of 58 events for github.com (4.3 MB), and older ones of GitHub Enterprise Server 3.1 to 3.5 (5 MB).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from tests.twin.state import Json

PACKAGE = Path("node_modules/@octokit/webhooks-examples")
ROOT = Path(__file__).resolve().parents[2]


def folder() -> Path | None:
    """Where the package lies; None where it is not installed."""
    places = [Path(os.environ["WEBHOOK_EXAMPLES"])] if os.environ.get("WEBHOOK_EXAMPLES") else []
    places += [parent / PACKAGE for parent in (ROOT, Path.cwd(), Path.home(), Path("/usr/local/lib"))]
    return next((place for place in places if (place / "api.github.com" / "index.json").is_file()), None)


def examples(enterprise: bool = False) -> Iterator[tuple[str, Json]]:
    """(event, payload) of every example; none where the package is not installed. `enterprise` adds those of Enterprise Server."""
    package = folder()
    if package is None:
        return
    flavours = ["api.github.com", *(sorted(one.name for one in package.glob("ghes-*")) if enterprise else [])]
    for flavour in flavours:
        for entry in json.loads((package / flavour / "index.json").read_text(encoding="utf-8")):
            for payload in entry["examples"]:
                yield entry["name"], payload
