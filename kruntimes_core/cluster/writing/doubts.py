"""The writes of which nobody knows what became: while there is one, the Lease is not given away."""

from __future__ import annotations

from kruntimes_core.engine.api_calls import Applied, OutcomeUnknown, Write, WriteAnswer
from kruntimes_core.engine.engine import Engine


class Doubts:
    """Each write in doubt until it cannot be applied any more: its Run went on, or is gone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writes: dict[tuple[str, str], tuple[Write, int]] = {}

    def written(self, write: Write, answer: WriteAnswer, now: int) -> None:
        """Take note of an answer. Call it before the engine is told. now: in ticks."""
        if isinstance(answer, OutcomeUnknown):
            # The newest is enough: it bears the same guard as the one before, or proves that one dead.
            self._writes[write.namespace, write.uid] = write, now
        elif isinstance(answer, Applied):
            self._writes.pop((write.namespace, write.uid), None)

    def since(self, moment: int) -> int:
        """How many there are that began to be in doubt at `moment` (ticks) or later."""
        self._writes = {
            key: (write, at)
            for key, (write, at) in self._writes.items()
            if at >= moment and self._may_be_applied(write)
        }
        return len(self._writes)

    def _may_be_applied(self, write: Write) -> bool:
        """Whether the Run still is in the version that guards the write, as far as is known."""
        entry = self._engine.find(write.namespace, write.name)
        if entry is None or entry.run.uid != write.uid:
            return False
        return entry.floor == write.guard
