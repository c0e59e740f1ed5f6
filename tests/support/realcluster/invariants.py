"""What must hold after every write that the server accepted, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.invariants import Invariant, InvariantChecker, ObjectVersion, pod_version, run_version

# What tests let others do to a Run, and write into it, is theirs to judge.
_RULES = frozenset({Invariant.OVERCOMMITTED, Invariant.BOUND_TWICE, Invariant.POD_NOT_ALIVE})


@dataclass(frozen=True)
class Event:
    """One version of a Run or a Pod, as a watch told it."""

    resource: str
    """Its plural."""
    type: str
    object: Mapping[str, Any]
    heard_at: float = 0.0
    """When the test heard of it: seconds of a clock that only goes on."""

    @property
    def version(self) -> int:
        """The revision of the store that it stands for."""
        return int(self.object["metadata"]["resourceVersion"])

    @property
    def seen(self) -> ObjectVersion:
        """It as the checker takes it."""
        read = pod_version if self.resource == "pods" else run_version
        return read(self.object, gone=self.type == "DELETED")


@dataclass
class Invariants:
    """Takes events in the order of their versions, and fails at the one that breaks a rule.

    - usage <= capacity for each Pod UID and resource,
    - a Run is bound once in an attempt,
    - it is bound to a Pod that exists, bears that name and UID, and is ready.
    """

    checker: InvariantChecker = field(default_factory=InvariantChecker)

    def take(self, event: Event) -> None:
        """The next event."""
        broken = [
            violation.text for violation in self.checker.take(event.seen) if violation.invariant in _RULES
        ]
        assert not broken, f"{'; '.join(broken)}: {event}"
