"""Affinity terms between Runs (`spec.affinity` of a Run), compiled."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.model.selectors import LabelSelector

# The only topology that v1alpha1 of the API knows: the Runtime Pod itself.
RUNTIME_POD_TOPOLOGY = "kruntimes.io/runtime-pod"


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A set of Runs, named by a selector, on one Runtime Pod."""

    selector: LabelSelector


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A preferred term and its weight, 1..100."""

    weight: int
    term: AffinityTerm


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Affinity:
    """`spec.affinity`: required terms restrict, preferred terms score. Empty when absent."""

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    preferred_anti: tuple[WeightedTerm, ...] = ()
