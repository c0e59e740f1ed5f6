from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Affinity, LabelSelector, LabelSet, Operator, Requirement
from kruntimes_core.testing import make_affinity, make_pod, make_targets, matching
from kruntimes_run_affinity import RunAffinity

Labels = Mapping[str, str]
Placement = Mapping[str, Sequence[Labels]]

AFFINITY = "AffinityNotSatisfied"
ANTI = "AntiAffinityConflict"


def verdicts(
    placement: Placement, affinity: Affinity, labels: Labels | None = None, elsewhere: Sequence[Labels] = ()
) -> dict[str, str | None]:
    """What the filter says of each Pod: None, or the reason; `placement` is Pod name to target labels."""
    plugin = RunAffinity()
    everything = [target for targets in placement.values() for target in targets] + list(elsewhere)
    state = plugin.prefilter(affinity, LabelSet(labels), make_targets(everything))
    answers = {
        name: plugin.filter(make_pod(name, targets=targets), state) for name, targets in placement.items()
    }
    return {name: answer.reason if answer else None for name, answer in answers.items()}


def requiring(key: str, operator: Operator, *values: str) -> LabelSelector:
    return LabelSelector(frozenset({Requirement(key, operator, frozenset(values))}))


A, B, NEW = matching(app="a"), matching(svc="b"), matching(app="new")
NOT_GOLD = requiring("tier", Operator.NOT_IN, "gold")
GOLD_ON_PY_1: Placement = {"py-0": [{}], "py-1": [{"tier": "gold"}]}
# X{app:a} and Y{svc:b} on py-0, Z{app:a} on py-1.
TRIO: Placement = {"py-0": [{"app": "a"}, {"svc": "b"}], "py-1": [{"app": "a"}]}


class TestAbsentKeys:
    """NotIn and DoesNotExist match a target without the key; an empty value is a value."""

    def test_anti_affinity_to_not_in_excludes_the_unlabelled(self) -> None:
        assert verdicts(GOLD_ON_PY_1, make_affinity(required_anti=[NOT_GOLD])) == {
            "py-0": ANTI,
            "py-1": None,
        }

    def test_affinity_to_does_not_exist_wants_the_unlabelled(self) -> None:
        affinity = make_affinity(required=[requiring("tier", Operator.DOES_NOT_EXIST)])
        assert verdicts(GOLD_ON_PY_1, affinity) == {"py-0": None, "py-1": AFFINITY}

    def test_requirements_of_one_term_are_met_by_one_target(self) -> None:
        both = LabelSelector(A.requirements | NOT_GOLD.requirements)
        assert verdicts(GOLD_ON_PY_1, make_affinity(required=[both])) == {
            "py-0": AFFINITY,
            "py-1": AFFINITY,
        }

    def test_an_empty_value_is_not_gold(self) -> None:
        placement: Placement = {"py-0": [{}], "py-1": [{"tier": ""}], "py-2": [{"tier": "gold"}]}
        assert verdicts(placement, make_affinity(required=[NOT_GOLD])) == {
            "py-0": None,
            "py-1": None,
            "py-2": AFFINITY,
        }


class TestSeveralTerms:
    def test_each_term_may_be_met_by_another_run(self) -> None:
        assert verdicts(TRIO, make_affinity(required=[A, B])) == {"py-0": None, "py-1": AFFINITY}

    def test_a_seeded_term_asks_nothing_and_the_others_still_restrict(self) -> None:
        affinity = make_affinity(required=[NEW, B])
        assert verdicts(TRIO, affinity, labels={"app": "new"}) == {"py-0": None, "py-1": AFFINITY}

    def test_one_term_that_cannot_be_seeded_is_enough(self) -> None:
        affinity = make_affinity(required=[NEW, matching(svc="zzz")])
        assert verdicts(TRIO, affinity, labels={"app": "new"}) == {"py-0": AFFINITY, "py-1": AFFINITY}

    def test_any_anti_affinity_term_excludes(self) -> None:
        affinity = make_affinity(required_anti=[A, matching(svc="q")])
        assert verdicts(TRIO, affinity) == {"py-0": ANTI, "py-1": ANTI}

    def test_a_term_that_is_required_and_excluded_is_an_anti_affinity_conflict(self) -> None:
        assert verdicts(TRIO, make_affinity(required=[A], required_anti=[A])) == {"py-0": ANTI, "py-1": ANTI}

    def test_affinity_is_told_before_anti_affinity(self) -> None:
        affinity = make_affinity(required=[B], required_anti=[A])
        assert verdicts(TRIO, affinity) == {"py-0": ANTI, "py-1": AFFINITY}


