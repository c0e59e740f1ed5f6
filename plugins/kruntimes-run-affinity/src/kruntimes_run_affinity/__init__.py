"""RunAffinity: required affinity and anti-affinity between Runs, with the bootstrap rule.

The rule is the API contract's "Affinity". Targets are the active and assumed Runs of the namespace.
Only the incoming Run's own terms count: anti-affinity is not symmetric, unlike kube-scheduler's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from kruntimes_core import Affinity, LabelSelector, LabelSet, Reject, RuntimePod, Targets, hookimpl

AFFINITY_NOT_SATISFIED = "AffinityNotSatisfied"
ANTI_AFFINITY_CONFLICT = "AntiAffinityConflict"

_NOT_SATISFIED = Reject(AFFINITY_NOT_SATISFIED)
_CONFLICT = Reject(ANTI_AFFINITY_CONFLICT)


@dataclass(frozen=True, slots=True)
class Required:
    """What a Pod must hold, and must not, for the Runs that share this state."""

    present: frozenset[LabelSelector] = frozenset()
    absent: frozenset[LabelSelector] = frozenset()
    unmet: bool = False
    """Some term has no target in the namespace and the Run cannot seed it: no Pod will do."""


_UNMET = Required(unmet=True)


class RunAffinity:
    """The filter. Its state holds what is asked of a Pod and no Run's name, so equal Runs share it."""

    host_api: ClassVar[str] = ">=1,<2"
    # The first of these that rejected a Pod becomes the Run's reason. A Pod that is rejected for
    # anti-affinity meets affinity, so affinity is no longer what the Run waits for.
    reasons: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            ANTI_AFFINITY_CONFLICT: "a runtime pod without the runs that required run anti-affinity excludes",
            AFFINITY_NOT_SATISFIED: "a runtime pod that satisfies required run affinity",
        }
    )

    @hookimpl
    def prefilter(self, affinity: Affinity, labels: LabelSet, targets: Targets) -> Required | None:
        """What the required terms ask of a Pod, given the namespace's targets; None when nothing.

        A term without any target is seeded by a Run whose own labels match it: it then asks nothing.
        That is decided for each term by itself.
        """
        present = set()
        for selector in (term.selector for term in affinity.required):
            if targets.any(selector):
                present.add(selector)
            elif not labels.satisfies(selector):
                return _UNMET
        absent = frozenset(term.selector for term in affinity.required_anti)
        return Required(frozenset(present), absent) if present or absent else None

    @hookimpl
    def filter(self, pod: RuntimePod, state: Required | None) -> Reject | None:
        """None where every term is met; else which kind of term is not, affinity before anti-affinity."""
        if state is None:
            return None
        if state.unmet:
            return _NOT_SATISFIED
        # Loops, because this runs for each Pod that changed and each cohort: a generator costs twice as much.
        for selector in state.present:
            if not pod.targets.any(selector):
                return _NOT_SATISFIED
        for selector in state.absent:
            if pod.targets.any(selector):
                return _CONFLICT
        return None
