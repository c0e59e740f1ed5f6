"""The Runs that are known, and where each stands on its way to a Pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import HeldText, Pending, Write
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN, Decision, Outcome, TurnedDown
from kruntimes_core.engine.state import Claim
from kruntimes_core.engine.state.claims import RunKey
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.model.run import Run, RunObservation

Order = tuple[Any, ...]
"""The place of a Run in the queue; the smallest leaves it first."""


class Stage(Enum):
    """Where a Run stands. `docs/architecture.md` draws the ways between them."""

    IDLE = "idle"
    """Nothing to do: active, ended, being deleted, or not seen as Pending."""
    KEYING = "keying"
    """Waits for its queue key."""
    QUEUED = "queued"
    WORKING = "working"
    """A plan, or a plugin's reserve, is under way."""
    WAITING = "waiting"
    """In its class, until something changes that the answer was given from."""
    DELAYED = "delayed"
    """Until a time: retry delay or backoff."""
    BINDING = "binding"
    """Assumed; the bind waits for its turn, is under way, or is not confirmed yet."""
    ENDING = "ending"
    """A terminal status is on its way."""
    BEHIND = "behind"
    """A newer version of the Run is needed before anything else."""


@dataclass(slots=True, eq=False)
class RunEntry:
    """One known Run. Only the engine changes it."""

    observation: RunObservation
    arrival: int = 0
    since: int = 0
    """When it became Pending, or was first seen so, in ticks: for the time that a Run queues."""
    order: Order = ()
    keyed_for: tuple[object, ...] | None = None
    """What the queue key was asked for: attempt and labels."""
    stage: Stage = Stage.IDLE
    token: int = 0
    """Grows whenever the Run leaves a stage: what was begun before is void."""
    floor: str = ""
    """The newest version seen, or written by ourselves: nothing older changes state."""
    assumption: Assumption | None = None
    pending: Pending | HeldText | None = None
    """The write that waits for its turn, or for its time."""
    sent: Write | None = None
    """The write that is under way: never more than one."""
    reading: bool = False
    """A read waits for its turn or is under way (`read_sent`)."""
    read_sent: bool = False
    read_again: bool = False
    """Something happened since the read began that it may not show."""
    failures: int = 0
    refused_in: str = ""
    """The newest known version, if a write was refused in it all the same: no race, so not at once again."""
    delay_for: tuple[object, ...] | None = None
    delay_until: int = 0
    prepared: PreFilterState | None = None
    """What its waiting was answered from."""
    waits_in: object | None = None
    """The class that it waits in; `queueing` alone looks into it."""
    text: str | None = None
    """The waiting text that the Run should show."""
    decision: Decision | None = None
    turned_down: Mapping[str, TurnedDown] = NONE_TURNED_DOWN
    """Pods that a reservation was refused on in the cycle under way, with the rejection."""

    @property
    def key(self) -> RunKey:
        """(namespace, UID)."""
        run = self.observation.run
        return (run.namespace, run.uid)

    @property
    def run(self) -> Run:
        """The Run value that plugins see."""
        return self.observation.run

    @property
    def held_by_plugins(self) -> bool:
        """Whether it is in a backoff that plugins caused: other plugins, or other arguments, may end it.

        One that the API server caused goes on, whatever decides.
        """
        made = self.decision
        if self.stage is not Stage.DELAYED or made is None:
            return False
        return made.error is not None or made.outcome is Outcome.WAITING

    def leave(self) -> None:
        """Leave the stage: timers, queue entries and work begun for it are void from here on."""
        self.token += 1
        self.stage = Stage.IDLE

    def observed_claim(self) -> Claim | None:
        """What the Run holds by its own status, if it is active."""
        seen = self.observation
        if not seen.active or seen.assigned_pod is None:
            return None
        run = seen.run
        return Claim(run.namespace, seen.assigned_pod, seen.assigned_pod_uid, seen.held, run.labels)


class Runs:
    """All known Runs by namespace and UID; a name belongs to one of them at a time.

    In a table for each namespace: a pair as key would take as much again for each Run.
    """

    def __init__(self) -> None:
        self._by_uid: dict[str, dict[str, RunEntry]] = {}
        self._by_name: dict[str, dict[str, RunEntry]] = {}

    def get(self, key: RunKey) -> RunEntry | None:
        """The Run of that namespace and UID."""
        namespace, uid = key
        return self._by_uid.get(namespace, {}).get(uid)

    def named(self, namespace: str, name: str) -> RunEntry | None:
        """The Run that bears the name now."""
        return self._by_name.get(namespace, {}).get(name)

    def add(self, entry: RunEntry) -> None:
        """Add a Run."""
        run = entry.run
        self._by_uid.setdefault(run.namespace, {})[run.uid] = entry
        self._by_name.setdefault(run.namespace, {})[run.name] = entry

    def remove(self, entry: RunEntry) -> None:
        """Forget a Run; a successor of the same name stays."""
        run = entry.run
        _take_out(self._by_uid, run.namespace, run.uid, entry)
        _take_out(self._by_name, run.namespace, run.name, entry)

    def __iter__(self) -> Iterator[RunEntry]:
        return iter([entry for row in self._by_uid.values() for entry in row.values()])

    def __len__(self) -> int:
        return sum(map(len, self._by_uid.values()))


def _take_out(table: dict[str, dict[str, RunEntry]], namespace: str, key: str, entry: RunEntry) -> None:
    """Take a Run out of a table, if it is the one that stands there."""
    row = table.get(namespace, {})
    if row.get(key) is entry:
        del row[key]
        if not row:
            del table[namespace]
