"""Making the writes when their turn comes: from the newest version, and only if they are still due."""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import (
    Pending,
    PendingBind,
    PendingTerminal,
    PendingWithdrawal,
    Read,
    Request,
    Write,
)
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.ways import Ways
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.status_patches import bind_patch, terminal_patch, waiting_patch

# Said when an assignment that may still land is not wanted any more.
WITHDRAWAL_TEXT = "waiting for an earlier assignment to be withdrawn"


class Sender:
    """Hands out requests, checked in the step in which they are handed out."""

    def __init__(self, core: Core, ways: Ways) -> None:
        self._core = core
        self._ways = ways

    def next_request(self) -> Request | None:
        """The next read or write to hand to the transport; reads first, they end doubts."""
        outbox = self._core.outbox
        entry = outbox.next_read()
        if entry is not None:
            return Read(namespace=entry.run.namespace, name=entry.run.name, uid=entry.run.uid)
        while self._core.leading and (waiting := outbox.next_write()) is not None:
            write = self._write(*waiting)
            if write is not None:
                return write
        return None

    def _write(self, entry: RunEntry, pending: Pending) -> Write | None:
        """The write, made from the newest version; None if it is not due any more."""
        if isinstance(pending, PendingBind) and not self.still_wanted(entry, pending.assumption):
            self._unwanted(entry, pending.assumption)
            return None
        seen = entry.observation
        body = self._body(seen, pending)
        entry.pending = None
        if body is None:
            return None
        if isinstance(pending, PendingBind):
            pending.assumption.guard = seen.version
        entry.sent = Write(
            namespace=entry.run.namespace,
            name=entry.run.name,
            uid=entry.run.uid,
            kind=pending.kind,
            guard=seen.version,
            body=body,
            pending=pending,
        )
        return entry.sent

    def _body(self, seen: RunObservation, pending: Pending) -> dict[str, Any] | None:
        now = self._core.now.wall
        if isinstance(pending, PendingBind):
            pod = pending.assumption.pod
            return bind_patch(seen, pod.name, pod.uid, now)
        if isinstance(pending, PendingTerminal):
            return terminal_patch(seen, pending.phase, pending.reason, pending.message, now)
        return waiting_patch(seen, pending.message)

    def still_wanted(self, entry: RunEntry, assumption: Assumption) -> bool:
        """Whether the Run and the Pod are as they were when the one was reserved on the other."""
        seen, pod = entry.observation, assumption.pod
        alone = self._core.state.pods.without_load(pod.namespace, pod.name)
        return (
            entry.assumption is assumption
            and not (seen.cancel_requested or seen.deleting)
            # Mostly it is the same object, which is quicker to see.
            and (seen.run is assumption.run or seen.run == assumption.run)
            and (alone is assumption.alone or alone == assumption.alone)
        )

    def _unwanted(self, entry: RunEntry, assumption: Assumption) -> None:
        if entry.assumption is not assumption:
            entry.pending = None
        elif assumption.doubtful:
            self.withdraw(entry, assumption)
        else:
            self._ways.drop_bind(entry)

    def withdraw(self, entry: RunEntry, assumption: Assumption) -> None:
        """Move the version on by a changed text: a patch that changes nothing would not move it."""
        stands = entry.observation.message == WITHDRAWAL_TEXT
        text = f"{WITHDRAWAL_TEXT}, again" if stands else WITHDRAWAL_TEXT
        self._core.outbox.put(entry, PendingWithdrawal(assumption, text))
