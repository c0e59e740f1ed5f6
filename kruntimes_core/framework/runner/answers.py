"""A plugin's answers about Pods, kept for as long as the arguments that it named stay the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import calls
from kruntimes_core.framework.runner.outcomes import Prepared
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

T = TypeVar("T")

# Answers that one plugin may keep, over all states and Pods: some 30 MB at the most. States are bounded
# by themselves, because one of a Runtime without Pods has no answers.
_KEPT_ANSWERS = 200_000
_KEPT_STATES = 4_096


class PodAnswers(Generic[T]):
    """One plugin's `filter` or `score`, asked for a Pod only if no earlier answer holds.

    `check` turns what the plugin returned into the value that is kept, or raises `PluginError`.
    """

    def __init__(
        self,
        plugin: ActivePlugin,
        hook: str,
        place: int,
        check: Callable[[ActivePlugin, Any], T],
        reuse: bool = True,
    ) -> None:
        self.plugin = plugin
        names = plugin.hooks[hook].names
        self._hook = hook
        self._place = place
        self._check = check
        self._call = calls.positional(plugin.hooks[hook], calls.FILTER)
        self._by_state = "state" in names
        self._by_run = "run" in names
        self.reusable = reuse and not plugin.stateful and "snapshot" not in names
        self.shared = self.reusable and not self._by_run
        self._kept: dict[Hashable, dict[str, tuple[RuntimePod, T]]] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many states it keeps answers of."""
        return len(self._kept)

    def about(self, prepared: Prepared, run: Run, snapshot: Snapshot) -> Callable[[RuntimePod], T]:
        """A function that answers for one Pod, for this Run on this snapshot."""
        call, plugin, check = self._call, self.plugin, self._check
        state = prepared.states[self._place]

        def fresh(pod: RuntimePod) -> T:
            try:
                return check(plugin, call(pod, state, run, snapshot))
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                raise calls.broken(plugin, self._hook, error) from None

        if not self.reusable:
            return fresh
        kept = self._kept_for(prepared, run)
        if len(kept) > 2 * len(snapshot.pods) + 64:
            self._forget_gone(kept, snapshot)

        def remembered(pod: RuntimePod) -> T:
            known = kept.get(pod.name)
            if known is not None and known[0] is pod:
                return known[1]
            answer = fresh(pod)
            if known is None:
                self._count += 1
            kept[pod.name] = (pod, answer)
            return answer

        return remembered

    def _forget_gone(self, kept: dict[str, tuple[RuntimePod, T]], snapshot: Snapshot) -> None:
        for name in [name for name in kept if name not in snapshot.pods]:
            del kept[name]
            self._count -= 1

    def _kept_for(self, prepared: Prepared, run: Run) -> dict[str, tuple[RuntimePod, T]]:
        key = (
            run.namespace,
            run.runtime,
            prepared.keys[self._place] if self._by_state else None,
            run if self._by_run else None,
        )
        kept = self._kept.pop(key, None)
        if kept is None:
            kept = {}
            while self._kept and (self._count > _KEPT_ANSWERS or len(self._kept) >= _KEPT_STATES):
                self._count -= len(self._kept.pop(next(iter(self._kept))))
        self._kept[key] = kept
        return kept
