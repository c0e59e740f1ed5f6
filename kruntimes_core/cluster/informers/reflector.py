"""Reflectors: each lists and watches one resource, and lists again when only that helps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from random import Random

from kruntimes_core.cluster.client.errors import ApiFailure, FailureKind, outdated
from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.cluster.clock import Clock, RetryBackoff, TimeSlices
from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler
from kruntimes_core.cluster.informers.lister_watcher import (
    STREAM_SECONDS,
    ListerWatcher,
    ResourceList,
    WatchEvent,
)
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.metadata import older

_LIST_AGAIN_SECONDS = 60.0
"""After how long a resource that the server does not serve is listed again."""
_STEADY_TICKS = 5 * SECOND
"""A watch that was open for so long has worked: what fails next is a new failure."""
_BEHIND_SECONDS = 10.0
"""For how long a server may be behind. A server that was restored to an older state has another history: what
was seen of the former history stays wrong, even when the versions have caught up."""


class Liveness:
    """When lists and watches last worked, for health checks.

    Seconds of the event loop's time, which stands still with its timers.
    """

    def __init__(self) -> None:
        self._tried_at: float | None = None
        self._worked_at: float | None = None
        self._outdated_at: float | None = None

    def worked(self) -> None:
        """The server answered as it should."""
        self._tried_at = self._worked_at = asyncio.get_running_loop().time()

    def failed(self, *, outdated: bool) -> None:
        """A list or watch failed. outdated: because the server answered from the past."""
        self._tried_at = asyncio.get_running_loop().time()
        if outdated and self._outdated_at is None:
            self._outdated_at = self._tried_at

    def caught_up(self) -> None:
        """The server answered from the present."""
        if self.outdated_seconds < _BEHIND_SECONDS:
            self._outdated_at = None

    @property
    def tried_seconds(self) -> float:
        """Since a list or watch last worked or failed. Both have time limits, so this number stays small."""
        return _seconds_since(self._tried_at)

    @property
    def worked_seconds(self) -> float:
        """Since the server last answered as it should."""
        return _seconds_since(self._worked_at)

    @property
    def outdated_seconds(self) -> float:
        """Since the server began to answer from the past; 0 while it does not, or if it soon stopped."""
        return _seconds_since(self._outdated_at)


def _seconds_since(moment: float | None) -> float:
    """0 before the beginning."""
    return asyncio.get_running_loop().time() - moment if moment is not None else 0.0


class Reflector:
    """Lists and watches one resource. `problem` shows a failure until what failed has worked."""

    def __init__(
        self,
        *,
        transport: Transport,
        handler: ResourceEventHandler,
        clock: Clock,
        random: Random,
        log: Log,
        changed: Callable[[], None],
    ) -> None:
        """random: for jitter. changed: called whenever `following`, `relisted` or `problem` changed."""
        self.handler = handler
        self.following = False
        """Whether all is listed and a watch is open."""
        self.problem: str | None = f"{handler.title}: not listed yet"
        self.problem_without_names = "not listed yet"
        """Why it does not follow, in one line; None while it does."""
        self.relisted = True
        """Whether the resource was listed after `expect_relist`, if that was called."""
        self.heard_at: int | None = None
        """When a watch last received something, in ticks."""
        self.liveness = Liveness()
        self._clock = clock
        self._log = log
        self._changed = changed
        self._backoff = RetryBackoff(random)
        self._expiry_backoff = RetryBackoff(random)
        """Apart from the other: a server that calls a version too old is up again after an outage."""
        self._lister_watcher = ListerWatcher(transport, handler, clock, self.liveness.worked)
        self._version = ""
        self._unknown_type_logged = False

    async def run(self) -> None:
        """List and watch until cancelled; `run` may be called again then."""
        self.liveness.worked()
        while True:
            await self._list()
            await self._follow()

    def expect_relist(self) -> None:
        """What was listed may be outdated: it counts again once the next `run` has listed."""
        self.relisted = False

    # List

    async def _list(self) -> None:
        """List until one list is whole, and commit it."""
        while True:
            try:
                self._commit(await self._lister_watcher.list())
                return
            except ApiFailure as failure:
                if failure.kind is FailureKind.MISSING and self.handler.resource.optional:
                    await self._do_without()
                else:
                    await self._failed(failure)

    def _commit(self, listed: ResourceList) -> None:
        if older(listed.version, self._version):
            raise outdated("list", self.handler.title)
        self.liveness.caught_up()
        self._version = listed.version
        self.handler.on_replace(listed.observations, listed.version)
        self._log.debug("listed", resource=self.handler.title, count=len(listed.observations))

    async def _do_without(self) -> None:
        """The server does not serve the resource: there are none, until it does."""
        if not self.following:
            self.handler.on_replace((), "")
            self._log.info("not served, so there are none", resource=self.handler.title)
        self._note_following()
        await asyncio.sleep(_LIST_AGAIN_SECONDS)

    # Watch

    async def _follow(self) -> None:
        """Watch from the committed version until only a new list helps."""
        while True:
            began = self._clock.now().ticks
            try:
                heard = await self._watch_once()
            except ApiFailure as failure:
                self._note_steady(began)
                await self._failed(failure)
                if failure.kind in (FailureKind.EXPIRED, FailureKind.MISSING):
                    return
            else:
                self._note_steady(began)
                if not heard and self._clock.now().ticks - began >= STREAM_SECONDS * SECOND:
                    # A server that knows the version sends a bookmark at the end. One that was restored to
                    # an older version sends nothing until it has caught up, so the silence means: list.
                    return
                if self.handler.behind():
                    return
                await asyncio.sleep(self._backoff.next())

    async def _watch_once(self) -> bool:
        """Watch once. Returns whether the server sent anything."""
        heard, slices = False, TimeSlices(self._clock)
        async for batch in self._lister_watcher.watch(self._version):
            self._note_following()
            slices.restart(self.heard_at)
            for number, event in enumerate(batch):
                if number:
                    await slices.give_way()
                heard = True
                self._take(event)
        return heard

    def _take(self, event: WatchEvent) -> None:
        if event.type in ("ADDED", "MODIFIED"):
            self.handler.on_update(event.object)
        elif event.type == "DELETED":
            self.handler.on_delete(event.object)
        elif event.type == "BOOKMARK":
            self.handler.reached(event.version)
        else:
            self._ignore(event)
            return
        version = event.version
        if version and not older(version, self._version):
            self._version = version

    def _ignore(self, event: WatchEvent) -> None:
        """An event of an unknown type: the first one is logged."""
        if not self._unknown_type_logged:
            self._unknown_type_logged = True
            problem = "ignored watch events of an unknown type"
            self._log.warning(problem, resource=self.handler.title, type=event.type)

    # State

    def _note_following(self) -> None:
        self.liveness.worked()
        self.heard_at = self._clock.now().ticks
        if not self.following:
            self._log.info("following", resource=self.handler.title)
        if not (self.following and self.relisted):
            self.following, self.relisted, self.problem = True, True, None
            self._changed()

    def _note_steady(self, began: int) -> None:
        """Forget earlier failures if this watch was open for long enough."""
        if self._clock.now().ticks - began >= _STEADY_TICKS:
            self._backoff.reset()
            self._expiry_backoff.reset()

    async def _failed(self, failure: ApiFailure) -> None:
        """Show the failure, and wait until the next attempt."""
        self.liveness.failed(outdated=failure.kind is FailureKind.OUTDATED)
        problem = str(failure)
        if problem != self.problem:
            self._log.warning(problem)
        self.following, self.problem = False, problem
        self.problem_without_names = failure.without_names
        self._changed()
        backoff = self._expiry_backoff if failure.kind is FailureKind.EXPIRED else self._backoff
        await asyncio.sleep(backoff.next(failure.retry_after))


Spawn = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]


class Informers:
    """Starts the reflectors, lets them list again, and stops them."""

    def __init__(self, reflectors: Sequence[Reflector]) -> None:
        self._reflectors = reflectors
        self._spawn: Spawn = asyncio.create_task
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def synced(self) -> bool:
        """Whether all is followed, and was listed since `relist` was last called."""
        return all(one.following and one.relisted for one in self._reflectors)

    @property
    def problem(self) -> str:
        """Why something is not followed, in one line; empty if all is."""
        return next((one.problem for one in self._reflectors if one.problem is not None), "")

    def start(self, spawn: Spawn) -> None:
        """List and watch. spawn: takes care of tasks that end with a defect."""
        self._spawn = spawn
        self._tasks = [spawn(one.run()) for one in self._reflectors]

    def relist(self) -> None:
        """List everything now, by lists that begin after this moment.

        The watches end first, so nothing newer than the list is known when it is taken in.
        """
        if not self._tasks:
            return
        self.stop()
        for one in self._reflectors:
            one.expect_relist()
        self.start(self._spawn)

    def stop(self) -> None:
        """List and watch nothing any more."""
        for task in self._tasks:
            task.cancel()
        self._tasks = []
