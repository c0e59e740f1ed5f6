from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Affinity
from kruntimes_core.testing import make_affinity, make_pod, matching
from kruntimes_preferred_run_affinity import PreferredRunAffinity, share_of_highest

A, B = matching(app="a"), matching(app="b")


def raw(affinity: Affinity, targets: Sequence[Mapping[str, str]]) -> int:
    plugin = PreferredRunAffinity()
    return plugin.score(make_pod(targets=targets), plugin.prefilter(affinity))


def test_weights_of_met_affinity_terms_add_up() -> None:
    affinity = make_affinity(preferred=[(3, A), (5, B)])
    assert raw(affinity, []) == 0
    assert raw(affinity, [{"app": "a"}]) == 3
    assert raw(affinity, [{"app": "a"}, {"app": "b"}]) == 8


def test_anti_affinity_terms_count_where_no_target_is() -> None:
    affinity = make_affinity(preferred_anti=[(3, A), (5, B)])
    assert raw(affinity, []) == 8
    assert raw(affinity, [{"app": "a"}]) == 5
    assert raw(affinity, [{"app": "a"}, {"app": "b"}]) == 0


def test_a_term_counts_once_however_many_targets_match() -> None:
    assert raw(make_affinity(preferred=[(7, A)]), [{"app": "a"}] * 4) == 7


def test_equal_terms_count_each() -> None:
    assert raw(make_affinity(preferred=[(7, A), (7, A)]), [{"app": "a"}]) == 14


def test_required_terms_do_not_score() -> None:
    affinity = make_affinity(required=[A], required_anti=[B])
    assert PreferredRunAffinity().prefilter(affinity) is None
    assert raw(affinity, [{"app": "a"}]) == 0


def test_equal_preferences_make_one_state() -> None:
    prefilter = PreferredRunAffinity().prefilter
    first = prefilter(make_affinity(preferred=[(1, A)]))
    second = prefilter(make_affinity(preferred=[(1, A)], required=[B]))
    assert first == second
    assert hash(first) == hash(second)
    assert first != prefilter(make_affinity(preferred_anti=[(1, A)]))


@pytest.mark.parametrize(
    ("scores", "normalized"),
    [
        ([0, 0, 0], [0, 0, 0]),
        ([5], [100]),
        ([0], [0]),
        ([1, 3, 2], [33, 100, 66]),
        ([199, 200], [99, 100]),
        ([3200, 3199, 1], [100, 99, 0]),
        ([], []),
    ],
)
def test_scores_become_whole_percents_of_the_highest(scores: list[int], normalized: list[int]) -> None:
    assert PreferredRunAffinity().normalize(scores) == normalized


@given(st.lists(st.integers(0, 6400), min_size=1))
def test_percents_are_exact_and_the_best_stays_the_only_best(scores: list[int]) -> None:
    normalized, highest = share_of_highest(scores), max(scores)
    if highest == 0:
        assert set(normalized) == {0}
        return
    assert normalized == [floor(Fraction(score, highest) * 100) for score in scores]
    assert [value == 100 for value in normalized] == [score == highest for score in scores]
    assert PreferredRunAffinity.normalize_keeps_best
