"""PreFilter: what a Run asks for, as one state of each plugin. Runs that ask the same share the states."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any
from weakref import WeakValueDictionary

from immutables import Map

from kruntimes_core.framework.hookspecs import InvalidRun
from kruntimes_core.framework.profile import ActivePlugin, Hook, Profile
from kruntimes_core.framework.runtime import plugin_calls
from kruntimes_core.framework.runtime.state_equality import StateKey, share_key
from kruntimes_core.model.bounded import KIB, MIB, BoundedCache
from kruntimes_core.model.run import Run, run_size
from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.targets import SelectorCounts, Targets
from kruntimes_core.model.workspace import Workspace, WorkspacePhase

# The hooks whose answers decide whether a waiting Run may be placed.
_DECIDING = ("prefilter", "filter", "reserve")
ANSWER_BYTES = 8 * MIB
"""Of the answers of one plugin's prefilter that are kept, with what they were given from."""
STATE_BYTES = 16 * MIB
"""Of the states of a profile that are kept though no Run has them now."""
LARGEST_RUN = 16 * KIB
"""Bytes. What prefilters answered for a larger Run is kept with the Run alone."""
_ENTRY_BYTES = 1 * KIB


class TargetReads:
    """What prefilters read of the namespace's targets: their answers hold until that changes.

    Most Runs have no affinity, and a prefilter that names `targets` does not look at them. So not the
    argument is kept but what was read of it, and a placement wakes the Runs that something else was read for.
    """

    __slots__ = ("any_of", "count_of", "whole")

    def __init__(self) -> None:
        self.any_of: dict[LabelSelector, bool] = {}
        self.count_of: dict[LabelSelector, int] = {}
        self.whole: Targets | None = None

    def __bool__(self) -> bool:
        return bool(self.any_of or self.count_of or self.whole is not None)

    def hold(self, targets: Targets) -> bool:
        """Whether the same would be read in `targets`."""
        for selector, known in self.any_of.items():
            if targets.any(selector) != known:
                return False
        for selector, number in self.count_of.items():
            if targets.count(selector) != number:
                return False
        return self.whole is None or self.whole == targets

    @classmethod
    def together(cls, several: Iterable[TargetReads]) -> TargetReads:
        """What several prefilters of one cycle read."""
        whole = cls()
        for reads in several:
            whole.any_of.update(reads.any_of)
            whole.count_of.update(reads.count_of)
            if reads.whole is not None:
                whole.whole = reads.whole
        return whole


class ReadTargets(Targets):
    """The namespace's targets as one call of a prefilter sees them: what is read is noted."""

    __slots__ = ("_targets", "reads")

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.reads = TargetReads()

    def any(self, selector: LabelSelector) -> bool:
        """See `Targets.any`."""
        answer = self._targets.any(selector)
        self.reads.any_of[selector] = answer
        return answer

    def count(self, selector: LabelSelector) -> int:
        """See `Targets.count`."""
        answer = self._targets.count(selector)
        self.reads.count_of[selector] = answer
        return answer

    @property
    def _sets(self) -> Map[LabelSet, int]:  # type: ignore[override]
        """What all other methods look at."""
        self.reads.whole = self._targets
        return self._targets._sets

    @property
    def _counts(self) -> SelectorCounts | None:  # type: ignore[override]
        return self._targets._counts


@dataclass(frozen=True, slots=True, weakref_slot=True)
class PreFilterState:
    """A Run after prefilter: each plugin's state, and what the states were made from.

    It outlives a cycle: Runs that ask the same share it, and a waiting Run goes on from it.
    """

    states: tuple[Any, ...]
    """One for each plugin of the profile, in order; None without a prefilter."""
    keys: tuple[StateKey | None, ...]
    """Equal keys, equal states (see `state_key`)."""
    key: StateKey
    """All of the keys as one."""
    class_key: StateKey
    """Equal for Runs of one Runtime that every filter answers alike."""
    workspace: Workspace | None = None
    reads_by_plugin: tuple[TargetReads, ...] = field(default=(), compare=False, repr=False)
    """What each prefilter has read so far; a state may keep `targets`, and a filter read more of it."""
    inputs: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """The parts of the Run, and the workspace, that it was made from, where other Runs may share it."""
    own_results: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """The results of the Runs with this state, where it is too large for the result cache to keep."""

    @property
    def reads(self) -> TargetReads:
        """What all prefilters have read so far."""
        return TargetReads.together(self.reads_by_plugin)

    def holds(self, targets: Targets) -> bool:
        """Whether the prefilters would read in these targets what they read before."""
        # A loop: this is called for each class of waiting Runs and each change.
        for reads in self.reads_by_plugin:  # noqa: SIM110
            if not reads.hold(targets):
                return False
        return True


