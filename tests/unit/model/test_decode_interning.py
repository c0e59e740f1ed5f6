import gc
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.metadata import kept_annotations
from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def one_run(number: int, **more: Any) -> dict[str, Any]:
    return run_object(
        f"run-{number}",
        labels={"app": "a", "tier": "gold"},
        requests={"gpu": "2"},
        affinity=affinity_object(required=[term_object({"app": "a"})]),
        metadata={"annotations": {"team": "red"}},
        **more,
    )


def test_equal_parts_of_runs_are_the_same_objects() -> None:
    decoder = Decoder()
    first, second = decoder.run(one_run(1)).run, decoder.run(one_run(2)).run
    assert first != second
    assert first.labels is second.labels
    assert first.annotations is second.annotations
    assert first.request is second.request
    assert first.affinity is second.affinity


@pytest.mark.parametrize("keys", [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")])
def test_what_is_met_first_does_not_depend_on_who_wrote_it(keys: tuple[str, ...]) -> None:
    one, texts = dict.fromkeys(keys, "1"), dict.fromkeys(keys, "x")
    run = Decoder().run(run_object(labels=texts, requests=one, metadata={"annotations": texts})).run
    pod = Decoder().pod(pod_object(capacity=one))
    assert pod is not None
    assert list(run.labels) == list(run.annotations) == ["a", "b", "c"]
    assert [*run.request][:3] == ["a", "b", "c"]
    assert [*pod.pod.capacity][:3] == ["a", "b", "c"]


def test_parts_that_were_written_differently_but_mean_the_same_are_shared_too() -> None:
    decoder = Decoder()
    first = decoder.run(run_object(labels={"a": "x", "b": "y"}, requests={"gpu": "2", "cpu": "1"})).run
    second = decoder.run(run_object(labels={"b": "y", "a": "x"}, requests={"cpu": 1, "gpu": "2000m"})).run
    assert first.labels is second.labels
    assert first.request is second.request
    expressions = [{"key": "app", "operator": "In", "values": ["a"]}]
    by_labels = affinity_object(required=[term_object({"app": "a"})])
    by_expression = affinity_object(required=[term_object(expressions=expressions)])
    third, fourth = (
        decoder.run(run_object(affinity=by_labels)),
        decoder.run(run_object(affinity=by_expression)),
    )
    assert third.run.affinity is fourth.run.affinity


def test_a_run_without_anything_shares_all_of_it() -> None:
    decoder = Decoder()
    first, second = decoder.run(run_object("a")), decoder.run(run_object("b", metadata={"labels": {}}))
    assert first.run.labels is second.run.labels
    assert first.run.affinity is second.run.affinity
    assert first.held is first.run.request is second.run.request


def test_equal_parts_of_pods_are_the_same_objects() -> None:
    decoder = Decoder()
    first, second = (decoder.pod(pod_object(name, capacity={"gpu": "2"})) for name in ("py-0", "py-1"))
    assert first is not None
    assert second is not None
    assert first.pod.labels is second.pod.labels
    assert first.pod.capacity is second.pod.capacity
    assert first.pod.usage is second.pod.usage
    assert first.pod.targets is second.pod.targets


def test_label_sets_go_with_the_last_run_that_has_them() -> None:
    decoder = Decoder()
    observations = [decoder.run(run_object(labels={"n": str(n)})) for n in range(50)]
    known = decoder._runs._metadata._labels._maps
    assert len(known) == 50
    observations.clear()
    gc.collect()
    assert len(known) == 0


def test_what_is_remembered_of_users_texts_is_bounded() -> None:
    decoder = Decoder()
    texts = decoder._runs._resources._known
    texts.budget = 100_000
    for n in range(1_000):
        decoder.run(run_object(requests={"gpu": str(n)}))
    assert 50_000 < texts.size <= 100_000
    assert 0 < len(texts) < 200
    decoder.run(run_object(requests={f"r{n}": "1" for n in range(2_000)}))
    assert 50_000 < texts.size <= 100_000


def test_a_text_is_compiled_once_however_its_strings_lie_in_memory() -> None:
    decoder = Decoder()
    one, other = ("".join(["1", "2", str(n)[1:]]) for n in (10, 20))
    assert one == other == "120"
    assert one is not other
    decoder.run(run_object(requests={"gpu": one, "cpu": one}))
    decoder.run(run_object(requests={"gpu": one, "cpu": other}))
    assert len(decoder._runs._resources._known) == 1


def test_a_request_too_long_to_be_remembered_is_read_all_the_same() -> None:
    decoder = Decoder()
    requests = {f"resource-{n}": "1" for n in range(2_000)}
    first, second = (decoder.run(run_object(requests=requests)).run.request for _ in range(2))
    assert len(first) == 2_001
    assert first is second


def test_kubectls_copy_is_not_kept() -> None:
    assert kept_annotations({LAST_APPLIED: "{}", "a": "b"}) == {"a": "b"}
    assert kept_annotations({LAST_APPLIED: "x" * 200_000}) == {}


@pytest.mark.parametrize(
    ("annotations", "kept"),
    [
        ({"a": "x" * 4_095}, ["a"]),
        ({"a": "x" * 4_096}, []),
        ({"b": "x", "a": "x" * 4_093}, ["a", "b"]),
        ({"b": "x", "a": "x" * 4_094}, ["a"]),
        ({"b": "x" * 5_000, "c": "x", "a": "x"}, ["a"]),
        ({"a": "\N{EURO SIGN}" * 1_366}, []),
        ({"a": "\N{EURO SIGN}" * 1_364, "b": "xx"}, ["a", "b"]),
        ({"a": "\ud800" * 1_366}, []),
    ],
    ids=range(8),
)
def test_whole_annotations_are_kept_in_key_order_up_to_4_kib(
    annotations: dict[str, str], kept: list[str]
) -> None:
    assert sorted(kept_annotations(annotations)) == kept
    observation = Decoder().run(run_object(metadata={"annotations": annotations}))
    assert sorted(observation.run.annotations) == kept
    assert observation.invalid is None
