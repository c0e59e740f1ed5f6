"""The seven hooks. Their docstrings are the contract between this host and every plugin.

An implementation names only the arguments that it needs, and **its answer holds until one of those
changes**. It is a plain function: no defaults, no `*args`, no keyword-only arguments, no coroutine,
no generator, no pluggy wrapper, no `tryfirst` or `trylast`. It must not change anything that it is
given, talk to Kubernetes, or read a clock (`snapshot.now` is the time).

Any exception but `InvalidRun` from `prefilter` means that the plugin is broken: the cycle ends, with
nothing assumed and nothing written, and the Run is tried again with backoff.
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
"""pluggy's name of this host, which ties a marked function to its specifications."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@dataclass(frozen=True, slots=True)
class Reject:
    """A plugin rejects one Pod; it is not broken.

    reason: a CamelCase name out of the plugin's own `reasons`.
    detail: free text for the decision record only; never in a status or a metric.
    retry_at: an aware time at which the Pod may become feasible, besides any change.
    pinned_elsewhere: the Run is tied to another Pod than this one, so this rejection explains little.
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
    """What a plugin may implement, in the order in which a cycle calls it."""

    @hookspec
    def queue_key(self, run: Run, now: datetime, last: Any) -> Any:
        """Give the place of a Run in the queue: smaller keys leave it first.

        Called once for a Run and attempt, when it is first eligible, in order of arrival, on one
        thread; again only if its labels change. The key survives waiting, wakeups and errors.
        At most one plugin of a host may implement it; it may keep state.

        run: the Run. now: aware UTC time. last: the greatest key of the Runs placed so far, or None.
        Returns: a key that can be ordered against all other keys of this plugin.
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
        run, snapshot: everything; naming one of them means to be called for each Run, or each time.

        Returns: the state that `filter`, `score`, `normalize`, `reserve` and `unreserve` get, or
        None. A state that is equal and hashable by value is shared by all Runs that have it.
        Raises: `InvalidRun(reason, message)` for a Run that can never be scheduled.
        """

    @hookspec
    def filter(self, pod: RuntimePod, state: Any, run: Run, snapshot: Snapshot) -> Reject | None:
        """Say whether a Run may be placed on a Pod.

        Called for each Pod of the Runtime, ready or not, in the configured order of plugins, until
        the first rejection. state: what this plugin's `prefilter` returned.

        Returns: None for yes, or `Reject(reason)` with a reason out of the plugin's `reasons`.
        """

    @hookspec
    def score(self, pod: RuntimePod, state: Any, run: Run, snapshot: Snapshot) -> Any:
        """Say how good a feasible Pod is; more is better. Never removes a Pod.

        Returns: an int 0..100; or, with a `normalize` of the same plugin, any value that can be
        ordered against the others.
        """

    @hookspec
    def normalize(self, scores: Sequence[Any], state: Any, run: Run, snapshot: Snapshot) -> Sequence[int]:
        """Turn this plugin's raw scores of all feasible Pods into 0..100, more is better.

        Called once in a plan, when all raw scores are known; not at all where the outcome cannot
        depend on it (see `normalize_keeps_best`).

        Returns: one int 0..100 for each score, in the given order.
        """

    @hookspec
    def reserve(self, pod: RuntimePod, state: Any, run: Run) -> Reject | None:
        """Take what this plugin keeps outside of the snapshot for a Run on its chosen Pod.

        Called in the configured order after the host has reserved capacity.

        Returns: None, or `Reject(reason)`: the reservation is undone and the next best Pod tried.
        """

    @hookspec
    def unreserve(self, pod: RuntimePod, state: Any, run: Run, bound: bool) -> None:
        """Give back what `reserve` took. Called in reverse order, exactly once for each `reserve`
        that was called (one that raised included), when the reservation ends. Must be idempotent.

        bound: True when the Run is bound and now counts in the snapshot; False when the bind was
        refused, the Run or its Pod went away, leadership was lost, or the host stops.
        """


def hook_names() -> tuple[str, ...]:
    """The seven hooks, in the order of the specification class."""
    return tuple(name for name in vars(SchedulerHooks) if not name.startswith("_"))


def argument_names(hook: str) -> tuple[str, ...]:
    """What an implementation of `hook` may name."""
    return tuple(inspect.signature(getattr(SchedulerHooks, hook)).parameters)[1:]
