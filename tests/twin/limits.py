"""GitHub's limits as named constants with their source, and the meter that enforces those that are about time.

[D] GitHub's documentation or OpenAPI description, [I] reported and measured by others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

PER_PAGE_DEFAULT = 30  # [D] rest/using-the-rest-api/using-pagination-in-the-rest-api
PER_PAGE_MOST = 100  # [D] larger values are read as 100
BODY_CHARACTERS = 65_536  # [I] the text of the 422: "body is too long (maximum is 65536 characters)"
TITLE_CHARACTERS = 256  # [I] the text of the 422 for an issue's title
REVIEW_COMMENTS_AT_ONCE = 30  # [I] reviewdog#355: more than 32 in one review answer "was submitted too quickly"
ANNOTATIONS_AT_ONCE = 50  # [D] rest/checks/runs
CHECK_TEXT_CHARACTERS = 65_535  # [D] output.summary and output.text
CHECK_TITLE_CHARACTERS = 255  # [D]
ANNOTATION_TEXT_BYTES = 64 * 1024  # [D] message and raw_details
ACTIONS_AT_MOST = 3  # [D]
ACTION_LABEL, ACTION_DESCRIPTION, ACTION_IDENTIFIER = 20, 40, 20  # [D]
STATUS_DESCRIPTION = 140  # [I] the text of the 422
STATUSES_PER_CONTEXT = 1_000  # [D] rest/commits/statuses
PULL_FILES = 3_000  # [D] rest/pulls/pulls#list-pull-requests-files
PULL_COMMITS = 250  # [D] rest/pulls/pulls#list-commits-on-a-pull-request
COMPARE_FILES = 300  # [D] rest/commits/commits#compare-two-commits
PATCH_LINES = 20_000  # [D] repositories/creating-and-managing-repositories/repository-limits: one file's diff
PATCH_BYTES = 500 * 1024  # [D] the same page: 500 KB of raw diff data for one file; `patch` is then absent
DIFF_LINES, DIFF_BYTES, DIFF_FILES = 20_000, 1024 * 1024, 300  # [D] the diff media type; above them 406
CONTENT_BYTES = 1024 * 1024  # [D] rest/repos/contents: above 1 MB the object's `content` is empty, `encoding` "none"
TOKEN_SECONDS = 3_600  # [D] an installation token lasts one hour
TOKEN_CHARACTERS = 520  # [D] changelog: installation tokens may be about 520 characters
JWT_SECONDS = 600  # [D] `exp` at most ten minutes ahead
JWT_DRIFT = 60  # [D] "60 seconds in the past to allow for clock drift"
MANIFEST_SECONDS = 3_600  # [D] the manifest's code is good for one hour
DELIVERY_SECONDS = 10  # [D] a webhook must be answered within 10 s
DELIVERY_BYTES = 25 * 1024 * 1024  # [D] larger payloads are not delivered
DELIVERY_DAYS = 3  # [D] how far redelivery reaches back
POINTS_READ, POINTS_WRITE = 1, 5  # [D] secondary limits: points per request


@dataclass
class Limits:
    """The limits in time, per token owner. Change a field to make a test fast or hard; `content_gap` is in seconds, 0 does not enforce it."""

    per_hour: int = 5_000  # [D] an installation's primary limit
    points_per_minute: int = 900  # [D]
    writes_per_minute: int = 80  # [D] "content-generating requests"
    writes_per_hour: int = 500  # [D]
    concurrent: int = 100  # [D]
    content_gap: float = 0.0  # [D] best practices: wait at least one second between writes


@dataclass(frozen=True)
class Exceeded:
    """Which limit was hit. `retry_after` in seconds; None stands for the primary limit, which names its reset instead."""

    what: str
    retry_after: int | None


@dataclass
class Meter:
    """What one token owner has used. Times are seconds of the twin's clock."""

    window_start: float = 0.0
    used: int = 0
    spent: deque[tuple[float, int]] = field(default_factory=deque)
    writes: deque[float] = field(default_factory=deque)

    def turn(self, now: float) -> None:
        """Forget what lies outside the windows."""
        if now - self.window_start >= 3_600:
            self.window_start, self.used = now, 0
        while self.spent and now - self.spent[0][0] >= 60:
            self.spent.popleft()
        while self.writes and now - self.writes[0] >= 3_600:
            self.writes.popleft()

    def refusal(self, limits: Limits, now: float, write: bool) -> Exceeded | None:
        """The limit that a request at `now` would break; None lets it through."""
        self.turn(now)
        if self.used >= limits.per_hour:
            return Exceeded("primary", None)
        if sum(points for _, points in self.spent) + _points(write) > limits.points_per_minute:
            return Exceeded("points", 60)
        return self._refused_write(limits, now) if write else None

    def _refused_write(self, limits: Limits, now: float) -> Exceeded | None:
        if self.writes and now - self.writes[-1] < limits.content_gap:
            return Exceeded("gap", 1)
        if sum(1 for at in self.writes if now - at < 60) >= limits.writes_per_minute:
            return Exceeded("writes per minute", 60)
        return Exceeded("writes per hour", 3_600) if len(self.writes) >= limits.writes_per_hour else None

    def charge(self, now: float, write: bool) -> None:
        """Count an answered request. A 304 is free and is not charged."""
        self.used += 1
        self.spent.append((now, _points(write)))
        if write:
            self.writes.append(now)


def _points(write: bool) -> int:
    return POINTS_WRITE if write else POINTS_READ
