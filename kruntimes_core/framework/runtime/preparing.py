"""PreFilter: what a Run asks for, as the plugins see it, prepared once for all Runs that ask the same."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime.outcomes import Invalid, Prepared
from kruntimes_core.framework.runtime.prefilter import Inputs, PreFilter
from kruntimes_core.framework.runtime.reads import Reads
from kruntimes_core.framework.runtime.sharing import StateKey
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.workspace import Workspace, WorkspacePhase

# The hooks whose answers decide whether a waiting Run may be placed.
_DECIDING = ("prefilter", "filter", "reserve")
_REMEMBERED = 16_384


def own_class(profile: Profile) -> bool:
    """Whether each waiting Run stands alone, because some answer may depend on the Run itself."""
    return any(
        plugin.stateful or "run" in hook.names
        for plugin in profile.plugins
        for name in _DECIDING
        if (hook := plugin.hooks.get(name)) is not None
    )


class PreFilters:
    """The prefilters of one profile, with the answers that still hold."""

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self._own_class = own_class(profile)
        self._deciding = [not plugin.hooks.keys().isdisjoint(_DECIDING[1:]) for plugin in profile.plugins]
        self._stages = tuple(
            PreFilter(plugin, plugin.hooks["prefilter"], reuse) if "prefilter" in plugin.hooks else None
            for plugin in profile.plugins
        )
        self._remembered = (
            _Remembered([stage for stage in self._stages if stage is not None])
            if not self._own_class and all(stage is None or stage.reusable for stage in self._stages)
            else None
        )

    def prepare(self, run: Run, snapshot: Snapshot, before: Prepared | None = None) -> Prepared | Invalid:
        """Ask every prefilter, if no earlier answers hold. Raises `PluginError` for a broken one.

        before: earlier answers for this very Run.
        """
        workspace = workspace_of(run, snapshot)
        if self._remembered is None:
            return self._ask(run, snapshot, workspace)
        if before is not None and before.workspace == workspace and before.holds(snapshot.targets):
            return before
        inputs = self._remembered.inputs(run, workspace)
        known = self._remembered.find(inputs, snapshot)
        if known is not None:
            return known
        answer = self._ask(run, snapshot, workspace)
        if isinstance(answer, Prepared):
            self._remembered.keep(inputs, answer)
        return answer

    def _ask(self, run: Run, snapshot: Snapshot, workspace: Workspace | None) -> Prepared | Invalid:
        inputs = Inputs(run, snapshot, workspace)
        states: list[Any] = []
        keys: list[StateKey | None] = []
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
            if stage.reads_targets:
                noted.append(answer.reads)
        # What only scores cannot make a Pod feasible: Runs that differ in it wait for the same.
        deciding = tuple([key for key, counts in zip(keys, self._deciding, strict=True) if counts])
        return Prepared(
            states=tuple(states),
            keys=tuple(keys),
            together=StateKey(tuple(keys)),
            class_key=StateKey((run.uid, *deciding) if self._own_class else deciding),
            reads=Reads(),
            workspace=workspace,
            noted=tuple(noted),
        )


class _Remembered:
    """What was prepared for which arguments, by their identity: equal parts of Runs are one object.

    That is so for what the decoder made; for other Runs it costs a look that finds nothing.
    """

    def __init__(self, stages: list[PreFilter]) -> None:
        names = {"namespace", "request"}.union(*[stage.of_the_run for stage in stages])
        self._of_the_run = attrgetter(*sorted(names))  # a tuple: there are two at the least
        self._known: dict[tuple[int, ...], tuple[tuple[Any, ...], Prepared]] = {}

    def inputs(self, run: Run, workspace: Workspace | None) -> tuple[Any, ...]:
        """All that the prefilters may be told, besides the targets."""
        inputs: tuple[Any, ...] = self._of_the_run(run)
        return (*inputs, workspace)

    def find(self, inputs: tuple[Any, ...], snapshot: Snapshot) -> Prepared | None:
        """What was prepared for these very objects, if what it was given from is still so."""
        known = self._known.get(tuple(map(id, inputs)))
        if known is None:
            return None
        prepared = known[1]
        return prepared if prepared.holds(snapshot.targets) else None

    def keep(self, inputs: tuple[Any, ...], prepared: Prepared) -> None:
        """Remember it, and the arguments with it: or another object might get the identity of one."""
        if len(self._known) >= _REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[tuple(map(id, inputs))] = (inputs, prepared)


def workspace_of(run: Run, snapshot: Snapshot) -> Workspace | None:
    """The PersistentWorkspace that `run` names: as known, as Missing, or None if it names none."""
    if run.workspace is None:
        return None
    known = snapshot.workspaces.get(run.workspace)
    if known is not None:
        return known
    return Workspace(namespace=run.namespace, name=run.workspace, runtime="", phase=WorkspacePhase.MISSING)