def test_the_first_of_a_cohort_goes_anywhere_and_the_second_to_it() -> None:
    cohort = make_affinity(required=[A])
    assert verdicts({"py-0": [], "py-1": []}, cohort, {"app": "a"}) == {"py-0": None, "py-1": None}
    assert verdicts({"py-0": [], "py-1": [{"app": "a"}]}, cohort, {"app": "a"}) == {
        "py-0": AFFINITY,
        "py-1": None,
    }


def test_a_target_on_another_runtimes_pod_forbids_seeding() -> None:
    """It can be met in the namespace, only on none of these Pods."""
    answers = verdicts({"py-0": []}, make_affinity(required=[A]), {"app": "a"}, elsewhere=[{"app": "a"}])
    assert answers == {"py-0": AFFINITY}


def test_a_run_whose_labels_do_not_match_waits_for_a_first_target() -> None:
    affinity = make_affinity(required=[A])
    assert verdicts({"py-0": []}, affinity) == {"py-0": AFFINITY}
    assert verdicts({"py-0": [], "py-1": [{"app": "a"}]}, affinity) == {"py-0": AFFINITY, "py-1": None}


def test_anti_affinity_to_itself_keeps_a_cohort_apart() -> None:
    apart = make_affinity(required_anti=[A])
    assert verdicts({"py-0": [{"app": "a"}], "py-1": []}, apart, {"app": "a"}) == {"py-0": ANTI, "py-1": None}


def state_of(affinity: Affinity, targets: Sequence[Labels], labels: Labels | None = None) -> object:
    return RunAffinity().prefilter(affinity, LabelSet(labels), make_targets(targets))


def test_a_run_without_required_terms_has_no_state() -> None:
    assert state_of(make_affinity(preferred=[(1, A)], preferred_anti=[(1, B)]), [{"app": "a"}]) is None


def test_equal_constraints_make_one_state_whatever_the_run_is_called() -> None:
    targets = [{"app": "a"}, {"svc": "b"}]
    first = state_of(make_affinity(required=[A, B], required_anti=[NEW]), targets, {"app": "a"})
    second = state_of(make_affinity(required=[B, A, A], required_anti=[NEW]), targets, {"app": "other"})
    assert first == second
    assert hash(first) == hash(second)


def test_the_state_changes_only_when_a_term_gets_its_first_target_or_loses_its_last() -> None:
    affinity = make_affinity(required=[A])
    none, one, two = (state_of(affinity, [{"app": "a"}] * number) for number in range(3))
    assert none != one
    assert one == two


def test_reasons_are_bounded_texts_without_names() -> None:
    assert list(RunAffinity.reasons) == [ANTI, AFFINITY], "the first declared one makes the headline"
    assert all("{" not in text and "affinity" in text for text in RunAffinity.reasons.values())


selectors = st.sampled_from([A, B, NEW, NOT_GOLD, requiring("svc", Operator.EXISTS)])
label_sets = st.dictionaries(
    st.sampled_from(["app", "svc", "tier"]), st.sampled_from(["a", "b", "new", "gold"])
)


def by_the_contract(
    placement: Placement, affinity: Affinity, labels: Labels, elsewhere: Sequence[Labels], pod: str
) -> str | None:
    """The contract's sentences, read literally and without any preparation."""
    everywhere = [target for targets in placement.values() for target in targets] + list(elsewhere)
    for term in affinity.required:
        if not any(term.selector.matches(target) for target in everywhere):
            if not term.selector.matches(labels):
                return AFFINITY
        elif not any(term.selector.matches(target) for target in placement[pod]):
            return AFFINITY
    for term in affinity.required_anti:
        if any(term.selector.matches(target) for target in placement[pod]):
            return ANTI
    return None


@given(
    st.fixed_dictionaries({name: st.lists(label_sets, max_size=3) for name in ("py-0", "py-1")}),
    st.lists(label_sets, max_size=2),
    st.lists(selectors, max_size=3),
    st.lists(selectors, max_size=3),
    label_sets,
)
def test_it_agrees_with_the_contract_read_literally(
    placement: Placement,
    elsewhere: Sequence[Labels],
    required: list[LabelSelector],
    required_anti: list[LabelSelector],
    labels: Labels,
) -> None:
    affinity = make_affinity(required=required, required_anti=required_anti)
    assert verdicts(placement, affinity, labels, elsewhere) == {
        pod: by_the_contract(placement, affinity, labels, elsewhere, pod) for pod in placement
    }
