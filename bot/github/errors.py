"""What can come back from GitHub instead of an answer: few kinds, equal by their values, safe to print, to log and to store."""

from __future__ import annotations


class GitHubError(Exception):
    """Any of the kinds below. The fields are the positional arguments, so that an error survives being pickled; none holds a token.

    `status` is the HTTP status, 0 where there was no answer.
    """

    status = 0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, GitHubError) and self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), self.args))


class NotFound(GitHubError):
    """404 or 410: there is no such thing, or the installation does not see it (GitHub does not tell which). `what` is the path that was asked."""

    def __init__(self, what: str, status: int = 404) -> None:
        super().__init__(what, status)
        self.what, self.status = what, status

    def __str__(self) -> str:
        return f"GitHub has no {self.what}, or does not show it to this installation"


class Forbidden(GitHubError):
    """401, or a 403 that is no limit. `needs` holds the permissions that would do (`X-Accepted-GitHub-Permissions`), "" where GitHub names none."""

    def __init__(self, status: int, message: str, needs: str = "") -> None:
        super().__init__(status, message, needs)
        self.status, self.message, self.needs = status, message, needs

    @property
    def suspended(self) -> bool:
        """Somebody has suspended the installation; nothing works until it is lifted."""
        return "suspended" in self.message.lower()

    def __str__(self) -> str:
        return f"GitHub refuses ({self.status} {self.message}{f'; it needs {self.needs}' if self.needs else ''})"


class Refused(GitHubError):
    """Any other 4xx, mostly 422: GitHub understood and does not want it. `errors` are its reasons, one sentence each."""

    def __init__(self, status: int, message: str, errors: tuple[str, ...] = ()) -> None:
        super().__init__(status, message, errors)
        self.status, self.message, self.errors = status, message, errors

    def says(self, *words: str) -> bool:
        """Whether the message or a reason holds one of these words."""
        told = " ".join((self.message, *self.errors)).lower()
        return any(word.lower() in told for word in words)

    def __str__(self) -> str:
        return f"GitHub does not take it ({self.status} {'; '.join((self.message, *self.errors))})"


class RateLimited(GitHubError):
    """A primary or secondary limit; nothing is worth asking before `retry_at` (Unix time)."""

    def __init__(self, retry_at: float, status: int = 403) -> None:
        super().__init__(retry_at, status)
        self.retry_at, self.status = retry_at, status

    def __str__(self) -> str:
        return f"GitHub's rate limit is used up until {self.retry_at:.0f} (Unix time)"


class Unavailable(GitHubError):
    """No answer, or a 5xx, after all attempts. `unsure`: a write may have been carried out all the same."""

    def __init__(self, why: str, unsure: bool = False, status: int = 0) -> None:
        super().__init__(why, unsure, status)
        self.why, self.unsure, self.status = why, unsure, status

    def __str__(self) -> str:
        return f"GitHub gives no answer ({self.why}){'; the write may have been carried out' if self.unsure else ''}"


class NotKept(GitHubError):
    """GitHub answered that a text was stored, and yet shows another one. `where` is the path."""

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where

    def __str__(self) -> str:
        return f"GitHub said that {self.where} was written, and shows another text"
