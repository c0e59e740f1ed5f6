"""The Runs in the cluster, and the stage that each has reached on its way to a Pod."""

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

# Bytes. A larger affinity is discarded when its Run is active or has ended.
_LARGE_AFFINITY = 4 * KIB

Order = tuple[Any, ...]
"""The place of a Run in the queue; the Run with the smallest leaves the queue first."""


class Stage(Enum):
    """Where a Run stands. `docs/architecture.md` says when a Run leaves each stage."""

    IDLE = "idle"
    """The Run needs no scheduling: it is active, has ended, is being deleted, or was not seen as Pending."""
    AWAITING_QUEUE_KEY = "awaiting-queue-key"
    """Waits until `queue_key` was called for it."""
    QUEUED = "queued"
    SCHEDULING = "scheduling"
    """A plan, or a plugin's reserve, is under way."""
    UNSCHEDULABLE = "unschedulable"
    """Waits in its equivalence class, until something changes that the plugins' answers depend on."""
    BACKOFF = "backoff"
    """Waits until a retry delay or a backoff ends."""
    BINDING = "binding"
    """Assumed; the bind waits for its turn, is in flight, or is not confirmed yet."""
    ENDING = "ending"
    """The write of a terminal status is queued or in flight."""
    AWAITING_READ = "awaiting-read"
    """Waits until the engine knows a newer version of the Run."""


@dataclass(slots=True, eq=False)
class Assumption:
    """A reservation: later cycles count the Run on the Pod although the bind is not confirmed yet."""

    run: Run
    pod: RuntimePod
    """The chosen Pod as it was when the Run was reserved on it."""
    pod_alone: RuntimePod
    """The Pod without usage and targets: a bind that waits is dropped if this changes."""
    profile: Profile
    prefilter_state: PreFilterState
    verdicts: Mapping[str, Verdict] | None = None
    """For the record of the decision, if a plugin is stateful."""
    guard: str = ""
    """The version of the Run that the bind requires; empty until the bind is sent."""
    bound_version: str = ""
    """The version of the Run in the answer to the bind; empty until the bind is applied."""
    outcome_unknown: bool = False
    """The bind may or may not have been applied: a read must find out."""
    repeats: int = 0
    _reserved_by: list[ActivePlugin] = field(default_factory=list)

    def reserved_by(self, plugins: Sequence[ActivePlugin]) -> None:
        """Note the plugins whose `reserve` was called, in order."""
        self._reserved_by = list(plugins)

    def take_reserved_by(self) -> list[ActivePlugin]:
        """Return the plugins whose `reserve` was called, once: each is to get one `unreserve`."""
        plugins, self._reserved_by = self._reserved_by, []
        return plugins

    def sent(self, guard: str) -> None:
        """Note that the bind was handed to the driver, guarded by this version."""
        self.guard = guard

    def applied(self, version: str) -> None:
        """Note that the bind was applied; `version` is the version of the Run in the answer."""
        self.bound_version = version
        self.outcome_unknown = False

    def lose_outcome(self) -> None:
        """Note that the answer does not show whether the bind was applied."""
        self.outcome_unknown = True

    def repeat(self) -> int:
        """Count one more repeat of the bind, and return how many there are."""
        self.repeats += 1
        return self.repeats


