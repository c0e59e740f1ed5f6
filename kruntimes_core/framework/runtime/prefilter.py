"""PreFilter: one plugin's state for a Run, asked again only when something that it named changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.outcomes import InvalidRun, PluginError
from kruntimes_core.framework.profile import ActivePlugin, Hook
from kruntimes_core.framework.runtime import calls
from kruntimes_core.framework.runtime.outcomes import Invalid
from kruntimes_core.framework.runtime.reads import Reads, ReadTargets
from kruntimes_core.framework.runtime.sharing import StateKey, share_key
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.workspace import Workspace

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """A prefilter's state, what it is shared by, and what it read of the targets."""

    state: Any
    key: StateKey
    reads: Reads


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a prefilter may name, for one Run on one snapshot."""

    run: Run
    snapshot: Snapshot
    workspace: Workspace | None

    def named(self, name: str) -> Any:
        """The value of one argument."""
        if name in ("run", "snapshot", "workspace"):
            return getattr(self, name)
        return getattr(self.run, name)


class PreFilter:
    """One plugin's prefilter, with the answers that may still hold."""

    def __init__(self, plugin: ActivePlugin, hook: Hook, reuse: bool) -> None:
        self._plugin = plugin
        self._function: Callable[..., Any] = hook.function
        self._names = hook.names
        self._keyed_by = tuple(name for name in hook.names if name not in ("targets", "snapshot"))
        self.of_the_run = {name for name in hook.names if name not in ("targets", "snapshot", "workspace")}
        self.reads_targets = "targets" in hook.names
        self.reusable = reuse and not plugin.stateful and "snapshot" not in hook.names
        self._answers: dict[Hashable, Answer] = {}

    def ask(self, inputs: Inputs) -> Answer | Invalid:
        """The state for a Run: the remembered one while it holds, else asked anew."""
        if not self.reusable:
            return self._call(inputs)
        key = tuple([inputs.named(name) for name in self._keyed_by])
        known = self._answers.get(key)
        if known is not None and (not known.reads or known.reads.hold(inputs.snapshot.targets)):
            return known
        answer = self._call(inputs)
        if isinstance(answer, Answer):
            if len(self._answers) >= _REMEMBERED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = answer
        return answer

    def _call(self, inputs: Inputs) -> Answer | Invalid:
        targets = ReadTargets(inputs.snapshot.targets) if self.reads_targets else None
        arguments = [targets if name == "targets" else inputs.named(name) for name in self._names]
        try:
            state = self._function(*arguments)
            key = StateKey(share_key(state))
        except InvalidRun as verdict:
            return self._invalid(verdict, targets.reads if targets is not None else Reads(), inputs)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            raise calls.broken(self._plugin, "prefilter", error) from None
        return Answer(state, key, targets.reads if targets is not None else Reads())

    def _invalid(self, verdict: InvalidRun, reads: Reads, inputs: Inputs) -> Invalid:
        try:
            reason, message = verdict.reason, verdict.message
        except BaseException as error:  # noqa: BLE001 - a subclass may have left them out
            raise calls.broken(self._plugin, "prefilter", error) from None
        if not isinstance(reason, str) or not calls.CAMEL_CASE.fullmatch(reason):
            raise self._error(f"InvalidRun with reason {calls.shown(reason)}; use a CamelCase name")
        if not isinstance(message, str):
            raise self._error(f"InvalidRun with message {calls.shown(message)}; use a text")
        return Invalid(self._plugin.name, str.__str__(reason), str.__str__(message), reads, inputs.workspace)

    def _error(self, problem: str) -> PluginError:
        return self._plugin.error("prefilter", problem)
