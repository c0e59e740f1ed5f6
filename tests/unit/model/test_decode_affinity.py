import reprlib
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import InvalidInput
from kruntimes_core.model.selectors import Affinity
from kruntimes_core.testing import affinity_object, make_affinity, matching, run_object, term_object

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GOOD = term_object({"app": "a"})


def decoded(affinity: Any) -> tuple[Affinity, InvalidInput | None]:
    observation = Decoder().run(run_object(spec={"affinity": affinity}))
    return observation.run.affinity, observation.invalid


def test_the_four_kinds_of_terms_are_compiled() -> None:
    affinity, invalid = decoded(
        affinity_object(
            required=[term_object({"app": "a"}), term_object({"app": "b"})],
            required_anti=[term_object({"app": "c"})],
            preferred=[(1, term_object({"app": "d"})), (100, term_object({"app": "d"}))],
            preferred_anti=[(50, term_object({"app": "e"}))],
        )
    )
    assert invalid is None
    assert affinity == make_affinity(
        required=[matching(app="a"), matching(app="b")],
        required_anti=[matching(app="c")],
        preferred=[(1, matching(app="d")), (100, matching(app="d"))],
        preferred_anti=[(50, matching(app="e"))],
    )


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"runAffinity": None, "runAntiAffinity": {}},
        {"runAffinity": {REQUIRED: None, PREFERRED: []}},
        {"nodeAffinity": {"anything": True}},
    ],
)
def test_what_says_nothing_is_an_empty_affinity(value: object) -> None:
    assert decoded(value) == (Affinity(), None)


def required(*terms: object) -> dict[str, Any]:
    return {"runAffinity": {REQUIRED: list(terms)}}


def avoided(weight: object, term: object = GOOD) -> dict[str, Any]:
    return {"runAntiAffinity": {PREFERRED: [{"weight": weight, "runAffinityTerm": term}]}}


UNREADABLE = [
    ([], "spec.affinity", "a list"),
    ("none", "spec.affinity", "'none'"),
    ({"runAffinity": "a"}, "spec.affinity.runAffinity", "'a'"),
    ({"runAntiAffinity": [GOOD]}, "spec.affinity.runAntiAffinity", "a list"),
    ({"runAffinity": {REQUIRED: GOOD}}, f"spec.affinity.runAffinity.{REQUIRED}", "an object"),
    (required("a"), f"spec.affinity.runAffinity.{REQUIRED}[0]", "'a'"),
    (required(GOOD, None), f"spec.affinity.runAffinity.{REQUIRED}[1].topologyKey", "null"),
    (
        required(GOOD | {"topologyKey": "kubernetes.io/hostname"}),
        f"spec.affinity.runAffinity.{REQUIRED}[0].topologyKey",
        "'kubernetes.io/hostname' is not a topology of Runs: write kruntimes.io/runtime-pod",
    ),
    (
        required(GOOD | {"labelSelector": None}),
        f"spec.affinity.runAffinity.{REQUIRED}[0].labelSelector",
        "null is not a selector",
    ),
    (
        required(term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}])),
        f"spec.affinity.runAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
        "unknown operator 'in'",
    ),
    (avoided("5"), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "'5' is not a weight"),
    (avoided(None), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "null"),
    (avoided(True), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "true"),
    (avoided(1.0), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "1.0"),
    (
        avoided(5, {"labelSelector": {"matchLabels": {"a": 1}}, "topologyKey": GOOD["topologyKey"]}),
        f"spec.affinity.runAntiAffinity.{PREFERRED}[0].runAffinityTerm.labelSelector.matchLabels",
        "1 of key 'a'",
    ),
]
NOT_ALLOWED = [
    (required(*[GOOD] * 33), f"spec.affinity.runAffinity.{REQUIRED}", "33 terms are too many"),
    (required(term_object()), f"spec.affinity.runAffinity.{REQUIRED}[0].labelSelector", "it is empty"),
    (avoided(0), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "0 is not a weight"),
    (avoided(101), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "101 is not a weight"),
    (avoided(-1), f"spec.affinity.runAntiAffinity.{PREFERRED}[0].weight", "-1 is not a weight"),
]


@pytest.mark.parametrize(
    ("value", "path", "says", "unreadable"),
    [(*case, True) for case in UNREADABLE] + [(*case, False) for case in NOT_ALLOWED],
    ids=reprlib.repr,
)
def test_a_term_that_cannot_be_used_fails_its_run(
    value: object, path: str, says: str, unreadable: bool
) -> None:
    affinity, invalid = decoded(value)
    assert affinity == Affinity()
    assert invalid is not None
    assert (invalid.reason, invalid.path, invalid.unreadable) == ("InvalidAffinity", path, unreadable)
    assert says in invalid.message
    assert invalid.message.startswith(path)


def test_32_terms_of_each_kind_are_allowed() -> None:
    affinity, invalid = decoded(affinity_object(required=[GOOD] * 32, preferred=[(100, GOOD)] * 32))
    assert invalid is None
    assert (len(affinity.required), len(affinity.preferred)) == (32, 32)


def test_a_selector_that_cannot_be_compiled_harms_no_active_run() -> None:
    bad = required(term_object(expressions=[{"key": "app", "operator": "Exists", "values": ["x"]}]))
    spec = {"affinity": bad, "resources": {"requests": {"gpu": "2"}}}
    observation = Decoder().run(run_object(pod="py-0", labels={"app": "a"}, spec=spec))
    assert observation.active
    assert dict(observation.held) == {"gpu": 2, "runs": 1}
    assert dict(observation.run.labels) == {"app": "a"}
