"""What a test lets go wrong between a host and its server, and what hangs there now."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from kruntimes_core.engine.api_calls import Read, ReadAnswer, Write, WriteAnswer
from kruntimes_core.testing.harness.host import WriteFault, apply
from kruntimes_core.testing.harness.object_tracker import ObjectTracker
from kruntimes_core.testing.harness.traces import Traces

if TYPE_CHECKING:
    from kruntimes_core.testing.harness.host import Host

ReadFault = Callable[["Host", Read], ReadAnswer | None]


class Troubled(Traces):
    """The way between a host and its server."""

    def __init__(self, server: ObjectTracker) -> None:
        super().__init__(server)
        self.transport: WriteFault = apply
        """What happens to every write that nothing else was said of."""
        self._faults: defaultdict[str, deque[WriteFault]] = defaultdict(deque)
        self.read_faults: deque[ReadFault] = deque()
        """The same for reads."""
        self.held: dict[str, tuple[Write, WriteAnswer | None]] = {}
        """Writes that hang, by Run UID; with the answer, if the server gave one."""

    def disturb(self, name: str, *faults: WriteFault) -> None:
        """Say what happens to the next writes for the Runs of a name, one fault each."""
        self._faults[name].extend(faults)

    def calm(self) -> None:
        """Take back what `disturb` and `read_faults` still have to come."""
        self._faults.clear()
        self.read_faults.clear()

    def _fault_of(self, write: Write) -> WriteFault:
        """What happens to a write that is sent now."""
        faults = self._faults[write.name]
        return faults.popleft() if faults else self.transport

    def _read_fault(self) -> ReadFault:
        """What happens to a read that is sent now."""
        return self.read_faults.popleft() if self.read_faults else _read

    def _let_go(self, name: str, namespace: str) -> tuple[Write, WriteAnswer | None]:
        """The write of a Run that hangs, which does not hang any more; with its answer, if it has one."""
        return next(
            self.held.pop(uid)
            for uid, (write, _) in list(self.held.items())
            if (write.namespace, write.name) == (namespace, name)
        )


def _read(host: Host, request: Read) -> ReadAnswer:
    return host.server.read(request.namespace, request.name)
