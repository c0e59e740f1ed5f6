"""PreFilter: each plugin's state for a Run, asked again only when something that it named changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.outcomes import InvalidRun, PluginError
from kruntimes_core.framework.profile import ActivePlugin, Hook, Profile
from kruntimes_core.framework.runner import calls
from kruntimes_core.framework.runner.outcomes import Invalid, Prepared
from kruntimes_core.framework.runner.reads import Reads, ReadTargets
from kruntimes_core.framework.runner.sharing import share_key
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.workspace import Workspace, WorkspacePhase

# The hooks whose answers decide whether a waiting Run may be placed.
_DECIDING = ("prefilter", "filter", "reserve")
_REMEMBERED = 4096


def own_class(profile: Profile) -> bool:
    """Whether each waiting Run stands alone, because some answer may depend on the Run itself."""
    return any(
        plugin.stateful or "run" in hook.names
        for plugin in profile.plugins
        for name in _DECIDING
        if (hook := plugin.hooks.get(name)) is not None
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """A prefilter's state, what it is shared by, and what it read of the targets."""

    state: Any
    key: Hashable
    reads: Reads


@dataclass(frozen=True, slots=True)
class _Inputs:
    """All that a prefilter may name, for one Run on one snapshot."""

    run: Run
    snapshot: Snapshot
    workspace: Workspace | None

    def named(self, name: str) -> Any:
        """The value of one argument."""
        if name in ("run", "snapshot", "workspace"):
            return getattr(self, name)
        return getattr(self.run, name)


class PreFilters:
    """The prefilters of one profile, with the answers that still hold."""

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self._own_class = own_class(profile)
        self._deciding = [not plugin.hooks.keys().isdisjoint(_DECIDING[1:]) for plugin in profile.plugins]
        self._stages = tuple(
            _PreFilter(plugin, plugin.hooks["prefilter"], reuse) if "prefilter" in plugin.hooks else None
            for plugin in profile.plugins
        )

    def prepare(self, run: Run, snapshot: Snapshot) -> Prepared | Invalid:
        """Ask every prefilter. Raises `PluginError` for a broken one."""
        inputs = _Inputs(run, snapshot, workspace_of(run, snapshot))
        states: list[Any] = []
        keys: list[Hashable] = []
        noted: list[Reads] = []
        for stage in self._stages:
            if stage is None:
                states.append(None)
                keys.append(None)
                continue
            answer = stage.ask(inputs)
            if isinstance(answer, Invalid):
                return answer
            states.append(answer.state)
            keys.append(answer.key)
            noted.append(answer.reads)
        # What only scores cannot make a Pod feasible: Runs that differ in it wait for the same.
        deciding = tuple([key for key, counts in zip(keys, self._deciding, strict=True) if counts])
        class_key = (run.uid, *deciding) if self._own_class else deciding
        return Prepared(tuple(states), tuple(keys), class_key, Reads(), inputs.workspace, tuple(noted))


class _PreFilter:
    """One plugin's prefilter."""

    def __init__(self, plugin: ActivePlugin, hook: Hook, reuse: bool) -> None:
        self._plugin = plugin
        self._function: Callable[..., Any] = hook.function
        self._names = hook.names
        self._keyed_by = tuple(name for name in hook.names if name not in ("targets", "snapshot"))
        self._reusable = reuse and not plugin.stateful and "snapshot" not in hook.names
        self._answers: dict[Hashable, _Answer] = {}

    def ask(self, inputs: _Inputs) -> _Answer | Invalid:
        """The state for a Run: the remembered one while it holds, else asked anew."""
        if not self._reusable:
            return self._call(inputs)
        key = tuple([inputs.named(name) for name in self._keyed_by])
        known = self._answers.get(key)
        if known is not None and (not known.reads or known.reads.hold(inputs.snapshot.targets)):
            return known
        answer = self._call(inputs)
        if isinstance(answer, _Answer):
            if len(self._answers) >= _REMEMBERED:
                del self._answers[next(iter(self._answers))]
            self._answers[key] = answer
        return answer

    def _call(self, inputs: _Inputs) -> _Answer | Invalid:
        targets = ReadTargets(inputs.snapshot.targets) if "targets" in self._names else None
        arguments = [targets if name == "targets" else inputs.named(name) for name in self._names]
        try:
            state = self._function(*arguments)
            key = share_key(state)
        except InvalidRun as verdict:
            return self._invalid(verdict, targets.reads if targets is not None else Reads(), inputs)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            raise calls.broken(self._plugin, "prefilter", error) from None
        return _Answer(state, key, targets.reads if targets is not None else Reads())

    def _invalid(self, verdict: InvalidRun, reads: Reads, inputs: _Inputs) -> Invalid:
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


def workspace_of(run: Run, snapshot: Snapshot) -> Workspace | None:
    """The PersistentWorkspace that `run` names: as known, as Missing, or None if it names none."""
    if run.workspace is None:
        return None
    known = snapshot.workspaces.get(run.workspace)
    if known is not None:
        return known
    return Workspace(namespace=run.namespace, name=run.workspace, runtime="", phase=WorkspacePhase.MISSING)
