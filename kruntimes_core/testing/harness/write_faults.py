"""What may become of a write on its way to the server and back.

A fault takes a write and gives its answer, or None when the answer comes later. `Host.disturb` says
what happens to the next ones of a Run, `Host.transport` what happens to all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kruntimes_core.engine.api_calls import OutcomeUnknown, Refused, Write, WriteAnswer

if TYPE_CHECKING:
    from kruntimes_core.testing.harness.host import Host

WriteFault = Callable[["Host", Write], WriteAnswer | None]


def apply(host: Host, write: Write) -> WriteAnswer:
    """No fault: the server takes it, or refuses it for a reason of its own."""
    return host.server.patch_status(write)


def lose_answer(host: Host, write: Write) -> WriteAnswer:
    """The server takes it, and the connection breaks."""
    host.server.patch_status(write)
    return OutcomeUnknown()


def lose_request(host: Host, write: Write) -> WriteAnswer:
    """It never reaches the server, and the client cannot know that."""
    return OutcomeUnknown()


def refuse(status: int, retry_after: float | None = None) -> WriteFault:
    """The server refuses it with a 4xx `status`; retry_after: seconds."""
    return lambda host, write: Refused(status, retry_after)


def hold_request(host: Host, write: Write) -> None:
    """It hangs before the server until `Host.release`."""
    host.held[write.uid] = (write, None)


def hold_answer(host: Host, write: Write) -> None:
    """The server takes it; its answer hangs until `Host.release`."""
    host.held[write.uid] = (write, host.server.patch_status(write))


def arrive_late(seconds: float) -> WriteFault:
    """It reaches the server after some time, and is answered then."""

    def fault(host: Host, write: Write) -> None:
        host.later(seconds, lambda: host.answer(write, apply(host, write)))

    return fault


def answer_late(seconds: float) -> WriteFault:
    """The server takes it at once, and the answer comes after some time."""

    def fault(host: Host, write: Write) -> None:
        answer = apply(host, write)
        host.later(seconds, lambda: host.answer(write, answer))

    return fault


def land_late(seconds: float) -> WriteFault:
    """The client gives up at once (doubt); the server takes it after some time, if it still may."""

    def fault(host: Host, write: Write) -> WriteAnswer:
        host.later(seconds, lambda: host.server.patch_status(write))
        return OutcomeUnknown()

    return fault
