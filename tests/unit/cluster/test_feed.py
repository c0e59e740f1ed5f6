"""What becomes of an object that was listed or watched, and what is known of it."""

from typing import Any

from kruntimes_core.cluster.informers.event_handler import (
    ResourceEventHandler,
    resource_event_handlers,
)
from kruntimes_core.engine import events
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import run_object


def run_feed(known: dict[tuple[str, str], RunObservation]) -> ResourceEventHandler:
    """The feed of Runs, beside those that are known."""
    all_feeds = resource_event_handlers(Decoder(), None, lambda namespace, name: known.get((namespace, name)))
    return next(feed for feed in all_feeds if feed.resource.plural == "runs")


def seen(feed: ResourceEventHandler, obj: dict[str, Any]) -> RunObservation:
    event = feed.changed(obj)
    assert isinstance(event, events.RunObserved)
    return event.observation


def test_a_run_is_read_beside_what_is_known_of_it() -> None:
    known: dict[tuple[str, str], RunObservation] = {}
    feed = run_feed(known)
    first = seen(feed, run_object("r", metadata={"generation": 1}))
    known["team-a", "r"] = first
    again = seen(feed, run_object("r", version="2", metadata={"generation": 1}, pod="py-0"))
    other = seen(feed, run_object("q", metadata={"generation": 1}))
    assert again.run is first.run
    assert (again.version, again.assigned_pod) == ("2", "py-0")
    assert other.run.name == "q"


def test_what_has_no_name_is_read_too() -> None:
    feed = run_feed({})
    assert seen(feed, {"metadata": {"name": 1, "namespace": ["x"]}}).invalid is not None
    assert seen(feed, {"metadata": 5}).invalid is not None
