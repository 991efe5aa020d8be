"""Holds a new report against what the conversation remembers: which stories are new, still open, resolved, and which numbers they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from bot.review.ledger import Ledger, Standing
from rules.core.model import Report, Reported, Verdict

Change = Literal["new", "changed", "same", "reopened", "resolved", "partly", "disclosed", "over"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the box read at a finding's place. By fingerprint, for findings of this report and for remembered ones that are silent now.

    value   what stands there now, cut and redacted; "" where there is no one value
    stated  for a place in a text: its figures still stand in the text (so a silent claim was disclosed, not taken back)
    silent  the first commit at which a remembered finding is silent; "" where the commits were not walked
    """

    value: str = ""
    stated: bool = False
    silent: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One story as this review tells it: how it stands, what changed, and its findings of this report (none where it ended)."""

    standing: Standing
    change: Change
    findings: tuple[Reported, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciled:
    """`ledger` is what is to be remembered after this review; `news` is True where it must be posted rather than edited into the last one."""

    ledger: Ledger
    told: tuple[Told, ...]
    verdict: Verdict
    waiting_on: tuple[str, ...]
    news: bool
    first: bool = False


def reconcile(
    before: Ledger, report: Report, seen: Mapping[str, Seen], *, today: date, draft: bool = False, renames: Mapping[str, str] | None = None
) -> Reconciled:
    """`renames` maps a path at head to the one that fingerprints were made with (`origins` of the ledger, and git's since)."""
    raise NotImplementedError


def origins(ledger: Ledger, since: Mapping[str, str]) -> Mapping[str, str]:
    """Path at head → path that the remembered fingerprints were made with, from git's renames (new → old) between the last head and this one."""
    raise NotImplementedError


__all__ = ["Change", "Reconciled", "Seen", "Told", "origins", "reconcile"]
