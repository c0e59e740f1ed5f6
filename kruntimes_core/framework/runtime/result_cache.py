"""The result cache: the answers of filters and scorers about Pods, for each state of their plugin.

One rule: an answer holds until an argument that the hook names changes. So for one state, a hook is called
again only for Pods that changed, once for each Pod, however many states other plugins have. See
docs/explanation/result-cache.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from kruntimes_core.framework.profile import ActivePlugin, Hook, Profile
from kruntimes_core.framework.runtime import plugin_calls
from kruntimes_core.framework.runtime.plan_results import Unschedulable
from kruntimes_core.framework.runtime.pod_set import PodSet, members
from kruntimes_core.framework.runtime.prefilter import PreFilterState
from kruntimes_core.framework.runtime.state_equality import StateKey
from kruntimes_core.model.bounded import KIB, MIB
from kruntimes_core.model.run import Run, run_size
from kruntimes_core.model.snapshot import Snapshot

# The number of states for which the answers of one hook are kept.
KEPT_STATES = 32_768
STATE_BYTES = 16 * MIB
"""The size of the states for which the answers of one hook are kept."""
LARGEST_STATE = 4 * KIB
"""Bytes. Answers for a larger state belong to the Runs that have this state, and are freed with them."""
KEPT_COMBINATIONS = 65_536
# The cache checks after this number of plans whether it keeps too much.
_LOOKED_AFTER = 256


@dataclass(slots=True)
class PlanInputs:
    """The inputs of one plan."""

    run: Run
    snapshot: Snapshot
    state: PreFilterState
    pods: PodSet
    calls: int = 0
    """How often this plan called hooks for one Pod."""


class PodAnswers(ABC):
    """One hook's answers about the Pods of one Runtime for one state, and which of them no longer hold."""

    __slots__ = ("_due", "_turn", "last_used", "shared", "size")

    most: ClassVar[int]
    """How many answers one hook of a plugin keeps, over all states and Pods."""

    def __init__(self) -> None:
        self._due = 0
        """The Pods that are new, or changed since the hook answered about them."""
        self._turn = 0
        """The turn of the Pod set at which `_due` was last updated."""
        self.size = 0
        """The number of positions that there is room for."""
        self.shared = False
        """Whether the hook's cache keeps these answers, for all Runs with the state."""
        self.last_used = 0
        """The number of the plan that last used these answers."""

    def take_due(self, pods: PodSet, among: int) -> int:
        """The due Pods in the set `among`, for which the hook must be called now. The others stay due."""
        if self._turn != pods.turn:
            self._due |= pods.changed_after(self._turn)
            self._turn = pods.turn
        taken = self._due & among
        self._due ^= taken
        return taken

    def put_back(self, taken: int) -> None:
        """Mark these Pods as due again, because the call for them failed."""
        self._due |= taken

    @staticmethod
    @abstractmethod
    def check(plugin: ActivePlugin, answers: list[Any]) -> list[Any]:
        """The answers, if all keep the contract. Raises `PluginError` if one does not."""

    @abstractmethod
    def knows(self, position: int, answer: Any) -> bool:
        """Whether this answer about the Pod is kept already, so that there is nothing to do."""

    @abstractmethod
    def learn(self, positions: Sequence[int], taken: int, answers: list[Any]) -> None:
        """Keep the answers about the Pods at these positions; `taken` is the same positions as a set."""

    def grow(self, size: int) -> None:
        """Make room for answers about more positions."""
        self.size = size


A = TypeVar("A", bound=PodAnswers)