@dataclass(frozen=True, slots=True)
class InvalidRunResult:
    """A plugin raised `InvalidRun`: the Run can never be scheduled."""

    plugin: str
    reason: str
    message: str
    reads: TargetReads = field(default_factory=TargetReads, compare=False)
    workspace: Workspace | None = None
    """What the plugin was given: its answer is final only if that has not changed."""


class PreFilters:
    """The prefilters of one profile, with the answers that still hold.

    The whole state is kept by the identity of its inputs: equal parts of Runs are one object, if the decoder
    made them; for other Runs it is a lookup that finds nothing. A state is found while a Run has it, and the
    latest are kept for Runs to come.
    """

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        self._own_class = _own_class(profile)
        self._deciding = [not plugin.hooks.keys().isdisjoint(_DECIDING[1:]) for plugin in profile.plugins]
        self._prefilters = tuple(
            _PluginPreFilter(plugin, plugin.hooks["prefilter"], reuse)
            if "prefilter" in plugin.hooks
            else None
            for plugin in profile.plugins
        )
        active = [prefilter for prefilter in self._prefilters if prefilter is not None]
        self._reusable = not self._own_class and all(prefilter.reusable for prefilter in active)
        names = {"namespace", "request"}.union(*[prefilter.of_the_run for prefilter in active])
        self._of_the_run = attrgetter(*sorted(names))  # a tuple: there are two at the least
        # A state holds its inputs: while it is there, no other object can get the identity of one.
        self._known: WeakValueDictionary[tuple[int, ...], PreFilterState] = WeakValueDictionary()
        self._latest: BoundedCache[tuple[int, ...], PreFilterState] = BoundedCache(STATE_BYTES, LARGEST_RUN)

    def run(
        self, run: Run, snapshot: Snapshot, before: PreFilterState | None = None
    ) -> PreFilterState | InvalidRunResult:
        """Call every prefilter, if no earlier answers hold. Raises `PluginError` for a broken one.

        before: the state that this very Run had.
        """
        workspace = _workspace_of(run, run.workspace, snapshot) if run.workspace is not None else None
        if not self._reusable:
            return self._call(run, snapshot, workspace)
        if before is not None and before.workspace == workspace and before.holds(snapshot.targets):
            return before
        inputs = (*self._of_the_run(run), workspace)
        key = tuple(map(id, inputs))
        known = self._known.get(key)
        if known is not None and known.holds(snapshot.targets):
            return known
        result = self._call(run, snapshot, workspace, inputs)
        if isinstance(result, PreFilterState):
            self._known[key] = result
            self._latest.keep(key, result, run_size(run) + result.key.size + _ENTRY_BYTES)
        return result

    def _call(
        self, run: Run, snapshot: Snapshot, workspace: Workspace | None, inputs: tuple[Any, ...] = ()
    ) -> PreFilterState | InvalidRunResult:
        answers: list[_Answer | None] = []
        for prefilter in self._prefilters:
            answer = prefilter.call(run, snapshot, workspace) if prefilter is not None else None
            if isinstance(answer, InvalidRunResult):
                return answer
            answers.append(answer)
        keys = tuple([answer.key if answer is not None else None for answer in answers])
        # What only scores cannot make a Pod feasible: Runs that differ in it wait for the same.
        deciding = tuple([key for key, decides in zip(keys, self._deciding, strict=True) if decides])
        return PreFilterState(
            states=tuple([answer.state if answer is not None else None for answer in answers]),
            keys=keys,
            key=StateKey(keys),
            class_key=StateKey((run.uid, *deciding) if self._own_class else deciding),
            workspace=workspace,
            reads_by_plugin=tuple(
                [answer.reads for answer in answers if answer is not None and answer.reads is not None]
            ),
            inputs=inputs,
        )


