"""What a driver may look at, between its calls of the engine."""

from __future__ import annotations

from collections import Counter

from kruntimes_core.engine.core import Core
from kruntimes_core.engine.record.journal import Journal
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.state import State
from kruntimes_core.engine.state.claims import RunKey
from kruntimes_core.engine.tally import Tally
from kruntimes_core.framework.configuration import Profiles


class View:
    """What an engine knows; looking changes nothing."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._listed: set[type] = set()
        """The kinds of lists that were seen."""

    @property
    def profiles(self) -> Profiles:
        """What it decides by now."""
        return self._core.profiles

    @property
    def state(self) -> State:
        """What is known of the cluster."""
        return self._core.state

    @property
    def journal(self) -> Journal:
        """The latest decisions."""
        return self._core.journal

    @property
    def tally(self) -> Tally:
        """What was counted."""
        return self._core.tally

    @property
    def synced(self) -> bool:
        """Whether Runs, Pods and workspaces are all known: nothing is decided before."""
        return len(self._listed) == 3

    @property
    def deciding(self) -> bool:
        """Whether it places Runs now: it leads, and everything is listed."""
        return self._core.leading

    @property
    def wake_at(self) -> int | None:
        """When `tick` is due, in ticks of the monotonic clock."""
        core = self._core
        moments = (core.timers.next, core.state.pods.next_expiry, core.outbox.next_release)
        return min((at for at in moments if at is not None), default=None)

    def find(self, namespace: str, name: str) -> RunEntry | None:
        """The Run that bears the name, with its last decision."""
        return self._core.runs.named(namespace, name)

    def knows(self, key: RunKey) -> bool:
        """Whether there is a Run of that namespace and UID."""
        return self._core.runs.get(key) is not None

    def assumed(self, namespace: str, pod_uid: str) -> Counter[str]:
        """How much of a Pod's usage, by resource, is tentative: no Run says yet that it is there."""
        return self._core.reservations.assumed(namespace, pod_uid)

    @property
    def sizes(self) -> dict[str, int]:
        """How many rows the tables have that must shrink again when Runs are gone."""
        core = self._core
        return {
            "runs": len(core.runs),
            "queue": len(core.queue),
            "keys": len(core.to_key),
            "timers": len(core.timers),
            "claims": len(core.state.claims),
            "waiting": len(core.waiting),
            "classes": len(core.waiting.classes()),
        }
