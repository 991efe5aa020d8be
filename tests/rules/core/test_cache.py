"""What is kept is bounded by weight, least recently used goes first, and a snapshot's own values go with it."""

from collections.abc import Callable

from rules.core.cache import Cache
from tests import worlds


def _counter() -> tuple[list[str], Callable[[str], Callable[[], str]]]:
    """A list of what was made, and what makes (and notes) a value of a name."""
    made: list[str] = []

    def maker(name: str) -> Callable[[], str]:
        return lambda: made.append(name) or name

    return made, maker


def test_a_value_is_made_once() -> None:
    cache, (made, maker) = Cache(100), _counter()
    assert [cache.by_blob("r", "1", 10, maker("a")) for _ in range(3)] == ["a"] * 3 and made == ["a"]


def test_readers_and_blobs_are_told_apart() -> None:
    cache, (made, maker) = Cache(100), _counter()
    for reader, oid in (("r", "1"), ("s", "1"), ("r", "2"), ("r", "1")):
        cache.by_blob(reader, oid, 10, maker(reader + oid))
    assert made == ["r1", "s1", "r2"]


def test_what_was_used_last_stays() -> None:
    cache, (made, maker) = Cache(60), _counter()
    for oid in ("1", "2", "3", "1", "4", "1", "2"):
        cache.by_blob("r", oid, 10, maker(oid))
    assert made == ["1", "2", "3", "4", "2"]


def test_a_value_heavier_than_the_limit_is_kept_alone_and_goes_next() -> None:
    cache, (made, maker) = Cache(60), _counter()
    for oid, size in (("1", 10), ("big", 1000), ("big", 1000), ("2", 10), ("big", 1000)):
        cache.by_blob("r", oid, size, maker(oid))
    assert made == ["1", "big", "2", "big"]


def test_a_value_that_is_none_is_kept_too() -> None:
    cache = Cache(30)
    made: list[int] = []
    for _ in range(2):
        assert cache.by_blob("r", "1", 1, lambda: made.append(1)) is None
    assert made == [1]


def test_what_is_fleeting_has_a_bound_of_its_own() -> None:
    cache, (made, maker) = Cache(20), _counter()
    for oid in ("1", "2", "1"):
        cache.fleeting("r", oid, 10, maker(oid))
    assert made == ["1", "2", "1"]
    cache.by_blob("r", "1", 10, maker("blob"))
    assert made[-1] == "blob"


def test_what_belongs_to_a_snapshot_goes_with_it_and_blobs_stay() -> None:
    held, (made, maker) = worlds.snapshot({}), _counter()
    for _ in range(2):
        held.memo("key", maker("memo"))
        held.cache.by_blob("r", "1", 1, maker("blob"))
    held.cache.forget_snapshot()
    held.memo("key", maker("memo again"))
    held.cache.by_blob("r", "1", 1, maker("blob"))
    assert made == ["memo", "blob", "memo again"]
