"""A scheduler host in virtual time: the engine, a worker, a watch and a transport, all in one thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from kruntimes_core.engine.api_calls import Read, Write, WriteAnswer
from kruntimes_core.engine.clock import SECOND, Now, ticks
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.events import Event
from kruntimes_core.engine.plugin_work import BatchRetryWork, Runners, Work, WorkResult
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness.agenda import Agenda
from kruntimes_core.testing.harness.api_server import PODS, RUNS, WORKSPACES, ApiServer, Listing
from kruntimes_core.testing.harness.faults import apply
from kruntimes_core.testing.harness.troubled import Troubled
from kruntimes_core.testing.harness.watch import Watches, listed

_BEAT_SECONDS = 5.0
_KINDS = (PODS, WORKSPACES, RUNS)


class Host(Troubled):
    """Drives one `Engine`. Nothing happens until `settle`, `advance` or one of the single steps.

    Every Pod made by `pod` gets a heartbeat each 5 s of virtual time, until `silence`.
    """

    def __init__(
        self,
        profiles: Profiles,
        *,
        reuse: bool = True,
        settings: Settings | None = None,
        server: ApiServer | None = None,
        leading: bool = True,
    ) -> None:
        """reuse: see `Runner`. server: shared with another host, or a fresh one.

        leading: list everything and lead from the beginning.
        """
        super().__init__(server or ApiServer())
        self.watches = Watches(self.server)
        self._ticks = 0
        self._agenda = Agenda()
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
        self._agenda.at(self._ticks + ticks(seconds), action)

    def advance(self, seconds: float) -> None:
        """Let time pass: every timer, heartbeat and late answer comes at its moment."""
        self.settle()
        end = self._ticks + ticks(seconds)
        while (due := self._next_moment()) is not None and due <= end:
            self._pass_to(due)
            for action in self._agenda.due(due):
                action()
            self.settle()
        self._pass_to(end)
        self.settle()

    def pass_time(self, seconds: float, tick: bool = True) -> None:
        """Let time pass at once, as if nobody was there: what is due is done at the end of it.

        tick: False for a host whose timer is late, so that not even that is done yet.
        """
        self._pass_to(self._ticks + ticks(seconds), tick)

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward or back; the monotonic clock does not notice."""
        self._wall += timedelta(seconds=seconds)

    # Steps

    def settle(self) -> None:
        """Go on until nothing is left to observe, to try or to send at this moment."""
        while self.step():
            pass

    def observe(self) -> None:
        """See all events that come through, and do nothing about them."""
        while (event := self.watches.next()) is not None:
            self.engine.handle(event, self.now)

    def tell(self, event: Event) -> None:
        """Tell the engine an event that did not come from the server."""
        self.engine.handle(event, self.now)

    def relist(self, *kinds: str, listing: Listing | None = None) -> None:
        """List whole kinds and go on from there; listing: what the server answers, if not the truth."""
        for kind in kinds:
            self.watches.skip(kind)
            self.tell(listed(self.server.decoder, kind, listing or self.server.list(kind)))

    def take(self) -> Work:
        """Take one piece of work; raises if there is none."""
        work = self.engine.take(self.now)
        if work is None:
            raise AssertionError("there is no work")
        return work

    def finish(self, work: Work) -> None:
        """Do a piece of work and hand back what came of it."""
        result: WorkResult = work.execute(self._runners)
        if isinstance(work, BatchRetryWork):
            # A plan for the first Run of each class that was reached.
            self.works["PlanWork"] += len(result)
        else:
            self.works[type(work).__name__] += 1
        self.engine.finish(work, result, self.now)

    def work(self) -> None:
        """Do all work, and send nothing."""
        while self._work_once():
            pass

    def send(self) -> bool:
        """Hand the next request to the transport; False when there is none."""
        request = self.engine.next_request(self.now)
        if request is None:
            return False
        self.requests.append(request)
        if isinstance(request, Read):
            self._read(request)
        else:
            answer = self._fault_of(request)(self, request)
            if answer is not None:
                self.answer(request, answer)
        return True

    def answer(self, write: Write, answer: WriteAnswer) -> None:
        """Tell the engine what came of a write."""
        self.engine.written(write, answer, self.now)

    def release(self, name: str, answer: WriteAnswer | None = None, namespace: str = NAMESPACE) -> None:
        """Let a held write of a Run go on: to the server, or back with its answer.

        answer: what the client gets to know; what the server said unless given.
        """
        write, said = self._let_go(name, namespace)
        said = said or apply(self, write)
        self.answer(write, answer or said)

    def step(self) -> bool:
        """See one event, or do one piece of work, or send one request; False when nothing is left."""
        if (event := self.watches.next()) is not None:
            self.engine.handle(event, self.now)
            return True
        # A request that is not due any more is dropped when its turn comes, and that may be work again.
        if self._work_once() or self.send():
            return True
        return self._work_once()

    # Inside

    def _work_once(self) -> bool:
        work = self.engine.take(self.now)
        if work is not None:
            self.finish(work)
        return work is not None

    def _read(self, request: Read) -> None:
        answer = self._read_fault()(self, request)
        if answer is not None:
            self.engine.read(request, answer, self.now)

    def _next_moment(self) -> int | None:
        due = [at for at in (self.engine.wake_at, self._agenda.next) if at is not None]
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
