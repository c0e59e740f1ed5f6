"""A scheduler in virtual time: the engine, its watches and its API calls, all in one thread."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler, resource_event_handlers
from kruntimes_core.engine.api_calls import (
    OutcomeUnknown,
    Read,
    ReadAnswer,
    Refused,
    Request,
    Write,
    WriteAnswer,
)
from kruntimes_core.engine.clock import SECOND, Now, ticks
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.events import Event
from kruntimes_core.engine.plugin_work import BatchRetryWork, Runners, Work, WorkResult
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.apiserver.storage import Change
from kruntimes_core.model.snapshot import Pods
from kruntimes_core.testing.builders import NAMESPACE, RUNTIME
from kruntimes_core.testing.harness.cluster import SimulatedCluster
from kruntimes_core.testing.harness.object_tracker import (
    PLURALS,
    PODS,
    RUNS,
    WORKSPACES,
    Listing,
    ObjectTracker,
)

_BEAT_SECONDS = 5.0
_KINDS = (PODS, WORKSPACES, RUNS)
WriteFault = Callable[["Host", Write], WriteAnswer | None]
"""Decides what happens to a write: returns its answer, or None if the answer comes later."""
ReadFault = Callable[["Host", Read], ReadAnswer | None]
"""The same for a read."""


@dataclass(slots=True)
class _Cursor:
    """The position of one watch, which uses the scheduler's own event handlers."""

    handler: ResourceEventHandler
    version: int = 0
    """All changes up to this version were fetched."""
    fetched: deque[Change] = field(default_factory=deque)
    held: bool = False
    upto: int = 0
    """While the watch is held: the version up to which changes are still delivered."""


class Watches:
    """Delivers the changes of each kind in order. A test can hold kinds back, and deliver their changes
    later.
    """

    def __init__(self, server: ObjectTracker, handle: Callable[[Event], None]) -> None:
        """handle: called with each event."""
        self._server = server
        handlers = resource_event_handlers(server.decoder, None, handle)
        by_plural = {handler.resource.plural: handler for handler in handlers}
        self._cursors = {kind: _Cursor(by_plural[plural]) for kind, plural in PLURALS.items()}

    def hold(self, *kinds: str) -> None:
        """Hold back all changes of these kinds from now on."""
        for kind in kinds:
            self._cursors[kind].held = True
            self._cursors[kind].upto = self._server.api.store.version

    def resume(self, *kinds: str) -> None:
        """Deliver changes of these kinds again, beginning with those that were held back."""
        for kind in kinds:
            self._cursors[kind].held = False

    def let_through(self, kind: str, upto: int) -> None:
        """While a kind is held back, deliver its changes up to a version."""
        self._cursors[kind].upto = max(self._cursors[kind].upto, upto)

    def relist(self, kind: str, listing: Listing) -> None:
        """Deliver a list, and drop changes that were not delivered yet."""
        self.skip(kind)
        handler = self._cursors[kind].handler
        found = (handler.decode(obj) for obj in listing.objects)
        handler.on_replace(tuple(one for one in found if one is not None), listing.version)

    def skip(self, kind: str) -> None:
        """Drop changes that were not delivered yet, as after a list."""
        cursor = self._cursors[kind]
        cursor.fetched.clear()
        cursor.version = cursor.upto = self._server.api.store.version

    def step(self) -> bool:
        """Deliver the next change that is not held back; False if there is none."""
        return any(self._next(kind, cursor) for kind, cursor in self._cursors.items())

    def _next(self, kind: str, cursor: _Cursor) -> bool:
        if not cursor.fetched:
            cursor.fetched.extend(self._server.changes(kind, cursor.version))
            cursor.version = self._server.api.store.version
        if not cursor.fetched or (cursor.held and cursor.fetched[0].version > cursor.upto):
            return False
        change = cursor.fetched.popleft()
        obj = self._server.told(change)
        if change.after is None:
            cursor.handler.on_delete(obj)
        else:
            cursor.handler.on_update(obj)
        return True


