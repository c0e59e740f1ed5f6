"""What becomes of an object that was listed or watched, and what is known of it."""

from typing import Any

from kruntimes_core.cluster.informers.event_handler import resource_event_handlers
from kruntimes_core.engine import events
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import run_object


class Runs:
    """Hands Runs to their handler, beside those that are known, and keeps its events."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], RunObservation] = {}
        self.events: list[events.Event] = []
        handlers = resource_event_handlers(Decoder(), None, self.events.append, self._known)
        self.handler = next(one for one in handlers if one.resource.plural == "runs")

    def _known(self, namespace: str, name: str) -> RunObservation | None:
        return self.known.get((namespace, name))

    def seen(self, obj: dict[str, Any]) -> RunObservation:
        self.handler.on_update(obj)
        event = self.events[-1]
        assert isinstance(event, events.RunObserved)
        return event.observation


def test_a_run_is_read_beside_what_is_known_of_it() -> None:
    runs = Runs()
    first = runs.seen(run_object("r", metadata={"generation": 1}))
    runs.known["team-a", "r"] = first
    again = runs.seen(run_object("r", version="2", metadata={"generation": 1}, pod="py-0"))
    other = runs.seen(run_object("q", metadata={"generation": 1}))
    assert again.run is first.run
    assert (again.version, again.assigned_pod) == ("2", "py-0")
    assert other.run.name == "q"


def test_what_has_no_name_is_read_too() -> None:
    runs = Runs()
    assert runs.seen({"metadata": {"name": 1, "namespace": ["x"]}}).invalid is not None
    assert runs.seen({"metadata": 5}).invalid is not None