class HookCache(Generic[A]):
    """The answers of one hook of one plugin, by state."""

    def __init__(
        self, profile: Profile, plugin: ActivePlugin, hook: str, new: type[A], reuse: bool = True
    ) -> None:
        """new: the kind of answers that the hook gives."""
        self.plugin = plugin
        self.place = profile.plugins.index(plugin)
        """The index of the plugin in its profile, and so of its state in `PreFilterState.states`."""
        names = plugin.hooks[hook].names
        self._hook = hook
        self._new = new
        self._call = _for_each_pod(plugin.hooks[hook])
        self._by_state = "state" in names
        self._by_run = "run" in names
        self._reusable = reuse and not plugin.stateful and "snapshot" not in names
        self.shared = self._reusable and not self._by_run
        """Whether all Runs with equal states share answers."""
        self._kept: dict[tuple[PodSet, StateKey | None, Run | None], A] = {}
        self._size = 0
        self._state_bytes = 0

    def __len__(self) -> int:
        """The number of states with kept answers."""
        return len(self._kept)

    def of(self, inputs: PlanInputs) -> A:
        """The kept answers for this Run's state, or a new, empty object for them."""
        if not self._reusable:
            return self._new()
        state = inputs.state.keys[self.place] if self._by_state else None
        key = (inputs.pods, state, inputs.run if self._by_run else None)
        answers = self._kept.get(key)
        if answers is None:
            answers = self._new()
            size = _state_bytes(key)
            if size <= LARGEST_STATE:
                answers.shared = True
                self._kept[key] = answers
                self._state_bytes += size
        return answers

    def update(self, answers: A, inputs: PlanInputs, among: int) -> None:
        """Call the hook for the due Pods in the set `among`, so that all answers about `among` hold."""
        pods = inputs.pods
        taken = answers.take_due(pods, among)
        if not taken:
            return
        due = members(taken)
        inputs.calls += len(due)
        try:
            given = self._call(pods.pods, due, inputs.state.states[self.place], inputs.run, inputs.snapshot)
            if len(due) == 1 and answers.knows(due[0], given[0]):
                return
            given = answers.check(self.plugin, given)
            if answers.size < len(pods.pods):
                if answers.shared:
                    self._size += len(pods.pods) - answers.size
                answers.grow(len(pods.pods))
            answers.learn(due, taken, given)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin's code raises is its own error
            answers.put_back(taken)
            raise plugin_calls.plugin_error(self.plugin, self._hook, error) from None

    @property
    def overfull(self) -> bool:
        """Whether a bound of this cache is exceeded."""
        return self._size > self._new.most or self._state_bytes > STATE_BYTES or len(self._kept) > KEPT_STATES

    def evict(self) -> None:
        """Discard the answers that were not used for the longest time."""
        by_use = sorted(self._kept.items(), key=lambda kept: kept[1].last_used, reverse=True)
        self._kept.clear()
        self._size = self._state_bytes = 0
        for key, answers in by_use[: KEPT_STATES // 2]:
            size, state_bytes = self._size + answers.size, self._state_bytes + _state_bytes(key)
            if size > self._new.most * 3 // 4 or state_bytes > STATE_BYTES * 3 // 4:
                break
            self._kept[key] = answers
            self._size, self._state_bytes = size, state_bytes


def _state_bytes(key: tuple[PodSet, StateKey | None, Run | None]) -> int:
    _, state, run = key
    return (state.size if state is not None else 0) + (run_size(run) if run is not None else 0)


_ForEachPod = Callable[[Sequence[Any], Sequence[int], Any, Run, Snapshot], list[Any]]


def _for_each_pod(hook: Hook) -> _ForEachPod:
    """A function that calls a hook for many Pods. Common signatures get a loop of their own: for thousands of
    Pods, passing arguments through one more function costs as much as a simple filter.
    """
    function = hook.function
    if hook.names == ("pod", "state"):
        return lambda pods, due, state, run, snapshot: [function(pods[at], state) for at in due]
    if hook.names == ("pod",):
        return lambda pods, due, state, run, snapshot: [function(pods[at]) for at in due]
    call = plugin_calls.positional(hook, plugin_calls.FILTER)
    return lambda pods, due, state, run, snapshot: [call(pods[at], state, run, snapshot) for at in due]


F = TypeVar("F", bound=PodAnswers)
S = TypeVar("S", bound=PodAnswers)


class CachedResults(Generic[F, S]):
    """All answers for one Run's states on one Runtime's Pods: one `PodAnswers` for each filter and scorer."""

    __slots__ = ("filters", "last_used", "pods", "scores", "unschedulable")

    def __init__(self, pods: PodSet, filters: Sequence[F], scores: Sequence[S]) -> None:
        self.pods = pods
        self.filters = filters
        self.scores = scores
        self.last_used = 0
        """The number of the plan that last used these results."""
        self.unschedulable: tuple[Hashable, Unschedulable] | None = None
        """The result of the last plan that found no Pod, with a key for the answers that it came from."""

    def mark_used(self) -> None:
        """Note in all answers when they were last used."""
        answers: tuple[PodAnswers, ...] = (*self.filters, *self.scores)
        for one in answers:
            one.last_used = max(one.last_used, self.last_used)


class ResultCache(Generic[F, S]):
    """The caches of all hooks of one profile, and an index from a Run's states to all of its answers."""

    def __init__(self, filters: Sequence[HookCache[F]], scores: Sequence[HookCache[S]]) -> None:
        self._filters = filters
        self._scores = scores
        self._hooks: tuple[HookCache[Any], ...] = (*filters, *scores)
        self._shared = all(cache.shared for cache in self._hooks)
        self._known: dict[tuple[PodSet, StateKey], CachedResults[F, S]] = {}
        self._state_bytes = 0
        self._plans = 0

    def of(self, inputs: PlanInputs) -> CachedResults[F, S]:
        """The answers for this Run's states."""
        self._plans += 1
        state = inputs.state
        if state.key.size > LARGEST_STATE:
            return self._of_large(inputs)
        key = (inputs.pods, state.key)
        found = self._known.get(key)
        if found is None:
            found = self._new(inputs)
            if self._shared:
                self._known[key] = found
                self._state_bytes += state.key.size
            self._evict()
        elif self._plans % _LOOKED_AFTER == 0:
            self._evict()  # the answers grow when Runtimes get more Pods
        found.last_used = self._plans
        return found

    def _of_large(self, inputs: PlanInputs) -> CachedResults[F, S]:
        """The answers for large states, which belong to the Runs with these states."""
        known = inputs.state.own_results
        found: CachedResults[F, S] | None = known.get(self) if self._shared else None
        if found is None or found.pods is not inputs.pods:
            known.clear()  # the answers of a former worker
            found = known[self] = self._new(inputs)
            self._evict()
        found.last_used = self._plans
        found.mark_used()
        return found

    def _new(self, inputs: PlanInputs) -> CachedResults[F, S]:
        results = CachedResults(
            inputs.pods,
            tuple([cache.of(inputs) for cache in self._filters]),
            tuple([cache.of(inputs) for cache in self._scores]),
        )
        results.last_used = self._plans
        results.mark_used()
        return results

    def _evict(self) -> None:
        overfull = [cache for cache in self._hooks if cache.overfull]
        full = len(self._known) > KEPT_COMBINATIONS or self._state_bytes > STATE_BYTES
        if not overfull and not full:
            return
        for results in self._known.values():
            results.mark_used()
        self._known.clear()
        self._state_bytes = 0
        for cache in overfull:
            cache.evict()
