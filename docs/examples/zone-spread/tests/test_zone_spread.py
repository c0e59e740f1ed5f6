import pytest
from pydantic import ValidationError

from kruntimes_core import LabelSet, RuntimePod, Snapshot
from kruntimes_core.testing import make_pod, make_snapshot
from kruntimes_example_zone_spread import ZONE, ZoneSpread


def zone_pod(name: str, zone: str | None, *applications: str) -> RuntimePod:
    labels = {} if zone is None else {ZONE: zone}
    return make_pod(name, labels=labels, targets=[{"app": application} for application in applications])


def normalized(snapshot: Snapshot, labels: dict[str, str], label: str = "app") -> dict[str, int]:
    plugin = ZoneSpread(ZoneSpread.Arguments(label=label))
    state = plugin.prefilter(LabelSet(labels), snapshot)
    scores = [plugin.score(pod, state) for pod in snapshot.pods.values()]
    return dict(zip(snapshot.pods, plugin.normalize(scores), strict=True))


SNAPSHOT = make_snapshot(
    zone_pod("py-0", "east", "a", "a"),
    zone_pod("py-1", "east"),
    zone_pod("py-2", "west", "a", "b"),
    zone_pod("py-3", None),
)


def test_the_emptier_the_zone_the_better() -> None:
    assert normalized(SNAPSHOT, {"app": "a"}) == {"py-0": 0, "py-1": 0, "py-2": 50, "py-3": 100}


def test_other_applications_do_not_count() -> None:
    assert normalized(SNAPSHOT, {"app": "b"}) == {"py-0": 100, "py-1": 100, "py-2": 0, "py-3": 100}


def test_a_run_without_the_label_has_no_preference() -> None:
    assert set(normalized(SNAPSHOT, {"tier": "gold"}).values()) == {0}


def test_the_label_is_an_argument() -> None:
    assert set(normalized(SNAPSHOT, {"app": "a", "team": "x"}, label="team").values()) == {0}
    assert ZoneSpread.Arguments().label == "app"


def test_arguments_are_checked() -> None:
    with pytest.raises(ValidationError):
        ZoneSpread.Arguments(label="")
    with pytest.raises(ValidationError):
        ZoneSpread.Arguments.model_validate({"labels": "app"})


def test_it_waits_to_be_named_in_a_configuration() -> None:
    assert ZoneSpread.on_by_default is False