class Host(SimulatedCluster):
    """Drives one `Engine`. Nothing happens until `settle`, `advance` or one of the single steps.

    Every Pod made by `pod` gets a heartbeat every 5 s of virtual time, until `silence`.
    """

    def __init__(
        self,
        profiles: Profiles,
        *,
        reuse: bool = True,
        settings: Settings | None = None,
        server: ObjectTracker | None = None,
        leading: bool = True,
    ) -> None:
        """reuse: see `Runner`. server: may be shared with another host; None for a new one.

        leading: whether to list all kinds and lead from the beginning.
        """
        super().__init__(server or ObjectTracker())
        self.transport: WriteFault = apply
        """What happens to each write for which `disturb` sets no fault."""
        self.read_faults: deque[ReadFault] = deque()
        """What happens to the next reads, one fault each."""
        self.held: dict[str, tuple[Write, WriteAnswer | None]] = {}
        """Writes that are held, by Run UID, with the answer if the server gave one."""
        self.requests: list[Request] = []
        """All that was handed to the transport."""
        self.works: Counter[str] = Counter()
        """How often each kind of work was done."""
        self.watches = Watches(self.server, self.tell)
        self._write_faults: defaultdict[str, deque[WriteFault]] = defaultdict(deque)
        self._ticks = 0
        self._timers: list[tuple[int, int, Callable[[], object]]] = []
        """Actions sorted by their time in ticks; those with equal times in the order in which they were set.
        """
        self._timers_set = 0
        self._runners = Runners(reuse)
        self.engine = Engine(profiles, settings or Settings(), self.now)
        self.later(_BEAT_SECONDS, self._beat)
        if leading:
            self.relist(*_KINDS)
            self.engine.lead(self.now)

    # Time

    @property
    def now(self) -> Now:
        """The two clocks of the host."""
        return Now(self._wall, self._ticks)

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something after some virtual time."""
        self._timers_set += 1
        heapq.heappush(self._timers, (self._ticks + ticks(seconds), self._timers_set, action))

    def advance(self, seconds: float) -> None:
        """Let time pass. Every timer, heartbeat and late answer comes at its time."""
        self.settle()
        end = self._ticks + ticks(seconds)
        while (due := self._next_moment()) is not None and due <= end:
            self._pass_to(due)
            while self._timers and self._timers[0][0] <= due:
                heapq.heappop(self._timers)[2]()
            self.settle()
        self._pass_to(end)
        self.settle()

    def pass_time(self, seconds: float, tick: bool = True) -> None:
        """Let time pass in one step, and do all that became due at its end.

        tick: False if the host's timer is late, so that nothing is done yet.
        """
        self._pass_to(self._ticks + ticks(seconds), tick)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back, but not the monotonic clock."""
        self._wall += timedelta(seconds=seconds)

    # Steps

    def settle(self) -> None:
        """Go on until there is nothing more to observe, to plan or to send at this time."""
        while self.step():
            pass

    def step(self) -> bool:
        """Deliver one change, do one piece of work, or send one request; False if there is nothing to do."""
        # A request that is no longer wanted is dropped when its turn comes, and that may cause new work.
        return self.watches.step() or self._work_once() or self.send() or self._work_once()

    def observe(self) -> None:
        """Deliver all changes that are not held back, without doing any work."""
        while self.watches.step():
            pass

    def tell(self, event: Event) -> None:
        """Give the engine an event."""
        self.engine.handle(event, self.now)

    def relist(self, *kinds: str, listing: Listing | None = None) -> None:
        """List these kinds, and watch from there. listing: the answer, if it is not to be the true one."""
        for kind in kinds:
            self.watches.relist(kind, listing or self.server.list(kind))

    def take(self) -> Work:
        """Take one piece of work; raises if there is none."""
        work = self.engine.take(self.now)
        if work is None:
            raise AssertionError("there is no work")
        return work

    def finish(self, work: Work) -> None:
        """Do a piece of work, and give the engine its result."""
        result: WorkResult = work.execute(self._runners)
        if isinstance(work, BatchRetryWork):
            # A plan for the first Run of each class that was reached.
            self.works["PlanWork"] += len(result)
        else:
            self.works[type(work).__name__] += 1
        self.engine.finish(work, result, self.now)

    def work(self) -> None:
        """Do all work, but send no request."""
        while self._work_once():
            pass

    def send(self) -> bool:
        """Send the next request; False if there is none."""
        request = self.engine.next_request(self.now)
        if request is None:
            return False
        self.requests.append(request)
        if isinstance(request, Read):
            self._read(request)
        else:
            faults = self._write_faults[request.name]
            answer = (faults.popleft() if faults else self.transport)(self, request)
            if answer is not None:
                self.answer(request, answer)
        return True

    # Trouble

    def disturb(self, name: str, *faults: WriteFault) -> None:
        """Set faults for the next writes for Runs of this name, one fault for each write."""
        self._write_faults[name].extend(faults)

    def calm(self) -> None:
        """Remove all faults that have not happened yet."""
        self._write_faults.clear()
        self.read_faults.clear()

    def answer(self, write: Write, answer: WriteAnswer) -> None:
        """Give the engine the answer to a write."""
        self.engine.written(write, answer, self.now)

    def release(self, name: str, answer: WriteAnswer | None = None, namespace: str = NAMESPACE) -> None:
        """Release a held write of a Run: send it to the server, or deliver its answer.

        answer: the answer that the client gets; by default that of the server.
        """
        uid = next(
            uid for uid, (write, _) in self.held.items() if (write.namespace, write.name) == (namespace, name)
        )
        write, said = self.held.pop(uid)
        said = said or apply(self, write)
        self.answer(write, answer or said)

    # What was done, sent and written, and what the engine knows

    @property
    def cycles(self) -> int:
        """The number of plans so far."""
        return self.works["PlanWork"]

    def writes(self, name: str) -> list[Write]:
        """The writes for the Runs of a name that were handed to the transport."""
        return [one for one in self.requests if isinstance(one, Write) and one.name == name]

    def reads(self, name: str) -> int:
        """How many reads of the Runs of a name were handed to the transport."""
        return sum(1 for one in self.requests if isinstance(one, Read) and one.name == name)

    def texts(self, name: str) -> list[str]:
        """The waiting texts that were written for a Run, in order."""
        return [
            write.body["status"]["message"]
            for write in self.server.accepted
            if write.name == name and write.body["status"]["phase"] == "Pending"
        ]

    def pods(self, namespace: str = NAMESPACE, runtime: str = RUNTIME) -> Pods:
        """The Pods of a Runtime in the engine's cache, with their usage."""
        return self.engine.cache.snapshot(namespace, runtime, self._wall).pods

    def usage(self, name: str = "py-0") -> dict[str, int]:
        """The usage of a Pod in the engine's cache."""
        return dict(self.pods()[name].usage)

    @property
    def wakeups(self) -> dict[WakeupSource, int]:
        """How many wakeups were counted, by source."""
        return {source: number for source, number in self.engine.counters.wakeups.items() if number}

    # Inside

    def _work_once(self) -> bool:
        work = self.engine.take(self.now)
        if work is not None:
            self.finish(work)
        return work is not None

    def _read(self, request: Read) -> None:
        if self.read_faults:
            answer = self.read_faults.popleft()(self, request)
        else:
            answer = self.server.read(request.namespace, request.name)
        if answer is not None:
            self.engine.read(request, answer, self.now)

    def _next_moment(self) -> int | None:
        next_timer = self._timers[0][0] if self._timers else None
        due = [at for at in (self.engine.wake_at, next_timer) if at is not None]
        return max(min(due), self._ticks) if due else None

    def _pass_to(self, moment: int, tick: bool = True) -> None:
        self._wall += timedelta(seconds=(moment - self._ticks) / SECOND)
        self._ticks = moment
        wake_at = self.engine.wake_at
        if tick and wake_at is not None and wake_at <= moment:
            self.engine.tick(self.now)

    def _beat(self) -> None:
        self.beat_all()
        self.later(_BEAT_SECONDS, self._beat)


