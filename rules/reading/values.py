"""What documents are made of: numbers as printed, places with their pointers, and the walk over all places."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

Path = tuple["str | int", ...]
DIGITS = 400
DOUBLE_DIGITS, DOUBLE = 15, Fraction(1, 2**50)
"""Significant digits up to which a double is as exact as its decimal literal, and the relative error (a few units in the last place) of what is computed with doubles."""


class Number(float):
    """A JSON number: a float to compare with, and the literal it was printed as (`text`)."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The literal, exactly as printed."""
        return str(int(self))

    @property
    def exact(self) -> Fraction | None:
        """The literal's exact value; None for NaN, Infinity, and literals too long or with too large an exponent to be a measurement."""
        text = self.text
        exponent = text.lower().partition("e")[2]
        if len(text) > DIGITS or not isfinite(self) or len(exponent) > 5 or (exponent and abs(int(exponent)) > DIGITS):
            return None
        return Fraction(text)

    @property
    def is_integer_literal(self) -> bool:
        """True when it is printed without point and exponent."""
        return self.text.lstrip("-").isdigit()

    @property
    def precision(self) -> Fraction:
        """The unit of the last printed digit: 0.01 for `1.10`, 1 for `15`; never finer than a double is, however many digits a program printed."""
        mantissa, _, exponent = self.text.lower().partition("e")
        places = len(mantissa.partition(".")[2])
        power = int(exponent) if exponent and len(exponent) < 6 else 0
        printed = Fraction(10) ** (power - places) if abs(power - places) <= DIGITS else Fraction(1)
        return max(printed, Fraction(abs(self)) * DOUBLE) if len(mantissa) > DOUBLE_DIGITS and isfinite(self) and "." in mantissa else printed


class _Printed(Number):
    """A number whose literal cannot be had back from its value: any but a short plain integer."""

    __slots__ = ("_text",)

    _text: str

    @property
    def text(self) -> str:
        return self._text


def number(text: str) -> Number:
    """The number printed as `text`. The literal of a short plain integer is not kept, which saves memory in large documents."""
    if len(text) < 16 and text.isdigit() and (text[0] != "0" or text == "0"):
        return Number(text)
    printed = _Printed(text)
    printed._text = text
    return printed


class Numbers(dict[str, Number]):
    """Literal → number, made once for equal literals: documents repeat theirs."""

    def __missing__(self, text: str) -> Number:
        made = self[text] = number(text)
        return made


class Node(NamedTuple):
    """One place of a document: its pointer as a tuple, its value, and the object or list that holds it (None at the root).

    Lists of numbers are one node and are not descended into.
    """

    path: Path
    value: Any
    parent: Any

    @property
    def key(self) -> str:
        """The nearest name: its own key, or for an element of a list the list's."""
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")

    @property
    def pointer(self) -> str:
        return pointer(self.path)


def pointer(path: Path) -> str:
    """RFC 6901."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def parse_pointer(text: str) -> tuple[str, ...]:
    """The parts of a JSON pointer, all as text."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def resolve(value: Any, parts: tuple[str | int, ...]) -> Any:
    """The value at `parts`. Raises KeyError where there is none."""
    for part in parts:
        if isinstance(value, dict):
            value = value[str(part)]
        elif isinstance(value, list) and str(part).isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise KeyError(part)
    return value


# ---------------------------------------------------------------- walking


def walk(value: Any, path: Path = (), parent: Any = None) -> Iterator[Node]:
    """Every place of `value`, outermost first; a list of numbers is one place."""
    stack: list[Node] = [Node(path, value, parent)]
    while stack:
        node = stack.pop()
        yield node
        held = node.value
        if isinstance(held, dict):
            stack.extend(Node((*node.path, key), child, held) for key, child in reversed(held.items()))
        elif isinstance(held, list) and not is_numbers(held):
            stack.extend(Node((*node.path, i), held[i], held) for i in range(len(held) - 1, -1, -1))


def is_numbers(value: Any) -> bool:
    """True for a list that holds numbers and nothing else, and at least one."""
    return isinstance(value, list) and bool(value) and {*map(type, value)} <= NUMBERS


NUMBERS = {Number, _Printed}
"""The types of numbers."""
