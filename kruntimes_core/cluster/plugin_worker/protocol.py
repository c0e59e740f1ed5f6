"""What the host needs of the worker that calls plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kruntimes_core.engine.plugin_work import EvaluateWork, Work, WorkResult

PluginWork = Work | EvaluateWork
"""What runs the code of plugins: a step of a cycle, or a question about one."""

LIMIT_SECONDS = 5.0
"""For how long it may run. A plan on thousands of Pods takes milliseconds; this is for what never ends."""

Done = Callable[[WorkResult], None]
"""Takes the result of a piece of work, on the thread of the loop."""


class PluginWorker(Protocol):
    """Executes one piece of work at a time."""

    @property
    def free(self) -> bool:
        """Whether it takes work now."""

    @property
    def stuck(self) -> Mapping[str, int]:
        """Plugins in whose code a call does not return, with how many such calls; they are not called."""

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work and call `done` once, at once or later. Only while it is `free`."""

    def close(self) -> None:
        """Take no more work, and wait for none."""