# What may become of a write


def apply(host: Host, write: Write) -> WriteAnswer:
    """No fault: the server applies the write, or refuses it for a reason of its own."""
    return host.server.patch_status(write)


def lose_answer(host: Host, write: Write) -> WriteAnswer:
    """The server applies the write, and then the connection breaks."""
    host.server.patch_status(write)
    return OutcomeUnknown()


def lose_request(host: Host, write: Write) -> WriteAnswer:
    """The write never reaches the server, but the client cannot know that."""
    return OutcomeUnknown()


def refuse(status: int, retry_after: float | None = None) -> WriteFault:
    """The server refuses the write with a 4xx `status`; retry_after: seconds."""
    return lambda host, write: Refused(status, retry_after)


def hold_request(host: Host, write: Write) -> None:
    """The write is held before the server until `Host.release`."""
    host.held[write.uid] = (write, None)


def hold_answer(host: Host, write: Write) -> None:
    """The server applies the write; its answer is held until `Host.release`."""
    host.held[write.uid] = (write, host.server.patch_status(write))


def arrive_late(seconds: float) -> WriteFault:
    """The write reaches the server after some time, and is then answered."""

    def fault(host: Host, write: Write) -> None:
        host.later(seconds, lambda: host.answer(write, apply(host, write)))

    return fault


def answer_late(seconds: float) -> WriteFault:
    """The server applies the write at once, but the answer comes after some time."""

    def fault(host: Host, write: Write) -> None:
        answer = apply(host, write)
        host.later(seconds, lambda: host.answer(write, answer))

    return fault


def land_late(seconds: float) -> WriteFault:
    """The client gives up at once (outcome unknown); the write reaches the server after some time."""

    def fault(host: Host, write: Write) -> WriteAnswer:
        host.later(seconds, lambda: host.server.patch_status(write))
        return OutcomeUnknown()

    return fault
