"""Four classes of Runs that wait for one Pod, and the work that offers it to all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.cluster.plugin_worker import failed
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.engine.plugin_work import BatchRetryWork, Runners, Work, WorkResult
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

CLASSES = (4, 3, 2, 1)
FIRST = [f"c{gpus}-0" for gpus in CLASSES]
"""The first Run of each class, in order."""
ALL = [f"c{gpus}-{number}" for number in range(3) for gpus in CLASSES]
"""All Runs, in order."""
ON_POD = {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "uid-py-0"}
"""The status of a Run that another scheduler has placed."""
WAITS = {"phase": "Pending", "message": "waiting for Full"}
"""The status of a Run that says what it waits for."""


class Moody:
    """A plugin that fails for Runs of one class, while it does; the class is that of so many GPUs."""

    def __init__(self) -> None:
        self.fails_for: int | None = None
        self.failure: Callable[[], object] = lambda: None
        self.hook = "filter"

    def met(self, hook: str, gpus: int) -> None:
        if (hook, gpus) == (self.hook, self.fails_for):
            self.failure()

    def plugin(self) -> ActivePlugin:
        def filter_(pod: RuntimePod, state: int) -> None:
            self.met("filter", state)

        def score(pod: RuntimePod, state: int) -> int:
            self.met("score", state)
            return 0

        return fake_plugin(
            "Moody", prefilter=lambda request: request.get("gpu", 0), filter=filter_, score=score
        )


def room() -> ActivePlugin:
    """Rejects Pods without room."""

    def fits(pod: RuntimePod, state: Any) -> Reject | None:
        return None if pod.available and pod.fits(state) else Reject("Full")

    return fake_plugin("Room", prefilter=lambda request: request, filter=fits, reasons=["Full"])


class Scene:
    """Four classes of three Runs each wait for GPUs: those of class `c4` for four each, and so on.

    The classes stand in that order, so those that want least are offered the Pod last.
    """

    def __init__(self, names: Sequence[str] = ALL) -> None:
        """names: of the Runs that wait; the digit after the `c` says how many GPUs a Run wants."""
        self.moody = Moody()
        self.host = Host(self.profiles())
        self.host.pod("py-0", runs=50, capacity={"gpu": "0"})
        for name in names:
            self.host.run(name, requests={"gpu": name[1]})
        self.host.settle()
        self._runners = Runners()

    def profiles(self) -> Profiles:
        """The plugins, built anew."""
        return profiles_of(self.moody.plugin(), room())

    def fail(self, gpus: int, hook: str, failure: Callable[[], object]) -> None:
        """Let one plugin do something else in a hook when it is asked for Runs that want so many GPUs."""
        self.moody.fails_for, self.moody.hook, self.moody.failure = gpus, hook, failure

    def gpus(self, number: int) -> None:
        """Let the Pod have so many GPUs."""
        self.annotate({"kruntimes.io/capacity.gpu": str(number)})

    def annotate(self, annotations: dict[str, str]) -> None:
        """Change the Pod."""
        self.host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"annotations": annotations}})

    def offered(self) -> BatchRetryWork:
        """What is seen is offered to all classes that wait."""
        self.host.observe()
        work = self.host.take()
        assert isinstance(work, BatchRetryWork)
        return work

    # What came of it

    @property
    def placed(self) -> list[str]:
        """The Runs that are bound, in order of their binds."""
        return [write.name for write in self.host.server.accepted if "assignedPod" in write.body["status"]]

    @property
    def waiting(self) -> list[str]:
        """The Runs that are Pending and say what they wait for, in order of creation."""
        return [run["metadata"]["name"] for run in self.host.server.all(RUNS) if run["status"] == WAITS]

    @property
    def texts_written(self) -> int:
        """How many waiting texts were written."""
        return sum(write.body["status"]["phase"] == "Pending" for write in self.host.server.accepted)

    def with_outcome(self, outcome: Outcome) -> list[str]:
        """The Runs whose last decision came to that, in order of creation."""
        names = [run["metadata"]["name"] for run in self.host.server.all(RUNS)]
        entries = {name: self.host.engine.find(NAMESPACE, name) for name in names}
        decisions = {name: entry.decision for name, entry in entries.items() if entry is not None}
        return [name for name, made in decisions.items() if made is not None and made.outcome is outcome]

    @property
    def errors(self) -> dict[tuple[str, str], int]:
        """Failures of plugins, by plugin and hook."""
        return dict(self.host.engine.counters.plugin_errors)

    # A worker that may not come back

    def finish(self, work: Work) -> bool:
        """Execute work; when a plugin hangs, the call is abandoned. Whether it came back."""
        hung: list[str] = []
        self.moody.failure = lambda: hung.append(self.moody.hook)
        result: WorkResult = work.execute(self._runners)
        if hung:
            self._runners = Runners()
            plugin = next(one for one in work.profile.plugins if one.name == "Moody")  # type: ignore[union-attr]
            result = failed(work, plugin.error(hung[0], "did not return within 5 s: the call is abandoned"))
        self.host.engine.finish(work, result, self.host.now)
        return not hung

    def settle(self) -> int:
        """Go on until nothing is left to do; gives how many calls were abandoned."""
        abandoned = 0
        while True:
            self.host.observe()
            work = self.host.engine.take(self.host.now)
            if work is not None:
                abandoned += not self.finish(work)
            elif not self.host.send():
                return abandoned
