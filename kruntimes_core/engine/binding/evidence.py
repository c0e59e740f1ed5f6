"""What a consistent read of a Run proves: whether a write in doubt was applied, or can never be."""

from __future__ import annotations

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import (
    InDoubt,
    NotFound,
    PendingBind,
    PendingText,
    Read,
    ReadAnswer,
)
from kruntimes_core.engine.binding.sender import Sender
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.intake import Intake
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.ways import Ways
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.status_patches import waiting_patch


class Evidence:
    """Takes in what was read, and goes on with what waited for it."""

    def __init__(self, core: Core, intake: Intake, ways: Ways, sender: Sender) -> None:
        self._core = core
        self._intake = intake
        self._ways = ways
        self._sender = sender

    def read(self, read: Read, answer: ReadAnswer) -> None:
        """What a consistent read found."""
        entry = self._core.runs.get((read.namespace, read.uid))
        if entry is None:
            return
        tells = self._core.outbox.was_read(entry)
        if isinstance(answer, NotFound):
            self._ways.forget(entry)
        elif isinstance(answer, InDoubt):
            self._core.read_later(entry, answer.retry_after)
        elif answer.observation.run.uid != entry.run.uid:
            self._ways.forget(entry)
            self._intake.observed(answer.observation, sure=True)
        else:
            self._intake.observed(answer.observation, sure=tells)
            if tells:
                self._conclude(entry, answer.observation)

    def _conclude(self, entry: RunEntry, seen: RunObservation) -> None:
        """Go on with what waited for the read."""
        assumption = entry.assumption
        if assumption is not None:
            if assumption.doubtful and entry.sent is None:
                self._resolve(entry, assumption, seen)
        elif entry.stage is Stage.BEHIND:
            self._still_the_same(entry, seen.version)
        elif entry.stage in (Stage.WAITING, Stage.DELAYED):
            text = entry.text
            if text is not None and entry.sent is None and waiting_patch(seen, text) is not None:
                self._core.outbox.put(entry, PendingText(text))

    def _still_the_same(self, entry: RunEntry, version: str) -> None:
        """A newer version would have queued the Run: no write was applied, and nothing has changed.

        Once that may be chance; again in the same version, only time will tell.
        """
        if entry.refused_in == version:
            self._core.back_off(entry)
        else:
            entry.refused_in = version
            self._core.enqueue(entry, None)

    def _resolve(self, entry: RunEntry, assumption: Assumption, seen: RunObservation) -> None:
        """The Run shows no assignment. In the guarded version the patch may still land; else never."""
        if seen.version != assumption.guard:
            self._ways.drop_bind(entry)
            return
        assumption.repeats += 1
        if not self._sender.still_wanted(entry, assumption):
            self._sender.withdraw(entry, assumption)
            return
        core = self._core
        core.timers.at(
            core.now.ticks + core.settings.backoff(assumption.repeats),
            lambda: entry.assumption is assumption and entry.sent is None,
            lambda: core.outbox.put(entry, PendingBind(assumption)),
        )
