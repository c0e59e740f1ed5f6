"""Plugins are asked again where plans run, with their time limit, and only when no cycle wants to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from kruntimes_core.cluster.plugin_worker.protocol import PluginWorker
from kruntimes_core.engine.explain import EvaluateWork, Evaluation
from kruntimes_core.engine.plugin_work import WorkResult
from kruntimes_core.framework.plugin_results import PluginError
from kruntimes_core.framework.runtime import PluginFailure

Answer = tuple[Evaluation, ...] | PluginError
Then = Callable[[Answer], None]

# A judgement on a thousand Pods takes some milliseconds: this is a few seconds of them.
_LONGEST = 500


class Asking:
    """Questions that wait for the planner."""

    def __init__(self, planner: PluginWorker, stir: Callable[[], None]) -> None:
        """stir: called when the planner is free again."""
        self._planner = planner
        self._stir = stir
        self._waiting: deque[tuple[EvaluateWork, Then]] = deque()

    def ask(self, work: EvaluateWork, then: Then) -> bool:
        """Let questions wait for their turn; False if there are too many already. then: gets the answer."""
        if len(self._waiting) >= _LONGEST:
            return False
        self._waiting.append((work, then))
        self._stir()
        return True

    def go_on(self) -> bool:
        """Hand over the next questions, if the planner takes any; False if not."""
        if not self._waiting or not self._planner.free:
            return False
        work, then = self._waiting.popleft()
        self._planner.submit(work, partial(self._answered, then))
        return True

    def _answered(self, then: Then, result: WorkResult) -> None:
        then(result.error if isinstance(result, PluginFailure) else result)
        self._stir()
