"""The Runs that are known, and the stage that each has reached on its way to a Pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from kruntimes_core.engine.cache import Allocation, RunKey
from kruntimes_core.engine.decisions import Decision, Journal, Outcome
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import PreFilterState, Verdict
from kruntimes_core.model.bounded import KIB
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Phase, Run, RunObservation, run_identity
from kruntimes_core.model.selectors import affinity_size

# Bytes. A larger affinity is forgotten while its Run is active or has ended.
_LARGE_AFFINITY = 4 * KIB

Order = tuple[Any, ...]
"""The place of a Run in the queue; the smallest leaves it first."""


class Stage(Enum):
    """Where a Run stands. `docs/architecture.md` draws the ways between the stages."""

    IDLE = "idle"
    """Nothing to do: active, ended, being deleted, or not seen as Pending."""
    AWAITING_QUEUE_KEY = "awaiting-queue-key"
    """Waits until `queue_key` was called for it."""
    QUEUED = "queued"
    SCHEDULING = "scheduling"
    """A plan, or a plugin's reserve, is under way."""
    UNSCHEDULABLE = "unschedulable"
    """In its equivalence class, until something changes that the answer was given from."""
    BACKOFF = "backoff"
    """Until a time: retry delay or backoff."""
    BINDING = "binding"
    """Assumed; the bind waits for its turn, is in flight, or is not confirmed yet."""
    ENDING = "ending"
    """A terminal status is on its way."""
    AWAITING_READ = "awaiting-read"
    """A newer version of the Run is needed before anything else."""


@dataclass(slots=True, eq=False)
class Assumption:
    """One tentative assignment, as later cycles see it before its bind is confirmed."""

    run: Run
    pod: RuntimePod
    """The chosen Pod as it was when the Run was reserved on it."""
    pod_alone: RuntimePod
    """The Pod without what it carries: a bind that waits is dropped if this changes."""
    profile: Profile
    prefilter_state: PreFilterState
    verdicts: Mapping[str, Verdict] | None = None
    """For the record, where a plugin is stateful."""
    guard: str = ""
    """The version that the bind was sent with; empty until then."""
    bound_version: str = ""
    """The version of the bind's answer; empty until it is applied."""
    outcome_unknown: bool = False
    """The bind may have been applied: only a read tells."""
    repeats: int = 0
    _reserved_by: list[ActivePlugin] = field(default_factory=list)

    def reserved_by(self, plugins: Sequence[ActivePlugin]) -> None:
        """Note the plugins whose `reserve` was called, in order."""
        self._reserved_by = list(plugins)

    def take_reserved_by(self) -> list[ActivePlugin]:
        """The plugins whose `reserve` was called; from here on none: each gets one `unreserve`."""
        plugins, self._reserved_by = self._reserved_by, []
        return plugins

    def sent(self, guard: str) -> None:
        """The bind is handed to the driver, guarded by this version."""
        self.guard = guard

    def applied(self, version: str) -> None:
        """The bind was applied; `version` is that of its answer."""
        self.bound_version = version
        self.outcome_unknown = False

    def lose_outcome(self) -> None:
        """The answer does not tell whether the bind was applied."""
        self.outcome_unknown = True

    def repeat(self) -> int:
        """Count one more repeat of the bind, and return how many there are."""
        self.repeats += 1
        return self.repeats