@dataclass(frozen=True, slots=True)
class _Answer:
    """One plugin's state, its key, and what was read of the targets; None where they are not named."""

    state: Any
    key: StateKey
    reads: TargetReads | None


class _PluginPreFilter:
    """One plugin's prefilter, with the answers that may still hold, by the arguments that it names."""

    def __init__(self, plugin: ActivePlugin, hook: Hook, reuse: bool) -> None:
        self._plugin = plugin
        self._function: Callable[..., Any] = hook.function
        self._names = hook.names
        self.of_the_run = [name for name in hook.names if name not in ("targets", "snapshot", "workspace")]
        self.reusable = reuse and not plugin.stateful and "snapshot" not in hook.names
        self._answers: BoundedCache[Hashable, _Answer] = BoundedCache(ANSWER_BYTES, LARGEST_RUN)

    def call(self, run: Run, snapshot: Snapshot, workspace: Workspace | None) -> _Answer | InvalidRunResult:
        """The state for a Run: the kept one while it holds, else that of a new call."""
        given = {name: run if name == "run" else getattr(run, name) for name in self.of_the_run}
        given["workspace"] = workspace
        if not self.reusable:
            return self._call(run, given | {"snapshot": snapshot}, snapshot.targets)
        key = tuple([given[name] for name in self._names if name != "targets"])
        known = self._answers.get(key)
        if known is not None and (known.reads is None or known.reads.hold(snapshot.targets)):
            return known
        answer = self._call(run, given, snapshot.targets)
        if isinstance(answer, _Answer):
            self._answers.keep(key, answer, run_size(run) + answer.key.size + _ENTRY_BYTES)
        return answer

    def _call(self, run: Run, given: dict[str, Any], targets: Targets) -> _Answer | InvalidRunResult:
        given["targets"] = noting = ReadTargets(targets)
        try:
            state = self._function(*[given[name] for name in self._names])
            reads = noting.reads if "targets" in self._names else None
            return _Answer(state, StateKey(share_key(state), run_size(run)), reads)
        except InvalidRun as invalid:
            return self._invalid(invalid, noting.reads, given["workspace"])
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            raise plugin_calls.plugin_error(self._plugin, "prefilter", error) from None

    def _invalid(
        self, invalid: InvalidRun, reads: TargetReads, workspace: Workspace | None
    ) -> InvalidRunResult:
        try:
            reason, message = invalid.reason, invalid.message
        except BaseException as error:  # noqa: BLE001 - a subclass may have left them out
            raise plugin_calls.plugin_error(self._plugin, "prefilter", error) from None
        if not isinstance(reason, str) or not plugin_calls.CAMEL_CASE.fullmatch(reason):
            shown = plugin_calls.safe_repr(reason)
            raise self._plugin.error("prefilter", f"InvalidRun with reason {shown}; use a CamelCase name")
        if not isinstance(message, str):
            raise self._plugin.error(
                "prefilter", f"InvalidRun with message {plugin_calls.safe_repr(message)}; use a text"
            )
        return InvalidRunResult(
            self._plugin.name, str.__str__(reason), str.__str__(message), reads, workspace
        )


def _own_class(profile: Profile) -> bool:
    """Whether each waiting Run stands alone, because some answer may depend on the Run itself."""
    return any(
        plugin.stateful or "run" in hook.names
        for plugin in profile.plugins
        for name in _DECIDING
        if (hook := plugin.hooks.get(name)) is not None
    )


def _workspace_of(run: Run, name: str, snapshot: Snapshot) -> Workspace:
    """The PersistentWorkspace that `run` names, as known or as Missing."""
    known = snapshot.workspaces.get(name)
    if known is not None:
        return known
    return Workspace(namespace=run.namespace, name=name, runtime="", phase=WorkspacePhase.MISSING)
