"""A cache whose bound is bytes."""

from __future__ import annotations

from kruntimes_core.model.bounded import BoundedCache


def test_the_older_half_goes_when_the_budget_is_spent() -> None:
    cache: BoundedCache[int, str] = BoundedCache(budget=100, largest=90)
    for key in range(4):
        cache.keep(key, f"value-{key}", 30)
    assert [cache.get(key) for key in range(4)] == [None, None, "value-2", "value-3"]
    assert (len(cache), cache.size) == (2, 60)
    cache.keep(4, "larger", 90)
    assert [cache.get(key) for key in range(2, 5)] == [None, None, "larger"]
    assert cache.size == 90


def test_a_value_that_is_too_large_is_not_kept_and_displaces_nothing() -> None:
    cache: BoundedCache[str, int] = BoundedCache(budget=100, largest=60)
    cache.keep("small", 1, 50)
    cache.keep("large", 2, 61)
    assert (cache.get("small"), cache.get("large"), cache.size) == (1, None, 50)


def test_a_new_value_for_a_key_takes_the_place_of_the_old_one() -> None:
    cache: BoundedCache[str, int] = BoundedCache(budget=100, largest=100)
    cache.keep("one", 1, 50)
    cache.keep("two", 2, 50)
    cache.keep("one", 3, 40)
    assert (cache.get("one"), cache.get("two"), cache.size) == (3, 2, 90)
