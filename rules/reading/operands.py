"""Where the operands of a stated gain come from: this campaign, another one, another number of devices."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from rules.reading.campaigns import names
from rules.reading.conversation import cited_numbers
from rules.reading.progress import device_counts
from rules.reading.quantities import quantities

_SCALING = re.compile(r"(?<![A-Za-z])(?:scal(?:ing|es?|ability)|per device|per card|per GPU)(?![A-Za-z])|扩展性|每卡", re.IGNORECASE)
_COMPARES = r"(?:against|over|versus|vs\.?|compared (?:to|with)|relative to|than|baseline of|from)"
_AGAINST = re.compile(
    rf"(?<![A-Za-z]){_COMPARES}\s(?:[\w#.,%-]{{1,20}}\s){{0,8}}?(?:campaign|[\w-]{{1,12}}[- ](?:devices?|cards?|gpus?|npus?|chips?|nodes?)|#\d)|相比|相对于|对比",
    re.IGNORECASE,
)
_OF_CAMPAIGN = re.compile(
    rf"(?<![A-Za-z])(?:campaigns?|experiments?)\s(?:[\w/-]{{1,30}}\s)?\(?#\d|(?<![A-Za-z]){_COMPARES}\s(?:[\w.,%-]{{1,20}}\s){{0,5}}?#\d|(?:活动|实验)\s?#\d|#\d{{1,9}}.{{0,20}}(?:相比|相对)",
    re.IGNORECASE,
)
_OF_NO_OPERAND = ("percent", "ratio", "factor", "count")


def foreign_operand(text: str, own: Collection[str], others: Iterable[str], devices: int | None) -> str | None:
    """The other campaign or device count that a sentence with a gain takes an operand from; None where it takes none.

    own      the numbers of this campaign's issue and pull
    others   ids of the other campaigns
    devices  this campaign's device count, where it is known
    """
    figures = {one.start for one in quantities(text) if one.unit is not None and one.unit.family not in _OF_NO_OPERAND}
    if _SCALING.search(text) or (len(figures) < 2 and not _AGAINST.search(text)):
        return None
    cited = [number for number in cited_numbers(text) if str(number) not in own] if _OF_CAMPAIGN.search(text) else []
    if cited:
        return f"campaign #{cited[0]}"
    named = next((other for other in others if re.search(r"[-_\d]", other) and names(text, other)), None)
    return f"campaign {named}" if named else _other_devices(text, devices)


def _other_devices(text: str, devices: int | None) -> str | None:
    """Two device counts in one comparison, or one that is not this campaign's."""
    counts = list(dict.fromkeys(count for count, _ in device_counts(text)))
    if len(counts) < 2 and (not counts or devices is None or counts[0] == devices):
        return None
    here = [devices] if devices is not None and len(counts) == 1 else []
    return " and ".join(f"{count} devices" for count in [*counts, *here])
