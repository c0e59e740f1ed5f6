"""The seven hooks. Their docstrings are the contract between this host and every plugin.

An implementation names only the arguments that it needs, and **its answer holds until one of those
changes**. It is a plain function: no defaults, no `*args`, no keyword-only arguments, no coroutine,
no generator, no pluggy wrapper, no `tryfirst` or `trylast`. It must not change its arguments, talk to
Kubernetes, or read a clock (`snapshot.now` is the time).

Any exception but `InvalidRun` from `prefilter` is a plugin error: the cycle ends, the host assumes and writes
nothing, and it tries the Run again with backoff.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pluggy

from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Request, Run
from kruntimes_core.model.selectors import Affinity, LabelSet
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace

PROJECT = "kruntimes"
"""The name of this project for pluggy, by which it finds the functions that are marked with `hookimpl`."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, slots=True)
class Reject:
    """The answer of a plugin that one Pod cannot take the Run.

    reason: a CamelCase name from the plugin's own `reasons`.
    detail: free text for the record of the decision only, never in a status or a metric.
    retry_at: a time with a time zone, at which the Pod may become feasible even if nothing else changes.
    pinned_elsewhere: the Run is tied to another Pod than this one, so this rejection does not explain why the
    Run waits.
    """

    reason: str
    detail: str | None = None
    retry_at: datetime | None = None
    pinned_elsewhere: bool = False


class InvalidRun(Exception):  # noqa: N818 - the public name that the specification's authors chose
    """Raised by `prefilter` for a Run that can never be scheduled: the Run ends as Failed.

    reason: a CamelCase name, at most 1,024 characters: the reason of the Run's conditions.
    message: what is wrong and what to do about it, for the owner of the Run.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message


class SchedulerHooks:
    """The hooks that a plugin may implement, in the order in which a cycle calls them."""

    @hookspec
    def queue_key(self, run: Run, now: datetime, last: Any) -> Any:
        """Give the place of a Run in the queue: smaller keys leave it first.

        Called once for each attempt of a Run, when the attempt first may be scheduled, in order of arrival,
        on one thread; called again only if the Run's labels change. The Run keeps its key while it waits, and
        after wakeups and errors. At most one plugin of a host may implement this hook, and may keep state.

        run: the Run. now: the time, aware and UTC. last: the greatest key of the Runs placed so far, or None.
        Returns: a key that can be compared with all other keys of this plugin.
        """

    @hookspec
    def prefilter(
        self,
        request: Request,
        labels: LabelSet,
        affinity: Affinity,
        workspace: Workspace | None,
        targets: Targets,
        run: Run,
        snapshot: Snapshot,
    ) -> Any:
        """Prepare this plugin's state for a Run, before any Pod is looked at.

        request, labels, affinity: of the Run. workspace: the PersistentWorkspace that the Run names, of
        phase `WorkspacePhase.MISSING` when it does not exist; None when the Run names none.
        targets: the active and assumed Runs of the namespace, by label set.
        run, snapshot: all data. A `prefilter` that names `run` is called for each Run, and one that names
        `snapshot` each time.

        Returns: None, or the state that `filter`, `score`, `normalize`, `reserve` and `unreserve` get. If
        states are hashable and equal by value, Runs with equal states share the answers of these hooks.
        Raises: `InvalidRun(reason, message)` for a Run that can never be scheduled.
        """

    @hookspec
    def filter(self, pod: RuntimePod, state: Any, run: Run, snapshot: Snapshot) -> Reject | None:
        """Say whether a Run may be placed on a Pod.

        Called for each Pod of the Runtime, ready or not, in the configured order of plugins, until
        the first rejection. state: what this plugin's `prefilter` returned.

        Returns: None if it may be, or `Reject(reason)` with a reason from the plugin's `reasons`.
        """

    @hookspec
    def score(self, pod: RuntimePod, state: Any, run: Run, snapshot: Snapshot) -> Any:
        """Say how good a feasible Pod is; more is better. Never removes a Pod.

        Returns: an int 0..100; if the same plugin has a `normalize`, any value that can be compared with the
        others.
        """

    @hookspec
    def normalize(self, scores: Sequence[Any], state: Any, run: Run, snapshot: Snapshot) -> Sequence[int]:
        """Turn this plugin's raw scores of all feasible Pods into 0..100, more is better.

        Called once in a plan, when all raw scores are known. Not called if it cannot change which Pod is
        chosen (see `normalize_keeps_best`).

        Returns: one int 0..100 for each score, in the given order.
        """

    @hookspec
    def reserve(self, pod: RuntimePod, state: Any, run: Run) -> Reject | None:
        """Take what this plugin keeps outside of the snapshot for a Run on its chosen Pod.

        Called in the configured order of plugins, after the host has reserved capacity.

        Returns: None, or `Reject(reason)`: then the reservation ends, and the host tries the next best Pod.
        """

    @hookspec
    def unreserve(self, pod: RuntimePod, state: Any, run: Run, bound: bool) -> None:
        """Give back what `reserve` took. Called when the reservation ends, in reverse order of plugins,
        exactly once for each `reserve` that was called, also if that `reserve` raised. Must be idempotent.

        bound: True when the Run is bound, and the snapshot shows it on its Pod; False when the bind was
        refused, the Run or its Pod went away, leadership was lost, or the host stops.
        """


def hook_names() -> tuple[str, ...]:
    """The seven hooks, in the order of the specification class."""
    return tuple(name for name in vars(SchedulerHooks) if not name.startswith("_"))


def argument_names(hook: str) -> tuple[str, ...]:
    """The arguments that an implementation of `hook` may name."""
    return tuple(inspect.signature(getattr(SchedulerHooks, hook)).parameters)[1:]
