"""Events of Runs are taken in: never back in time, and a name belongs to one Run at a time."""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.engine.api_calls import CallQueue
from kruntimes_core.engine.run_lifecycle import RunLifecycle
from kruntimes_core.engine.runs import RunEntry, Runs
from kruntimes_core.model.metadata import newer_than_list, older, version_number
from kruntimes_core.model.run import RunObservation


class RunEventHandlers:
    """Takes in observations of Runs."""

    def __init__(self, runs: Runs, calls: CallQueue, lifecycle: RunLifecycle) -> None:
        self._runs = runs
        self._calls = calls
        self._lifecycle = lifecycle

    def observed(self, observation: RunObservation, consistent: bool = False) -> None:
        """One version of a Run. consistent: read from the API server, so it counts although unordered."""
        run = observation.run
        entry = self._runs.get((run.namespace, run.uid))
        if entry is None:
            self._first_seen(observation)
        elif self._accepts(entry, observation, consistent):
            self._lifecycle.observed(entry, entry.observe(observation))

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """A Run was deleted; its successor of the same name is not touched by it."""
        entry = self._runs.get((namespace, uid)) if uid else self._runs.named(namespace, name)
        if entry is not None:
            self._lifecycle.forget(entry)

    def listed(self, observations: Iterable[RunObservation], version: str, namespace: str | None) -> None:
        """A whole list: Runs that came in it together arrive in order of creation, then by name."""
        seen = set()
        for observation in sorted(observations, key=_age):
            seen.add((observation.run.namespace, observation.run.uid))
            self.observed(observation)
        for entry in self._runs:
            inside = namespace in (None, entry.run.namespace)
            if inside and entry.key not in seen and not newer_than_list(entry.floor, version):
                self._lifecycle.forget(entry)

    def _first_seen(self, observation: RunObservation) -> None:
        run = observation.run
        former = self._runs.named(run.namespace, run.name)
        if former is not None:
            if older(observation.version, former.floor):
                return
            self._lifecycle.forget(former)
        entry = RunEntry(observation, floor=observation.version)
        self._runs.add(entry)
        self._lifecycle.observed(entry, None)

    def _accepts(self, entry: RunEntry, observation: RunObservation, consistent: bool) -> bool:
        """Whether an observation is newer than what is known, or was read consistently."""
        if observation.version == entry.observation.version:
            return consistent and observation != entry.observation
        if older(observation.version, entry.floor):
            return False
        ordered = version_number(observation.version) is not None and version_number(entry.floor) is not None
        if not ordered and not consistent:
            self._calls.read(entry)
            return False
        return True


def _age(observation: RunObservation) -> tuple[bool, float, str, str]:
    created = observation.run.created
    run = observation.run
    return (created is None, created.timestamp() if created else 0.0, run.namespace, run.name)