@dataclass(slots=True, eq=False)
class RunEntry:
    """The engine's state about one Run. Only the engine changes it, with the methods below."""

    observation: RunObservation
    floor: str = ""
    """The newest version that was seen, or written by the engine. Older versions are ignored."""
    stage: Stage = Stage.IDLE
    token: int = 0
    """Increased whenever the Run leaves a stage; results of work that began earlier are then ignored."""
    arrival: int = 0
    pending_since: int = 0
    """When the Run became Pending, or was first seen as Pending, in ticks: how long a Run queues is measured.
    """
    attempts: int = 0
    """How often the scheduler tried to place the Run since then; not `run.attempt`, which counts executions.
    """
    order: Order = ()
    keyed_for: tuple[object, ...] | None = None
    """The attempt and the labels for which the queue key was made."""
    failures: int = 0
    """The number of failures in a row, which lengthen the backoff."""
    retry_delay_of: tuple[object, ...] | None = None
    """The attempt, and when it stopped, for which `retry_delay_until` was computed."""
    retry_delay_until: int = 0
    prefilter_state: PreFilterState | None = None
    """The prefilters' state of the last plan, which found no Pod."""
    equivalence_class: object | None = None
    """The class in which the Run waits; only the scheduling queue uses it."""
    assumption: Assumption | None = None
    refused_in: str = ""
    """The newest known version, if a write was refused for it. That is no race, so the write is retried
    later.
    """
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
        """Whether the Run is in a backoff that plugins caused, and that ends when other plugins are
        configured.

        A backoff that the API server caused goes on in that case.
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

    # Observations

    def observe(self, observation: RunObservation) -> RunObservation:
        """Keep a newer version of the Run. Returns the former one."""
        before, self.observation = self.observation, observation
        self.floor = observation.version
        return before

    def raise_floor(self, version: str) -> None:
        """Ignore observations that are older than this version from now on."""
        self.floor = version

    # Stages

    def enter(self, stage: Stage) -> None:
        """Change the stage. Timers, queue entries and work of the former stage have no effect any more."""
        self.token += 1
        self.stage = stage

    # Queueing

    def arrive(self, arrival: int, now: int, order: Order) -> None:
        """Note that the Run became Pending, for the first time or again. now: in ticks."""
        self.arrival = arrival
        self.pending_since = now
        self.attempts = 0
        self.set_order(order, keyed_for=None)

    def set_order(self, order: Order, keyed_for: tuple[object, ...] | None) -> None:
        """Set the Run's place in the queue. keyed_for: see the field; None without a plugin's key."""
        self.order = order
        self.keyed_for = keyed_for

    def attempt_ended(self) -> None:
        """Count one more try to place the Run, whatever came of it."""
        self.attempts += 1

    def fail(self) -> int:
        """Count a failure. Returns the number of failures in a row."""
        self.failures += 1
        return self.failures

    def succeed(self) -> None:
        """Begin to count failures from 0 again."""
        self.failures = 0

    def set_retry_delay(self, of: tuple[object, ...], until: int) -> None:
        """Note when the retry delay of an attempt ends, in ticks."""
        self.retry_delay_of = of
        self.retry_delay_until = until

    def wait_in(self, equivalence_class: object) -> None:
        """Enter the stage UNSCHEDULABLE, in this class."""
        self.enter(Stage.UNSCHEDULABLE)
        self.equivalence_class = equivalence_class

    def stop_waiting(self) -> None:
        """Leave the class."""
        self.enter(Stage.IDLE)
        self.equivalence_class = None

    def answered_from(self, prefilter_state: PreFilterState) -> None:
        """Keep the prefilters' state of a plan that found no Pod."""
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
        """Free what is only needed to decide: nothing is decided for the Run any more.

        A decision that is kept here keeps a snapshot of the Pods in memory, which takes twice as much as the
        Run itself, and most Runs have ended. The journal keeps the latest decisions anyway.
        """
        self.waiting_text = None
        self.prefilter_state = None
        if self.decision is not None and self.decision.snapshot is not None:
            self.decision = None
        seen = self.observation
        if seen.phase is not Phase.PENDING and affinity_size(seen.run.affinity) > _LARGE_AFFINITY:
            self.observation = seen.without_affinity()

    def forget(self) -> None:
        """Keep only the identity of a Run that was deleted: old entries of queues and timers may still refer
        to it.
        """
        self.waiting_text = self.prefilter_state = self.decision = None
        self.observation = replace(self.observation, run=run_identity(self.run), conditions=())


class Runs:
    """All Runs by namespace and UID, and by name, which one Run has at a time.

    There is a table for each namespace, because pairs as keys would double the memory of the tables.
    """

    def __init__(self) -> None:
        self._by_uid: dict[str, dict[str, RunEntry]] = {}
        self._by_name: dict[str, dict[str, RunEntry]] = {}
        self._pending: Counter[str] = Counter()

    @property
    def pending_runtimes(self) -> Iterable[str]:
        """The Runtimes that have Pending Runs."""
        return self._pending.keys()

    def get(self, key: RunKey) -> RunEntry | None:
        """The Run of that namespace and UID."""
        namespace, uid = key
        return self._by_uid.get(namespace, {}).get(uid)

    def named(self, namespace: str, name: str) -> RunEntry | None:
        """The Run that has this name now."""
        return self._by_name.get(namespace, {}).get(name)

    def add(self, entry: RunEntry) -> None:
        """Add a Run."""
        run = entry.run
        self._by_uid.setdefault(run.namespace, {})[run.uid] = entry
        self._by_name.setdefault(run.namespace, {})[run.name] = entry
        self._count(entry.observation, 1)

    def observe(self, entry: RunEntry, observation: RunObservation) -> RunObservation:
        """Keep a newer version of a Run. Returns the former one."""
        before = entry.observe(observation)
        self._count(before, -1)
        self._count(observation, 1)
        return before

    def remove(self, entry: RunEntry) -> None:
        """Remove a Run; a newer Run of the same name stays."""
        run = entry.run
        _take_out(self._by_uid, run.namespace, run.uid, entry)
        _take_out(self._by_name, run.namespace, run.name, entry)
        self._count(entry.observation, -1)

    def _count(self, seen: RunObservation, number: int) -> None:
        """Update the number of Pending Runs of the Runtime, so that no one has to count all Runs."""
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
    """Remove a Run from a table, unless the table has another Run under this key."""
    row = table.get(namespace, {})
    if row.get(key) is entry:
        del row[key]
        if not row:
            del table[namespace]
