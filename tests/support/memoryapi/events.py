"""A way for Events that ends in the embedded API server, and whatever may go wrong on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import cached_property
from itertools import count
from typing import Any, Protocol

from virtual.direct import DirectTransport
from virtual.site import Site, play
from virtual.time import VirtualClock

from embedded.bodies import namespace_body
from kruntimes_core.cluster.client.transport import Call, MaybeSentError, NotSentError, Response
from kruntimes_core.cluster.event_recorder.recorder import EventRecorder, EventSettings, EventSink, events_to
from kruntimes_core.engine.clock import ticks
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.testing.builders import NAMESPACE, NOW

Object = dict[str, Any]
Fault = Callable[[Call], Awaitable[Response | None]]
"""May answer in place of the server, raise, or wait; None lets the call go on."""
INSTANCE = "host_1"
AFTER, REPEAT = 5.0, 20.0
"""Seconds; short, because each second of a host in virtual time costs a bit of a real one."""


class EventWay:
    """A `Transport` for Events alone. It says when each request was handed over."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.calls: list[tuple[float, Call]] = []
        """What was handed over, with its time."""
        self.at_a_time = 0
        """The most requests that were under way together."""
        self._under_way = 0

    @cached_property
    def server(self) -> ApiServer:
        """The API server. It is asked for in the loop that it lives in."""
        numbers, clock = count(1), VirtualClock(NOW)
        server = ApiServer(now=lambda: clock.now().wall, uid=lambda: f"uid-{next(numbers)}")
        server.create(server.resources.named("namespaces"), None, namespace_body(NAMESPACE))
        return server

    @cached_property
    def _inner(self) -> DirectTransport:
        return DirectTransport(self.server)

    def sink(self, *, after: float = AFTER, repeat: float = REPEAT, **settings: Any) -> EventSink | None:
        """What a host needs to send over it; durations in seconds."""
        made = EventSettings(after=ticks(after), repeat=ticks(repeat), **settings)
        return events_to(self, INSTANCE, made)

    def namespace(self, name: str) -> None:
        """Create a namespace."""
        self.server.create(self.server.resources.named("namespaces"), None, namespace_body(name))

    @property
    def events(self) -> list[Object]:
        """The Events that stand, oldest first."""
        found = self.server.list(self.server.resources.named("events", "events.k8s.io"))
        return sorted(found, key=lambda event: int(event["metadata"]["resourceVersion"]))

    def of(self, name: str) -> list[Object]:
        """The Events about an object."""
        return [event for event in self.events if event["regarding"]["name"] == name]

    def said(self) -> list[tuple[str, str, int]]:
        """Of each Event: the object, the reason, and how often it was observed."""
        return sorted(
            (one["regarding"]["name"], one["reason"], one.get("series", {}).get("count", 1))
            for one in self.events
        )

    def forget(self) -> None:
        """Delete all Events, as their time to live does."""
        for event in self.events:
            metadata = event["metadata"]
            resource = self.server.resources.named("events", "events.k8s.io")
            self.server.delete(resource, metadata["namespace"], metadata["name"])

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        if call.gate is not None and not call.gate():
            raise NotSentError("the gate is closed")
        self.calls.append((asyncio.get_running_loop().time(), call))
        self._under_way += 1
        self.at_a_time = max(self.at_a_time, self._under_way)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                for fault in list(self.faults):
                    answer = await fault(call)
                    if answer is not None:
                        return answer
                return await self.arrives(call)
        except TimeoutError as error:
            raise MaybeSentError(f"no answer within {call.timeout_seconds:g} s") from error
        finally:
            self._under_way -= 1

    async def arrives(self, call: Call) -> Response:
        """What the server makes of a call."""
        return await self._inner.request(call)

    def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """Nobody watches Events here."""
        raise AssertionError(f"{call.path} is watched")

    async def close(self) -> None:
        """There is nothing to close."""


Scene = Callable[[Site, EventWay], Awaitable[None]]


def recorder_of(site: Site) -> EventRecorder:
    """What sends the Events of the host."""
    announcer = site.host.event_recorder
    assert announcer is not None
    return announcer


class Play(Protocol):
    """What the fixture `announced` gives."""

    def __call__(self, scene: Scene, *, of: Profiles | None = None, **settings: Any) -> None:
        """Play a scene with the supplied plugins, or with `of`. settings: see `EventWay.sink`."""


def play_announced(profiles: Profiles, scene: Scene, **settings: Any) -> None:
    """Play a scene with a host that sends Events."""
    way = EventWay()
    play(profiles, lambda site: scene(site, way), events=way.sink(**settings))
