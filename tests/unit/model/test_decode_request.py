import reprlib
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.quantity import MAX_AMOUNT
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import run_object


def decoded(resources: Any) -> RunObservation:
    return Decoder().run(run_object(spec={"resources": resources}))


@pytest.mark.parametrize(
    ("resources", "request_"),
    [
        (None, {"runs": 1}),
        ({}, {"runs": 1}),
        ({"requests": None}, {"runs": 1}),
        ({"requests": {}}, {"runs": 1}),
        ({"requests": {"runs": "0"}}, {"runs": 1}),
        ({"requests": {"runs": "-0", "gpu": 0}}, {"runs": 1}),
        ({"requests": {"runs": 3}}, {"runs": 3}),
        ({"requests": {"gpu": "2k"}}, {"gpu": 2000, "runs": 1}),
        ({"requests": {"example.com/gpu": "2000m", "runs": "2"}}, {"example.com/gpu": 2, "runs": 2}),
        ({"requests": {"big": str(MAX_AMOUNT)}}, {"big": MAX_AMOUNT, "runs": 1}),
        ({"limits": {"gpu": "2"}}, {"runs": 1}),
    ],
)
def test_a_complete_request_has_positive_integers_and_runs(
    resources: object, request_: dict[str, int]
) -> None:
    observation = decoded(resources)
    assert observation.invalid is None
    assert observation.run.request == observation.held
    assert dict(observation.run.request) == request_


@pytest.mark.parametrize(
    ("amount", "held", "unreadable"),
    [
        ("", None, True),
        (None, None, True),
        ("abc", None, True),
        (1.5, None, True),
        (True, None, True),
        ("1K", None, True),
        ("1e1.5", None, True),
        ("1e999999999", None, True),
        ({}, None, True),
        (["1"], None, True),
        ("-1", None, False),
        (-1, None, False),
        ("500m", 1, False),
        ("0.1", 1, False),
        ("2500m", 3, False),
        ("1n", 1, False),
        ("-500m", None, False),
        ("9223372036854775808", MAX_AMOUNT, False),
        ("1e30", MAX_AMOUNT, False),
    ],
    ids=reprlib.repr,
)
def test_an_amount_that_is_not_allowed_fails_its_run_and_still_holds_what_can_be_read(
    amount: object, held: int | None, unreadable: bool
) -> None:
    observation = decoded({"requests": {"gpu": amount, "slots": "2"}})
    assert observation.invalid is not None
    assert observation.invalid.reason == "InvalidResources"
    assert observation.invalid.path == "spec.resources.requests['gpu']"
    assert observation.invalid.message.startswith("spec.resources.requests['gpu']: ")
    assert observation.invalid.unreadable is unreadable
    readable = {"slots": 2, "runs": 1} | ({} if held is None else {"gpu": held})
    assert dict(observation.held) == readable


@pytest.mark.parametrize(("runs", "held"), [("abc", 1), ("-4", 1), ("1500m", 2), (None, 1)])
def test_a_run_whose_runs_cannot_be_read_holds_at_least_one(runs: object, held: int) -> None:
    observation = decoded({"requests": {"runs": runs}})
    assert observation.invalid is not None
    assert dict(observation.held) == {"runs": held}


@pytest.mark.parametrize("resources", [[], "1", 1, True, {"requests": []}, {"requests": "1"}])
def test_resources_of_a_wrong_type_fail_their_run(resources: object) -> None:
    observation = decoded(resources)
    assert observation.invalid is not None
    assert observation.invalid.reason == "InvalidResources"
    assert observation.invalid.unreadable
    assert dict(observation.held) == {"runs": 1}


def test_the_first_bad_amount_is_the_one_that_is_named() -> None:
    observation = decoded({"requests": {"a": "1", "b": "x", "c": "y"}})
    assert observation.invalid is not None
    assert observation.invalid.path == "spec.resources.requests['b']"


def test_true_is_not_taken_for_the_amount_one_that_was_read_before() -> None:
    decoder = Decoder()
    verdicts = [
        decoder.run(run_object(requests={"gpu": amount})).invalid is None for amount in (1, True, 1.0, "1", 1)
    ]
    assert verdicts == [True, False, True, True, True]