@dataclass(slots=True, eq=False)
class RunEntry:
    """One known Run. Only the engine changes it, by the methods below."""

    observation: RunObservation
    floor: str = ""
    """The newest version seen, or written by the engine: nothing older changes state."""
    stage: Stage = Stage.IDLE
    token: int = 0
    """Grows whenever the Run leaves a stage: what was begun before is void."""
    arrival: int = 0
    pending_since: int = 0
    """When it became Pending, or was first seen so, in ticks: for the time that a Run queues."""
    order: Order = ()
    keyed_for: tuple[object, ...] | None = None
    """What the queue key was made for: attempt and labels."""
    failures: int = 0
    """In a row; they lengthen the backoff."""
    retry_delay_of: tuple[object, ...] | None = None
    """Which attempt, stopped when, `retry_delay_until` was computed for."""
    retry_delay_until: int = 0
    prefilter_state: PreFilterState | None = None
    """What the answer that holds the Run back was given from."""
    equivalence_class: object | None = None
    """The class that it waits in; only the scheduling queue looks into it."""
    assumption: Assumption | None = None
    refused_in: str = ""
    """The newest known version, if a write was refused in it: that is not a race, so it is retried later."""
    waiting_text: str | None = None
    """The text that the Run should show while it waits."""
    decision: Decision | None = None

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

        A backoff that the API server caused goes on under other plugins, too.
        """
        made = self.decision
        if self.stage is not Stage.BACKOFF or made is None:
            return False
        return made.error is not None or made.outcome is Outcome.WAITING

    def allocation(self) -> Allocation | None:
        """What the Run holds by its own status, if it is active."""
        seen = self.observation
        if not seen.active or seen.assigned_pod is None:
            return None
        run = seen.run
        return Allocation(run.namespace, seen.assigned_pod, seen.assigned_pod_uid, seen.held, run.labels)

    # What is known of the Run

    def observe(self, observation: RunObservation) -> RunObservation:
        """Take in a version of the Run. Returns what was known before."""
        before, self.observation = self.observation, observation
        self.floor = observation.version
        return before

    def raise_floor(self, version: str) -> None:
        """Take nothing in any more that is older than this version."""
        self.floor = version

    # Stages

    def enter(self, stage: Stage) -> None:
        """Go on to a stage: timers, queue entries and work begun for the former one are void."""
        self.token += 1
        self.stage = stage

    # Queueing

    def arrive(self, arrival: int, now: int, order: Order) -> None:
        """The Run is Pending for the first time, or again. now: in ticks."""
        self.arrival = arrival
        self.pending_since = now
        self.set_order(order, keyed_for=None)

    def set_order(self, order: Order, keyed_for: tuple[object, ...] | None) -> None:
        """Give the Run its place in the queue. keyed_for: what a plugin's key was made for, if one was."""
        self.order = order
        self.keyed_for = keyed_for

    def fail(self) -> int:
        """Count a failure. Returns how many there were in a row."""
        self.failures += 1
        return self.failures

    def succeed(self) -> None:
        """End the row of failures."""
        self.failures = 0

    def set_retry_delay(self, of: tuple[object, ...], until: int) -> None:
        """Keep when the retry delay of an attempt ends, in ticks."""
        self.retry_delay_of = of
        self.retry_delay_until = until

    def wait_in(self, equivalence_class: object) -> None:
        """Wait in a class, until something changes."""
        self.enter(Stage.UNSCHEDULABLE)
        self.equivalence_class = equivalence_class

    def stop_waiting(self) -> None:
        """Leave the class."""
        self.enter(Stage.IDLE)
        self.equivalence_class = None

    def answered_from(self, prefilter_state: PreFilterState) -> None:
        """Keep what the answer that holds the Run back was given from."""
        self.prefilter_state = prefilter_state

    # Deciding

    def assume(self, assumption: Assumption | None) -> None:
        """Begin an assumption, or end it (None)."""
        self.assumption = assumption

    def refuse_in(self, version: str) -> None:
        """Note that a write was refused in the newest known version."""
        self.refused_in = version

    def decide(self, decision: Decision, journal: Journal) -> None:
        """Keep the last decision, and record it."""
        former, self.decision = self.decision, decision
        journal.note(former, decision)

    def show(self, waiting_text: str) -> None:
        """Set the text that the Run should show while it waits."""
        self.waiting_text = waiting_text

    def stop(self) -> None:
        """Nothing is to be decided for the Run any more.

        The journal has the latest decisions. One that is kept here keeps a snapshot of the Pods alive: twice
        what the Run takes, and most Runs that are known were placed and have ended.
        """
        self.waiting_text = None
        self.prefilter_state = None
        if self.decision is not None and self.decision.snapshot is not None:
            self.decision = None
        seen = self.observation
        if seen.phase is not Phase.PENDING and affinity_size(seen.run.affinity) > _LARGE_AFFINITY:
            self.observation = seen.without_affinity()

    def forget(self) -> None:
        """The Run does not exist any more: void entries of queues and timers hold its name alone."""
        self.waiting_text = self.prefilter_state = self.decision = None
        self.observation = replace(self.observation, run=run_identity(self.run), conditions=())


class Runs:
    """All known Runs by namespace and UID; a name belongs to one of them at a time.

    In a table for each namespace: a pair as key would take as much again for each Run.
    """

    def __init__(self) -> None:
        self._by_uid: dict[str, dict[str, RunEntry]] = {}
        self._by_name: dict[str, dict[str, RunEntry]] = {}
        self._pending: Counter[str] = Counter()

    @property
    def pending_runtimes(self) -> Iterable[str]:
        """The Runtimes with Runs that are to be placed."""
        return self._pending.keys()

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
        self._count(entry.observation, 1)

    def observe(self, entry: RunEntry, observation: RunObservation) -> RunObservation:
        """Take in a version of a known Run. Returns what was known before."""
        before = entry.observe(observation)
        self._count(before, -1)
        self._count(observation, 1)
        return before

    def remove(self, entry: RunEntry) -> None:
        """Forget a Run; a successor of the same name stays."""
        run = entry.run
        _take_out(self._by_uid, run.namespace, run.uid, entry)
        _take_out(self._by_name, run.namespace, run.name, entry)
        self._count(entry.observation, -1)

    def _count(self, seen: RunObservation, number: int) -> None:
        """Keep how many Runs of each Runtime are to be placed, without a look at all of them."""
        if seen.phase is not Phase.PENDING or seen.deleting:
            return
        self._pending[seen.run.runtime] += number
        if not self._pending[seen.run.runtime]:
            del self._pending[seen.run.runtime]

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
