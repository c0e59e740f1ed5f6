"""Which Runs a selector means, who satisfies a term, and what goes away counts until it is gone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object
from tests.scenarios.conftest import Planned
from tests.scenarios.planning import Object, Plan, document_of
from tests.scenarios.reference_reading import matches

TWO_PODS = (pod_object("py-0", capacity={"runs": "4"}), pod_object("py-1", capacity={"runs": "4"}))
AFFINITY_TEXT = "waiting for a runtime pod that satisfies required run affinity"
ANTI_AFFINITY_TEXT = "waiting for a runtime pod without the runs that required run anti-affinity excludes"


def active(name: str, pod: str, labels: dict[str, str] | None, **more: Any) -> Object:
    return run_object(name, pod=pod, labels=labels, **more)


def expressed(key: str, operator: str, *values: str) -> Object:
    """An expression; without values for the operators that take none."""
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


def asking(name: str, labels: dict[str, str] | None = None, **rules: Any) -> Object:
    return run_object(name, labels=labels, affinity=affinity_object(**rules))


class TestAbsentKeys:
    """A Run without the key, or without any label, is matched by NotIn and DoesNotExist."""

    def test_anti_affinity_sees_a_run_without_labels(self, plan: Planned) -> None:
        unlabelled = active("x", "py-0", None, metadata={"labels": None})
        gold = active("y", "py-1", {"tier": "gold"})
        away = asking("r", required_anti=[term_object(expressions=[expressed("tier", "NotIn", "gold")])])
        assert plan(*TWO_PODS, unlabelled, gold, away)["r"]["pod"] == "py-1"

    def test_affinity_finds_a_run_without_the_key(self, plan: Planned) -> None:
        unlabelled = active("x", "py-0", None, metadata={"labels": None})
        gold = active("y", "py-1", {"tier": "gold"})
        near = asking("r", required=[term_object(expressions=[expressed("tier", "DoesNotExist")])])
        assert plan(*TWO_PODS, unlabelled, gold, near)["r"]["pod"] == "py-0"

    def test_all_requirements_of_a_term_are_for_one_run(self, plan: Planned) -> None:
        unlabelled = active("x", "py-0", None, metadata={"labels": None})
        term = term_object({"app": "a"}, expressions=[expressed("tier", "NotIn", "gold")])
        made = plan(*TWO_PODS, unlabelled, asking("r", required=[term]))["r"]
        assert (made["outcome"], made["reason"]) == ("Waiting", "AffinityNotSatisfied")
        assert made["message"] == AFFINITY_TEXT

    def test_an_empty_value_is_a_value(self, plan: Planned) -> None:
        targets = active("x", "py-0", {}), active("z", "py-1", {"tier": ""})
        near = asking("r", required=[term_object(expressions=[expressed("tier", "NotIn", "gold")])])
        present = asking("s", required=[term_object(expressions=[expressed("tier", "Exists")])])
        placed = plan(*TWO_PODS, *targets, near, present)
        assert placed["r"]["pod"] == "py-0"
        assert placed["s"]["pod"] == "py-1"

    @pytest.mark.parametrize(
        ("expression", "pod"),
        [
            (expressed("tier", "In", "gold"), "gold"),
            (expressed("tier", "In", ""), "empty"),
            (expressed("tier", "NotIn", "gold", ""), "none"),
            (expressed("tier", "Exists"), "empty"),
            (expressed("tier", "DoesNotExist"), "none"),
        ],
        ids=str,
    )
    def test_each_operator_by_the_pod_that_it_leads_to(
        self, plan: Planned, expression: Object, pod: str
    ) -> None:
        pods = [pod_object(name) for name in ("empty", "gold", "none")]
        runs = (
            active("x", "empty", {"tier": ""}),
            active("y", "gold", {"tier": "gold"}),
            active("z", "none", {"app": "a"}),
        )
        near = asking("r", required=[term_object(expressions=[expression])])
        assert plan(*pods, *runs, near)["r"]["pod"] == pod


KEYS, VALUES = st.sampled_from(["app", "tier"]), st.sampled_from(["a", "b", ""])
LABELS = st.one_of(st.none(), st.dictionaries(KEYS, VALUES, max_size=2))
EXPRESSIONS = st.one_of(
    st.builds(
        lambda key, operator, values: expressed(key, operator, *values),
        KEYS,
        st.sampled_from(["In", "NotIn"]),
        st.lists(VALUES, min_size=1, max_size=3),
    ),
    st.builds(expressed, KEYS, st.sampled_from(["Exists", "DoesNotExist"])),
)


@given(labels=LABELS, expressions=st.lists(EXPRESSIONS, min_size=1, max_size=3))
def test_a_term_means_the_runs_that_a_plain_reading_means(
    labels: dict[str, str] | None, expressions: list[Object], profiles: Profiles
) -> None:
    term = term_object(expressions=expressions)
    target = active("x", "py-0", labels, metadata={"labels": labels})
    # No label of its own: what `satisfies an absent key` would let it seed, has its target anyway or never.
    objects = [pod_object("py-0"), target, asking("r", {"other": "z"}, required_anti=[term])]
    met = Plan(document_of(objects, profiles))["r"]["reason"] == "AntiAffinityConflict"
    assert met is matches(term["labelSelector"], labels or {})


class TestSeveralTerms:
    """Each term by itself: who satisfies it, and who seeds it."""

    HELD = (
        active("x", "py-0", {"app": "a"}),
        active("y", "py-0", {"svc": "b"}),
        active("z", "py-1", {"app": "a"}),
    )

    def test_two_terms_may_be_met_by_two_runs(self, plan: Planned) -> None:
        near = asking("r", required=[term_object({"app": "a"}), term_object({"svc": "b"})])
        assert plan(*TWO_PODS, *self.HELD, near)["r"]["pod"] == "py-0"

    def test_a_seeded_term_leaves_the_others_in_force(self, plan: Planned) -> None:
        terms = [term_object({"app": "new"}), term_object({"svc": "b"})]
        assert plan(*TWO_PODS, *self.HELD, asking("r", {"app": "new"}, required=terms))["r"]["pod"] == "py-0"

    def test_one_term_that_nobody_can_seed_is_enough(self, plan: Planned) -> None:
        terms = [term_object({"app": "new"}), term_object({"svc": "zzz"})]
        made = plan(*TWO_PODS, *self.HELD, asking("r", {"app": "new"}, required=terms))["r"]
        assert (made["reason"], made["message"]) == ("AffinityNotSatisfied", AFFINITY_TEXT)

    def test_a_term_with_a_target_on_another_runtime_is_not_seeded(self, plan: Planned) -> None:
        elsewhere = active("t", "js-0", {"app": "new"}, runtime="js")
        seed = asking("r", {"app": "new"}, required=[term_object({"app": "new"})])
        made = plan(*TWO_PODS, pod_object("js-0", runtime="js"), elsewhere, seed)["r"]
        assert made["reason"] == "AffinityNotSatisfied"

    def test_a_target_on_a_pod_that_is_gone_is_one_in_the_namespace(self, plan: Planned) -> None:
        orphan = active("t", "py-9", {"app": "new"})
        seed = asking("r", {"app": "new"}, required=[term_object({"app": "new"})])
        assert plan(*TWO_PODS, orphan, seed)["r"]["reason"] == "AffinityNotSatisfied"

    def test_targets_of_another_namespace_are_none(self, plan: Planned) -> None:
        stranger = active("t", "py-0", {"app": "a"}, namespace="team-b")
        pods = (*TWO_PODS, pod_object("py-0", namespace="team-b", uid="other"))
        near = asking("r", required=[term_object({"app": "a"})])
        assert plan(*pods, stranger, near)["r"]["reason"] == "AffinityNotSatisfied"

    @pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed", "Timeout", "Cancelled"])
    def test_what_does_not_run_is_no_target(self, plan: Planned, phase: str) -> None:
        idle = active("t", "py-0", {"app": "a"}, phase=phase, runtime="without-pods")
        near = asking("r", required=[term_object({"app": "a"})])
        assert plan(*TWO_PODS, idle, near)["r"]["reason"] == "AffinityNotSatisfied"

    @pytest.mark.parametrize("phase", ["Scheduled", "Running", "Ready"])
    def test_what_is_active_is_one(self, plan: Planned, phase: str) -> None:
        running = active("t", "py-1", {"app": "a"}, phase=phase)
        near = asking("r", required=[term_object({"app": "a"})])
        assert plan(*TWO_PODS, running, near)["r"]["pod"] == "py-1"

    def test_any_term_of_anti_affinity_rejects(self, plan: Planned) -> None:
        away = asking("r", required_anti=[term_object({"app": "a"}), term_object({"svc": "q"})])
        made = plan(*TWO_PODS, *self.HELD, away)["r"]
        assert (made["reason"], made["message"]) == ("AntiAffinityConflict", ANTI_AFFINITY_TEXT)

    def test_anti_affinity_of_a_run_that_is_there_counts_for_nothing(self, plan: Planned) -> None:
        rules = affinity_object(required_anti=[term_object({"app": "new"})])
        hermit = active("x", "py-0", {"app": "a"}, affinity=rules)
        assert plan(TWO_PODS[0], hermit, run_object("r", labels={"app": "new"}))["r"]["pod"] == "py-0"

    def test_near_and_away_of_the_same_is_anti_affinity_for_ever(self, plan: Planned) -> None:
        term = term_object({"app": "a"})
        made = plan(*TWO_PODS, *self.HELD, asking("r", required=[term], required_anti=[term]))
        assert made["r"]["reason"] == "AntiAffinityConflict"
        assert made.order == ["r"]

    def test_a_cohort_is_seeded_once(self, plan: Planned) -> None:
        pods = [pod_object(name, capacity={"runs": "2"}) for name in ("py-0", "py-1")]
        cohort = [
            asking(name, {"app": "new"}, required=[term_object({"app": "new"})])
            for name in ("r1", "r2", "r3")
        ]
        made = plan(*pods, *cohort)
        assert made.pods == {"r1": "py-0", "r2": "py-0", "r3": None}
        assert made["r3"]["reason"] == "AffinityNotSatisfied"


SEEDABLE = st.lists(
    st.tuples(st.sampled_from(["a", "b", "new"]), st.sampled_from(["app", "svc"])), min_size=1, max_size=3
)
HELD = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["app", "svc"]), st.sampled_from(["a", "b"]), min_size=1, max_size=2),
        st.sampled_from(["py-0", "py-1", "py-2", "js-0"]),
    ),
    max_size=4,
)


@given(terms=SEEDABLE, held=HELD, own=st.dictionaries(st.just("app"), st.sampled_from(["a", "new"])))
def test_each_term_is_seeded_or_not_by_itself(
    terms: list[tuple[str, str]],
    held: list[tuple[dict[str, str], str]],
    own: dict[str, str],
    profiles: Profiles,
) -> None:
    pods = [pod_object(name, capacity={"runs": "9"}) for name in ("py-0", "py-1")]
    runs = [active(f"x{number}", pod, labels) for number, (labels, pod) in enumerate(held)]
    near = asking("r", own, required=[term_object({key: value}) for value, key in terms])

    def is_met(pod: str, key: str, value: str) -> bool:
        if any(labels.get(key) == value for labels, _ in held):
            return any(labels.get(key) == value for labels, where in held if where == pod)
        return own.get(key) == value

    meeting = {pod for pod in ("py-0", "py-1") if all(is_met(pod, key, value) for value, key in terms)}
    made = Plan(document_of([*pods, *runs, near], profiles))["r"]
    assert (made["pod"] in meeting) if meeting else made["reason"] == "AffinityNotSatisfied"


BAD_EXPRESSIONS = {
    "an operator in lower case": expressed("app", "in", "a"),
    "In without values": {"key": "app", "operator": "In", "values": []},
    "In without the field": {"key": "app", "operator": "In"},
    "Exists with values": expressed("app", "Exists", "a"),
    "a value of 64 characters": expressed("app", "In", "x" * 64),
    "a value with a space": expressed("app", "NotIn", "a b"),
    "no operator": {"key": "app"},
    "no key": {"operator": "Exists"},
    "values that are no list": {"key": "app", "operator": "In", "values": "a"},
    "a key with two slashes": expressed("a/b/c", "Exists"),
}


class TestSelectorsThatCannotBeParsed:
    """One Run's mistake is that Run's alone."""

    @pytest.mark.parametrize("pods", [(), TWO_PODS], ids=["no Pods", "two Pods"])
    @pytest.mark.parametrize("side", ["required", "required_anti"])
    @pytest.mark.parametrize("mistake", BAD_EXPRESSIONS)
    def test_its_run_fails_and_says_where(
        self, plan: Planned, mistake: str, side: str, pods: tuple[Object, ...]
    ) -> None:
        rules: dict[str, Any] = {side: [term_object(expressions=[BAD_EXPRESSIONS[mistake]])]}
        bad = asking("bad", **rules)
        made = plan(*pods, bad, run_object("ok"))
        assert (made["bad"]["outcome"], made["bad"]["reason"]) == ("Failed", "InvalidAffinity")
        assert made["bad"]["message"].startswith("spec.affinity.run")
        assert "matchExpressions[0]" in made["bad"]["message"]
        assert len(made["bad"]["message"]) <= 4096
        assert made["ok"]["outcome"] == ("Scheduled" if pods else "Waiting")

    @pytest.mark.parametrize("mistake", BAD_EXPRESSIONS)
    def test_of_an_active_run_it_harms_nobody(self, plan: Planned, mistake: str) -> None:
        rules = affinity_object(required_anti=[term_object(expressions=[BAD_EXPRESSIONS[mistake]])])
        there = active("x", "py-1", {"app": "a"}, affinity=rules)
        made = plan(*TWO_PODS, there, asking("r", required=[term_object({"app": "a"})]))
        assert made.pods == {"r": "py-1"}

    def test_a_preference_that_cannot_be_parsed_fails_too(self, plan: Planned) -> None:
        preferred = asking("bad", preferred=[(1, term_object(expressions=[expressed("app", "Like", "a")]))])
        assert plan(*TWO_PODS, preferred)["bad"]["reason"] == "InvalidAffinity"


LEAVING = {"deletionTimestamp": "2026-01-02T03:04:00Z", "finalizers": ["kruntimes.io/cleanup"]}


class TestLeavingRunsAndPods:
    """What is being deleted holds its room and is a target until it is gone; a leaving Pod takes nobody."""

    def test_a_leaving_run_is_a_target(self, plan: Planned) -> None:
        full = (pod_object("py-1", capacity={"runs": "1"}), active("y", "py-1", {}))
        leaving = active("x", "py-0", {"app": "a"}, metadata=LEAVING)
        away = asking("r", required_anti=[term_object({"app": "a"})])
        made = plan(TWO_PODS[0], *full, leaving, away)["r"]
        assert (made["reason"], made["message"]) == ("AntiAffinityConflict", ANTI_AFFINITY_TEXT)
        assert plan(TWO_PODS[0], *full, away)["r"]["pod"] == "py-0"

    def test_a_leaving_run_holds_its_room(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "1"})
        leaving = active("x", "py-0", None, metadata=LEAVING)
        assert plan(pod, leaving, run_object("r"))["r"]["reason"] == "InsufficientCapacity"

    def test_a_leaving_pod_takes_nobody(self, plan: Planned) -> None:
        pod = pod_object("py-0", metadata={"deletionTimestamp": "2026-01-02T03:04:00Z"})
        made = plan(pod, run_object("r"))["r"]
        assert (made["reason"], made["never"]) == ("PodTerminating", False)
        assert made["message"] == 'waiting for available runtime pods for runtime "py"'

    def test_a_pending_run_that_is_being_deleted_is_left_alone(self, plan: Planned) -> None:
        made = plan(*TWO_PODS, run_object("r", metadata=LEAVING))["r"]
        assert (made["outcome"], made["reason"], made["pod"]) == ("Ignored", "BeingDeleted", None)
