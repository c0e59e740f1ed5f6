import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.targets import Targets
from kruntimes_core.testing import make_targets, matching

SETS = [LabelSet(labels) for labels in ({}, {"app": "a"}, {"app": "a", "tier": "gold"}, {"app": ""})]
# More label sets than a multiset looks at one by one: so that some histories cross the border.
MANY = [*SETS, *[LabelSet({"app": "a", "n": str(n)}) for n in range(7)]]
SELECTORS = [matching(app="a"), matching(app="a", tier="gold"), matching(app=""), matching(app="b")]


def counted(sets: dict[LabelSet, int], selector: LabelSelector) -> int:
    return sum(number for labels, number in sets.items() if selector.matches(labels))


steps = st.lists(
    st.tuples(st.sampled_from(MANY), st.integers(-2, 3), st.lists(st.sampled_from(SELECTORS), max_size=3)),
    max_size=60,
)


@given(steps)
def test_counts_follow_the_changes_and_old_multisets_stay_as_they_were(
    changes: list[tuple[LabelSet, int, list[LabelSelector]]],
) -> None:
    targets, expected = Targets(), dict[LabelSet, int]()
    history = [(targets, dict(expected))]
    for labels, difference, asked in changes:
        for selector in asked:
            assert targets.count(selector) == counted(expected, selector)
        number = expected.get(labels, 0) + difference
        if number < 0:
            with pytest.raises(ValueError, match="cannot hold"):
                targets.changed_by(labels, difference)
            continue
        targets = targets.changed_by(labels, difference)
        expected |= {labels: number}
        expected = {one: n for one, n in expected.items() if n}
        history.append((targets, dict(expected)))
    for before, sets in history:
        assert dict(before) == sets
        assert before == Targets(sets)
        assert hash(before) == hash(Targets(sets))
        for selector in SELECTORS:
            assert before.count(selector) == counted(sets, selector)
            assert before.any(selector) is (counted(sets, selector) > 0)


def test_a_count_that_was_asked_once_is_kept_without_another_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = make_targets([{"app": "a", "n": str(n)} for n in range(100)])
    assert targets.count(matching(app="a")) == 100
    asked = []

    def matches(_: LabelSelector, labels: LabelSet) -> bool:
        asked.append(labels)
        return True

    monkeypatch.setattr(LabelSelector, "matches", matches)
    later = targets.changed_by(LabelSet({"app": "a", "n": "new"}), 1)
    assert later.count(matching(app="a")) == 101
    assert asked == [LabelSet({"app": "a", "n": "new"})]


def test_selectors_that_came_later_are_counted_too() -> None:
    """Selectors of Runs that are long gone must not take the places of those that wait now."""
    targets = make_targets([{"n": str(n)} for n in range(20)])
    for n in range(2_000):
        assert targets.count(matching(n=str(n))) == (1 if n < 20 else 0)
    assert targets._counts is not None
    assert matching(n="1999") in targets._counts
    assert len(targets._counts) <= 512
    assert targets.changed_by(LabelSet({"n": "1999"}), 1).count(matching(n="1999")) == 1


def test_no_difference_is_no_change() -> None:
    targets = make_targets([{"app": "a"}])
    assert targets.changed_by(LabelSet({"app": "never seen"}), 0) is targets


def test_the_last_target_takes_its_label_set_with_it() -> None:
    targets = make_targets([{"app": "a"}]).changed_by(LabelSet({"app": "a"}), -1)
    assert len(targets) == 0
    assert not targets.any(matching(app="a"))
    assert targets == Targets()
    assert targets != "nothing"


def test_two_lines_of_changes_from_one_multiset_count_each_for_itself() -> None:
    """They share what was asked for: a selector that both ask about counts a change once in each."""
    base = make_targets([{"n": str(n)} for n in range(20)])
    one, other = base.changed_by(LabelSet({"app": "a"}), 1), base.changed_by(LabelSet({"app": "a"}), 2)
    for targets, number in ((one, 1), (other, 2)):
        assert targets.count(matching(app="a")) == number
    for targets, number in ((one, 2), (other, 3)):
        assert targets.changed_by(LabelSet({"app": "a"}), 1).count(matching(app="a")) == number


def test_label_sets_and_selectors_that_come_and_go_leave_nothing_behind() -> None:
    targets = make_targets([{"n": str(n)} for n in range(20)])
    for n in range(5_000):
        labels = LabelSet({"app": str(n)})
        targets = targets.changed_by(labels, 1)
        assert targets.count(matching(app=str(n))) == 1
        targets = targets.changed_by(labels, -1)
    assert targets._counts is not None
    asked = targets._counts.index
    assert len(asked.selectors) <= 1_025
    assert len(asked._found) <= 21


def test_a_change_looks_at_the_selectors_that_match_it_and_not_at_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    targets = make_targets([{"n": str(n)} for n in range(300)])
    for n in range(300):
        targets.count(matching(n=str(n)))
    targets = targets.changed_by(LabelSet({"n": "7"}), 1)
    asked = []

    def satisfies(_: LabelSet, selector: LabelSelector) -> bool:
        asked.append(selector)
        return False

    monkeypatch.setattr(LabelSet, "satisfies", satisfies)
    assert targets.changed_by(LabelSet({"n": "7"}), 1).count(matching(n="7")) == 3
    assert asked == []
