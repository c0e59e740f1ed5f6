"""Keeps the engine's picture of one resource true: list, watch, and again, for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from kruntimes_core.cluster.backoff import RetryBackoff
from kruntimes_core.cluster.client.errors import ApiFailure, FailureKind, outdated
from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.cluster.clock import Clock, TimeSlices
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.watching.feed import Feed
from kruntimes_core.cluster.watching.listing import Listed, Listing
from kruntimes_core.cluster.watching.pulse import Pulse
from kruntimes_core.cluster.watching.watch import STREAM_SECONDS, Watch, WatchEvent
from kruntimes_core.engine import events
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.resource_version import older

_ASK_AGAIN_SECONDS = 60.0
"""How often a resource is looked for that the server does not serve."""
_STEADY_TICKS = 5 * SECOND
"""A watch that stood so long has worked: what fails next is a new failure."""


class Reflector:
    """Follows one feed. `run` never returns; what fails is tried again, and shown until it works."""

    def __init__(
        self,
        *,
        transport: Transport,
        feed: Feed,
        clock: Clock,
        random: Random,
        log: Log,
        tell: Callable[[events.Event], None],
        changed: Callable[[], None],
    ) -> None:
        """tell: takes each event at once. changed: asked whenever `following` or `problem` changed."""
        self.feed = feed
        self.following = False
        """Whether all is listed and a watch is open: what is known is true, but for a moment."""
        self.problem: str | None = f"{feed.title}: not listed yet"
        """Why it does not follow, in one line; None while it does."""
        self.fresh = True
        """Whether what it follows was listed after `begin_anew`, if that was called."""
        self.heard_at: int | None = None
        """When the server was last heard on a watch, in ticks."""
        self.pulse = Pulse()
        """Whether anything comes of all this."""
        self._clock = clock
        self._log = log
        self._tell = tell
        self._changed = changed
        self._pauses = RetryBackoff(random)
        self._expiries = RetryBackoff(random)
        """Of their own: a server that says that a version is too old is there again after an outage."""
        self._listing = Listing(transport, feed, clock, self.pulse.worked)
        self._watch = Watch(transport, feed, clock)
        self._version = ""
        self._strange: set[str] = set()

    async def run(self) -> None:
        """List and watch until cancelled. It may be called again then."""
        self.pulse.worked()
        while True:
            await self._list()
            await self._follow()

    def begin_anew(self) -> None:
        """What was listed may be outdated: it counts again once the next `run` has listed."""
        self.fresh = False

    # List

    async def _list(self) -> None:
        """List until one list is whole, and commit it."""
        while True:
            try:
                self._commit(await self._listing.fetch())
                return
            except ApiFailure as failure:
                if failure.kind is FailureKind.MISSING and self.feed.resource.optional:
                    await self._do_without()
                else:
                    await self._failed(failure)

    def _commit(self, listed: Listed) -> None:
        if older(listed.version, self._version):
            raise outdated("list", self.feed.title)
        self.pulse.caught_up()
        self._version = listed.version
        self._tell(self.feed.whole(listed.observations, listed.version))
        self._log.debug("listed", resource=self.feed.title, count=len(listed.observations))

    async def _do_without(self) -> None:
        """The server does not serve the resource: there are none, until it does."""
        if not self.following:
            self._tell(self.feed.whole((), ""))
            self._log.info("not served, so there are none", resource=self.feed.title)
        self._opened()
        await asyncio.sleep(_ASK_AGAIN_SECONDS)

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
                    # A server that knows the version says goodbye with a bookmark. One that was restored
                    # to an older one says nothing until it has caught up, and would not be missed.
                    return
                await asyncio.sleep(self._pauses.next())

    async def _watch_once(self) -> bool:
        """Whether the server said anything."""
        heard, slices = False, TimeSlices(self._clock)
        async for batch in self._watch.events(self._version):
            self._opened()
            slices.restart(self.heard_at)
            for number, event in enumerate(batch):
                if number:
                    await slices.give_way()
                heard = True
                self._take(event)
        return heard

    def _take(self, event: WatchEvent) -> None:
        if event.type in ("ADDED", "MODIFIED"):
            self._tell(self.feed.changed(event.object))
        elif event.type == "DELETED":
            self._tell(self.feed.deleted(event.object))
        elif event.type != "BOOKMARK":
            self._stranger(event.type)
            return
        version = event.version
        if version and not older(version, self._version):
            self._version = version

    def _stranger(self, kind: str) -> None:
        if not self._strange:
            self._log.warning("ignored watch events of an unknown type", resource=self.feed.title, type=kind)
        self._strange.add(kind[:32])

    # State

    def _opened(self) -> None:
        self.pulse.worked()
        self.heard_at = self._clock.now().ticks
        if not self.following:
            self._log.info("following", resource=self.feed.title)
        if not (self.following and self.fresh):
            self.following, self.fresh, self.problem = True, True, None
            self._changed()

    def _note_steady(self, began: int) -> None:
        """Forget earlier failures if this watch stood for a while."""
        if self._clock.now().ticks - began >= _STEADY_TICKS:
            self._pauses.reset()
            self._expiries.reset()

    async def _failed(self, failure: ApiFailure) -> None:
        self.pulse.failed(outdated=failure.kind is FailureKind.OUTDATED)
        problem = str(failure)
        if problem != self.problem:
            self._log.warning(problem)
        self.following, self.problem = False, problem
        self._changed()
        pauses = self._expiries if failure.kind is FailureKind.EXPIRED else self._pauses
        await asyncio.sleep(pauses.next(failure.retry_after))
