"""Runs that hold room and cannot be read completely are named in the log, once each.

Such a Run counts with what could be read of it. A phase of a later API version counts as active while the Run
has a Pod. Both may keep room from other Runs, and nothing else shows why.
"""

from __future__ import annotations

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine import events
from kruntimes_core.model.run import Phase, RunObservation

_NAMED = 100
"""The most Runs that are named at a time. One cause, such as a newer API version, may concern all Runs."""

_LONGEST_PATH = 200
"""A path has names in it that users wrote."""


class UnreadableRuns:
    """Takes the events of lists and watches. A Run that can be read costs two comparisons."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._named: dict[tuple[str, str], str] = {}
        """What was said of each Run, by namespace and name."""
        self._full = False

    def after(self, event: events.Event) -> None:
        """Name the Runs of an event that cannot be read, and forget those that are gone or can be."""
        match event:
            case events.RunObserved(seen):
                self._look(seen)
            case events.RunsListed():
                self._forget_unlisted(event)
                for seen in event.observations:
                    self._look(seen)
            case events.RunGone():
                self._forget((event.namespace, event.name))

    def _look(self, seen: RunObservation) -> None:
        if seen.phase is not Phase.UNKNOWN and (seen.invalid is None or not seen.active):
            if self._named:
                self._forget((seen.run.namespace, seen.run.name))
            return
        key = (seen.run.namespace, seen.run.name)
        problem = _problem(seen)
        if self._named.get(key) == problem:
            return
        if key not in self._named and len(self._named) >= _NAMED:
            if not self._full:
                self._full = True
                self._log.warning("more runs cannot be read, and are not named", named=_NAMED)
            return
        self._named[key] = problem
        self._log.warning("a run cannot be read completely", run="/".join(key), problem=problem)

    def _forget_unlisted(self, event: events.RunsListed) -> None:
        if self._named:
            listed = {(seen.run.namespace, seen.run.name) for seen in event.observations}
            for key in [key for key in self._named if event.namespace in (None, key[0])]:
                if key not in listed:
                    self._forget(key)

    def _forget(self, key: tuple[str, str]) -> None:
        self._named.pop(key, None)
        if not self._named:
            self._full = False


def _problem(seen: RunObservation) -> str:
    if seen.invalid is not None and seen.active:
        return f"{seen.invalid.reason}: {seen.invalid.path[:_LONGEST_PATH]}"
    return "its phase is not one that this version knows"
