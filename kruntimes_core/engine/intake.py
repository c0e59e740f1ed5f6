"""Taking in what was observed of Runs: never back in time, and each name one Run at a time."""

from __future__ import annotations

from collections.abc import Iterable

from kruntimes_core.engine.core import Core
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.ways import Ways
from kruntimes_core.model.resource_version import newer_than_list, number, older
from kruntimes_core.model.run import RunObservation


class Intake:
    """Observations of Runs."""

    def __init__(self, core: Core, ways: Ways) -> None:
        self._core = core
        self._ways = ways

    def listed(self, observations: Iterable[RunObservation], version: str, namespace: str | None) -> None:
        """A whole list: Runs that came in it together arrive in order of creation, then by name."""
        seen = set()
        for observation in sorted(observations, key=_age):
            seen.add((observation.run.namespace, observation.run.uid))
            self.observed(observation)
        for entry in self._core.runs:
            inside = namespace in (None, entry.run.namespace)
            if inside and entry.key not in seen and not newer_than_list(entry.floor, version):
                self._ways.forget(entry)

    def observed(self, observation: RunObservation, sure: bool = False) -> None:
        """One version of a Run. `sure`: read consistently, so it counts although unordered."""
        run = observation.run
        entry = self._core.runs.get((run.namespace, run.uid))
        if entry is None:
            self._first_seen(observation)
            return
        if not self._accepts(entry, observation, sure):
            return
        before, entry.observation = entry.observation, observation
        entry.floor = observation.version
        self._ways.settle(entry, before)

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """A Run was deleted; its successor of the same name is not touched by it."""
        entry = self._core.runs.get((namespace, uid)) if uid else self._core.runs.named(namespace, name)
        if entry is not None:
            self._ways.forget(entry)

    def _first_seen(self, observation: RunObservation) -> None:
        run = observation.run
        former = self._core.runs.named(run.namespace, run.name)
        if former is not None:
            if older(observation.version, former.floor):
                return
            self._ways.forget(former)
        entry = RunEntry(observation, floor=observation.version)
        self._core.runs.add(entry)
        self._ways.settle(entry, None)

    def _accepts(self, entry: RunEntry, observation: RunObservation, sure: bool) -> bool:
        """Whether an observation is newer than what is known, or read for sure."""
        if observation.version == entry.observation.version:
            return sure and observation != entry.observation
        if older(observation.version, entry.floor):
            return False
        ordered = number(observation.version) is not None and number(entry.floor) is not None
        if not ordered and not sure:
            self._core.outbox.read(entry)
            return False
        return True


def _age(observation: RunObservation) -> tuple[bool, float, str, str]:
    created = observation.run.created
    run = observation.run
    return (created is None, created.timestamp() if created else 0.0, run.namespace, run.name)
