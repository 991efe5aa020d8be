"""Faults on demand: what a test wants to go wrong with the next matching requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

UNICORN = {"message": "Server Error"}


@dataclass
class Fault:
    """Strikes the next `times` requests whose method and path match (`*` matches any run of characters, slashes too).

    `status` answers in GitHub's place; with `stored` the request is carried out first, and only then goes wrong.
    `delay` waits (seconds) before anything else, `late` after the request was carried out and before its answer; `reset` drops the connection; `cut` sends half of the true answer.
    """

    path: str = "*"
    method: str = "*"
    times: int = 1
    status: int | None = None
    message: str = UNICORN["message"]
    headers: Mapping[str, str] = field(default_factory=dict)
    stored: bool = False
    delay: float = 0.0
    late: float = 0.0
    reset: bool = False
    cut: bool = False
    skip: int = 0  # let that many matching requests through first

    def matches(self, method: str, path: str) -> bool:
        return self.times > 0 and self.method in ("*", method) and fnmatchcase(path, self.path)


@dataclass
class Faults:
    """The faults that are waiting."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> Fault:
        self.waiting.append(fault)
        return fault

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that strikes this request, if any; it is used up by it."""
        for fault in self.waiting:
            if not fault.matches(method, path):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            return fault
        return None

    def clear(self) -> None:
        self.waiting.clear()

    def answer(self, status: int, path: str = "*", method: str = "*", times: int = 1, message: str = UNICORN["message"]) -> Fault:
        """That status instead of GitHub's answer; nothing is carried out."""
        return self.add(Fault(path, method, times, status, message))

    def stored_502(self, path: str = "*", method: str = "POST", times: int = 1) -> Fault:
        """Carried out, and yet answered with 502 (reviewdog#355)."""
        return self.add(Fault(path, method, times, 502, stored=True))

    def unavailable(self, path: str = "*", method: str = "*", times: int = 1) -> Fault:
        return self.answer(503, path, method, times, "Service Unavailable")

    def secondary(self, path: str = "*", method: str = "*", times: int = 1, status: int = 403, retry_after: int = 60) -> Fault:
        """A secondary limit, told apart only by its header."""
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        return self.add(Fault(path, method, times, status, message, {"Retry-After": str(retry_after)}))

    def rate_limited(self, reset_at: int, path: str = "*", method: str = "*", times: int = 1, status: int = 403) -> Fault:
        """The primary limit; `reset_at` in epoch seconds."""
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset_at)}
        return self.add(Fault(path, method, times, status, "API rate limit exceeded for installation.", headers))

    def slow(self, seconds: float, path: str = "*", method: str = "*", times: int = 1) -> Fault:
        return self.add(Fault(path, method, times, delay=seconds))

    def late(self, seconds: float, path: str = "*", method: str = "*", times: int = 1) -> Fault:
        """Carried out at once; the answer takes its time."""
        return self.add(Fault(path, method, times, late=seconds))

    def reset(self, path: str = "*", method: str = "*", times: int = 1, stored: bool = False) -> Fault:
        """The connection breaks, before or (`stored`) after the request was carried out."""
        return self.add(Fault(path, method, times, reset=True, stored=stored))

    def cut(self, path: str = "*", method: str = "GET", times: int = 1) -> Fault:
        """The answer ends half-way."""
        return self.add(Fault(path, method, times, cut=True))
