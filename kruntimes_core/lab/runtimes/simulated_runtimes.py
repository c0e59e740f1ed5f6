"""Joins the simulation to an API server: it follows the objects, and sends what is due."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from random import Random

from pydantic_core import from_json

from kruntimes_core.cluster.client.resources import ApiResource
from kruntimes_core.cluster.client.transport import Call, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler
from kruntimes_core.cluster.informers.reflector import Reflector
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.objects import FOLLOWED, ObjectRef, WriteRequest
from kruntimes_core.lab.runtimes.simulation import RuntimeSimulation

_TIMEOUT_SECONDS = 10.0
_LONGEST_REST_SECONDS = 1.0
_MERGE_PATCH = {"content-type": "application/merge-patch+json"}


class SimulatedRuntimes:
    """Executes what is bound to any Pod of the API server, until it is cancelled."""

    def __init__(
        self,
        *,
        behaviour: Behaviour,
        transport: Transport,
        clock: Clock,
        random: Random,
        log: Log,
        in_flight: int = 16,
    ) -> None:
        """random: for the jitter of retries. in_flight: requests at a time."""
        self._simulation = RuntimeSimulation(behaviour)
        self._transport = transport
        self._clock = clock
        self._log = log
        self._in_flight = in_flight
        self._sending: set[asyncio.Task[None]] = set()
        self._wakeup = asyncio.Event()
        self._reflectors = [
            Reflector(
                transport=transport,
                handler=_event_handler(resource, self._simulation, self._observe),
                clock=clock,
                random=random,
                log=log,
                changed=self._wakeup.set,
            )
            for resource in FOLLOWED
        ]

    async def run(self) -> None:
        """Follow and execute. Never returns; a defect in any part ends it."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors:
                group.create_task(reflector.run())
            while True:
                self._send_due(group)
                await self._rest()

    def _send_due(self, group: asyncio.TaskGroup) -> None:
        while len(self._sending) < self._in_flight:
            due = self._simulation.take(self._clock.now())
            if due is None:
                return
            task = group.create_task(self._send(*due))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _rest(self) -> None:
        """Wait until something happens, or the simulation's next moment has come."""
        seconds = _LONGEST_REST_SECONDS
        wake_at = self._simulation.wake_at
        if wake_at is not None and len(self._sending) < self._in_flight:
            seconds = min(max((wake_at - self._clock.now().ticks) / SECOND, 0.0), seconds)
        timer = asyncio.get_running_loop().call_later(seconds, self._wakeup.set)
        await self._wakeup.wait()
        timer.cancel()
        self._wakeup.clear()

    def _observe(self, event: Callable[[Now], None]) -> None:
        event(self._clock.now())
        self._wakeup.set()

    async def _send(self, ref: ObjectRef, request: WriteRequest) -> None:
        try:
            response = await self._transport.request(_call(request))
            if response.status == 409:
                response = await self._transport.request(_read(request))
            done = self._take(request, response)
        except TransportError as error:
            self._log.warning(f"a simulated Pod cannot write: {error}")
            done = False
        if done:
            self._simulation.settled(ref)
        else:
            self._simulation.failed(ref, self._clock.now())
        self._wakeup.set()

    def _take(self, request: WriteRequest, response: Response) -> bool:
        """Observe what an answer shows; whether it shows anything."""
        resource, now = request.resource, self._clock.now()
        if response.status in (200, 201):
            body = from_json(response.body)
            if body["kind"] == "Status":
                self._simulation.gone(resource, request.namespace, request.name)
                return True
            self._simulation.observe(resource, body, now)
            return bool(request.guard != body["metadata"]["resourceVersion"])
        if response.status == 404 and request.name:
            self._simulation.gone(resource, request.namespace, request.name)
            return True
        self._log.warning(
            f"a simulated Pod cannot {request.method.lower()} {resource.title}",
            status=response.status,
            text=response.body.decode("utf-8", "replace"),
        )
        return False


def _call(request: WriteRequest) -> Call:
    return Call(
        method=request.method,
        path=request.resource.path(request.namespace, request.name, request.subresource),
        headers=_MERGE_PATCH if request.method == "PATCH" else {},
        body=json.dumps(request.body).encode(),
        timeout_seconds=_TIMEOUT_SECONDS,
    )


def _read(request: WriteRequest) -> Call:
    """Read what a write was refused for."""
    name = request.name or request.body["metadata"]["name"]
    return Call(
        method="GET", path=request.resource.path(request.namespace, name), timeout_seconds=_TIMEOUT_SECONDS
    )


def _event_handler(
    resource: ApiResource, simulation: RuntimeSimulation, handle: Callable[[Callable[[Now], None]], None]
) -> ResourceEventHandler:
    """Objects as they are, instead of the scheduler's observations; an event is a call of the simulation."""
    return ResourceEventHandler(
        resource=resource,
        namespace=None,
        decode=lambda obj: obj,
        observe=lambda obj: partial(simulation.observe, resource, obj),
        gone=lambda *, namespace, name, **_: lambda now: simulation.gone(resource, namespace, name),
        listed=lambda *, observations, **_: partial(simulation.listed, resource, observations),
        handle=handle,
    )
